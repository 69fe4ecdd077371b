"""What may happen to a state folder: each takes, cuts, alters or brings back a part of it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

DATABASE = "hooktray.db"
PAGES = 3 * 4096


def database_deleted(state: Path) -> None:
    for path in state.glob(f"{DATABASE}*"):
        path.unlink()


def database_emptied(state: Path) -> None:
    for path in state.glob(f"{DATABASE}*"):
        os.truncate(path, 0)


def database_cut(state: Path) -> None:
    content = (state / DATABASE).read_bytes()
    database_deleted(state)
    (state / DATABASE).write_bytes(content[:PAGES])


def database_garbled(state: Path) -> None:
    database_deleted(state)
    (state / DATABASE).write_bytes(b"ruined" * 9999)


def database_of_another_version(state: Path) -> None:
    execute(state, "PRAGMA user_version = 1")


def state_deleted(state: Path) -> None:
    subprocess.run(["rm", "-rf", state], capture_output=True, check=False)  # a running tray makes it anew meanwhile


def state_moved(state: Path) -> None:
    state.rename(state.with_name("moved"))


def all_but_the_database_gone(state: Path) -> None:
    for path in state.iterdir():
        if not path.name.startswith(DATABASE):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def copies_deleted(state: Path) -> None:
    shutil.rmtree(state / "copies")


def copies_emptied(state: Path) -> None:
    for path in (one for one in (state / "copies").rglob("*") if one.is_file()):
        path.chmod(0o600)
        os.truncate(path, 0)


def head_deleted(state: Path) -> None:
    (state / "ledger.head").unlink()


def all_rows_deleted(state: Path) -> None:
    execute(state, "DELETE FROM ledger")


def all_rows_and_notes_deleted(state: Path) -> None:
    all_rows_deleted(state)
    head_deleted(state)


def last_rows_deleted(state: Path) -> None:
    """One guard stays approved, the other does not."""
    execute(state, "DELETE FROM ledger WHERE seq >= (SELECT min(seq) FROM ledger WHERE key LIKE '%#strict')")


def first_row_altered(state: Path) -> None:
    execute(state, "UPDATE ledger SET at = at + 1 WHERE seq = (SELECT min(seq) FROM ledger)")


def row_put_in(state: Path) -> None:
    """What was never approved, as if it had been."""
    columns = "at, act, key, digest, definition, position, way, chain"
    execute(state, f"INSERT INTO ledger ({columns}) SELECT {columns} FROM ledger WHERE key LIKE '%#revoked'")


def order_garbled(state: Path) -> None:
    execute(state, "INSERT OR REPLACE INTO meta VALUES ('order', '[[')")


def execute(state: Path, script: str) -> None:
    with closing(sqlite3.connect(state / DATABASE)) as connection:
        connection.executescript(script)


Loss = Callable[[Path], None]
# Each with whether approvals are lost, so that the same tray without a memory guards nothing.
LOSSES: Mapping[Loss, bool] = {
    all_but_the_database_gone: True,
    all_rows_and_notes_deleted: True,
    all_rows_deleted: True,
    copies_deleted: False,
    copies_emptied: False,
    database_cut: True,
    database_deleted: True,
    database_emptied: True,
    database_garbled: True,
    database_of_another_version: True,
    first_row_altered: True,
    head_deleted: True,
    last_rows_deleted: True,
    order_garbled: False,
    row_put_in: True,
    state_deleted: True,
    state_moved: True,
}
