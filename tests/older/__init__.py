"""State folders that earlier commits made (make.py), put into a test's own folder."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from tray.model.hook import digest
from tray.store.ledger import EMPTY_HEAD, READ, chain_value

FOLDER = Path(__file__).parent
RELINK = "UPDATE ledger SET chain = ? WHERE seq = ?"


def restore(name: str, home: Path) -> None:
    """The home as the earlier Hooktray left it; digests and links are those that it would have had at this path."""
    files = json.loads((FOLDER / name / "files.json").read_text().replace("{HOME}/", f"{home}/"))
    moved = _moved(files)
    for path, (mode, text) in files.items():
        place = home / _renamed(path, moved)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.write_text(_renamed(text, moved))
        place.chmod(mode)
    sql = (FOLDER / name / "database.sql").read_text().replace("{HOME}", str(home))
    _make_database(home / "state", _renamed(sql, moved))


def _moved(files: Mapping[str, tuple[int, str]]) -> Mapping[str, str]:
    """The digests of the copies, from the earlier folder to this one."""
    found = {}
    for path, (_, text) in files.items():
        if path.endswith("/manifest.json"):
            manifest = json.loads(text)
            found[Path(path).parent.name] = digest(manifest["definition"], manifest["files"], manifest["pinned"])
    return found


def _renamed(text: str, moved: Mapping[str, str]) -> str:
    for before, after in moved.items():
        text = text.replace(before, after)
    return text


def _make_database(state: Path, sql: str) -> None:
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state / "hooktray.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(sql)
        chain, head, first = "", EMPTY_HEAD, ""
        for row in connection.execute(READ).fetchall():
            chain = chain_value(chain, row[1:8])
            first = first or chain
            connection.execute(RELINK, (chain, row[0]))
            head = f"{row[0]} {chain} {first}"
        connection.commit()
    path.chmod(0o600)
    (state / "ledger.head").write_text(f"{head}\n")
