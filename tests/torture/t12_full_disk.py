"""T12: the N-th write fails, or nothing more fits: decisions are answered, and every row is accounted for."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.frame import Tally
from torture.rows import whole
from torture.shims import shim
from torture.sufferer import causes
from tray.store.db import open_db
from tray.store.journal import Journal

TITLE = "a full disk and failing writes"
HERE = Path(__file__).parent
FULL = "max_page_count"
WRITES = ("one write", "writes to the end")
PAGES = ("size", "size to the end", "full")
MENDED = ("one write", "size")


@dataclass(frozen=True, slots=True)
class Sufferers:
    """One process that makes journals suffer, one after another."""

    process: subprocess.Popen[str]

    def suffer(self, path: Path, way: str, number: int, events: int) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        job = {"path": str(path), "way": way, "number": number, "events": events}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline() or "{}"))


def torture(tally: Tally) -> None:
    if sys.platform == "win32":
        tally.not_run.append("no limit of a file's size here")
        return
    library = shim(tally, "fault", "faults at exactly the N-th write")
    with _sufferers(library) as sufferers:
        if library:
            for number in range(1, 501) if tally.full else range(1, 121, 24):
                for way in WRITES:
                    _attack(tally, sufferers, way, number)
            tally.measured.append(_never_armed(tally, sufferers))
        for pages in range(1, 51, 1 if tally.full else 24):
            for way in PAGES:
                _attack(tally, sufferers, way, pages)
        _closed_folder(tally, sufferers)
    _control(tally)


def _attack(tally: Tally, sufferers: Sufferers, way: str, number: int) -> None:
    events = tally.many(60, 1000)
    folder = tally.folder / f"{way}-{number}".replace(" ", "-")
    folder.mkdir(mode=0o700)
    said = sufferers.suffer(folder / "hooktray.db", way, number, events)
    _judge(tally, f"{way}, number {number}", folder / "hooktray.db", way, events, said)
    shutil.rmtree(folder)


def _judge(tally: Tally, name: str, path: Path, way: str, events: int, said: dict[str, Any]) -> None:
    if said.get("answered") != events:
        tally.wrong.append(f"{name}: {said.get('answered')} of {events} answered")
        return
    database = open_db(path, create=True)
    kept, dropped = Journal(database).count() - 1, Journal(database).dropped
    tally.inputs += events
    exact = kept + dropped == events and (way not in MENDED or dropped == 0)
    tally.attack(f"{name}: {kept} kept and {dropped} dropped of {events}", exact)
    tally.keep(f"{name}: the fault was met", said["met"])
    wrong = causes(said["told"])
    once = len(wrong) <= 1 if way == "one write" else len(wrong) == 1
    tally.keep(f"{name}: told {said['told']}", once and len(said["told"]) <= 2)
    tally.keep(f"{name}: the file is whole", whole(path) and database.damaged is None)


def _closed_folder(tally: Tally, sufferers: Sufferers) -> None:
    """A folder that nobody may write to; root may, so nobody it is."""
    events = tally.many(60, 1000)
    folder = tally.folder / "folder"
    folder.mkdir(mode=0o700)
    if os.getuid() == 0:
        tally.folder.chmod(0o711)
        os.chown(folder, 65534, 65534)
    said = sufferers.suffer(folder / "hooktray.db", "folder", 1, events)
    folder.chmod(0o700)
    for part in (folder, *folder.iterdir()):
        os.chown(part, os.getuid(), os.getgid())
    _judge(tally, "a folder that nobody may write to", folder / "hooktray.db", "folder", events, said)


def _never_armed(tally: Tally, sufferers: Sufferers) -> str:
    """The same without a fault: what the shim counts are the database's writes, and it breaks none by itself."""
    folder = tally.folder / "unarmed"
    folder.mkdir(mode=0o700)
    said = sufferers.suffer(folder / "hooktray.db", "one write", 10_000_000, 60)
    kept = Journal(open_db(folder / "hooktray.db", create=True)).count() == 61
    tally.keep(f"without a fault all is kept: {said}", kept and not causes(said["told"]) and not said["met"])
    return "faults at exactly the N-th write of the database, by a preloaded shim"


@contextmanager
def _sufferers(library: Path | None) -> Iterator[Sufferers]:
    environment = (
        {**os.environ, "LD_PRELOAD": str(library), "FAULT_SHIM": str(library)} if library else dict(os.environ)
    )
    argv = [sys.executable, str(HERE / "sufferer.py")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as process:
        yield Sufferers(process)
        assert process.stdin
        process.stdin.close()


def _control(tally: Tally) -> None:
    """Whoever writes on the deciding thread, and believes in it."""
    path = tally.folder / "control.db"
    database = open_db(path, create=True)
    for _ in range(3):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA {FULL} = {connection.execute('PRAGMA page_count').fetchone()[0]}")
            try:
                for number in range(200):
                    connection.execute("INSERT INTO meta VALUES (?, ?)", (f"k{number}", "x" * 3000))
                fell = False
            except sqlite3.Error:
                fell = True
        tally.control(f"write and believe in it ({database.path.name})", fell)
