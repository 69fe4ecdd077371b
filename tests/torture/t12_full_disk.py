"""T12: from the N-th page on no write succeeds: decisions are answered, and every row is accounted for."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from torture.frame import Tally
from torture.rows import ROW, child, rest, whole
from tray.store.db import Database, open_db
from tray.store.journal import Journal

if sys.platform != "win32":
    import resource

TITLE = "a full disk and failing writes"
PAGE = 4096
FULL = "max_page_count"


def torture(tally: Tally) -> None:
    if sys.platform == "win32":
        tally.not_run.append("no limit of a file's size here")
        return
    events = tally.many(60, 1000)
    for number in range(1, 501, tally.many(45, 1)):
        for way in ("write error", "full", "write error to the end"):
            _attack(tally, number if tally.full else number // 12 + 1, way, events)
    tally.not_run += ["a folder that nobody may write to: root may"] if os.getuid() == 0 else []
    _control(tally)


def _attack(tally: Tally, pages: int, way: str, events: int) -> None:
    path = tally.folder / f"{way}-{pages}.db".replace(" ", "-")
    with child(lambda out: _suffer(path, pages, way, events, out)) as (_, reading):
        said: dict[str, Any] = json.loads(rest(reading) or b"{}")
    name = f"{way} from page {pages} on"
    if said.get("answered") != events:
        tally.wrong.append(f"{name}: {said.get('answered')} of {events} answered")
        return
    database = open_db(path, migrate=True)
    kept, dropped = Journal(database).count() - 1, Journal(database).dropped
    tally.inputs += events
    tally.attack(f"{name}: {kept} kept and {dropped} dropped of {events}", kept + dropped == events)
    tally.keep(f"{name}: {said['told']}", len(_causes(said["told"])) == 1 and len(said["told"]) <= 2)
    tally.keep(f"{name}: the file is whole", whole(path) and database.damaged is None)
    for part in tally.folder.glob(f"{path.name}*"):
        part.unlink()


def _causes(told: list[str]) -> list[str]:
    """What is wrong, told once by whatever words; that an answer left before its row may be told besides."""
    return [text for text in told if "too long" not in text]


def _suffer(path: Path, pages: int, way: str, events: int, out: int) -> None:
    """In a process of its own, for such a limit holds for all of it."""
    database = open_db(path, migrate=True)
    told: list[str] = []
    with closing(Journal(database, wait=30.0)) as journal:
        journal.append(replace(ROW, id="before"), commit=True)
    with database.connect() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_count").fetchone()[0] + pages
    if way == "full":
        database = Database(path, pragmas=(f"{FULL} = {size}",))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    journal = Journal(database, trouble=told.append)
    if way != "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (pages * (PAGE + 24) + 32, hard))
    answered = 0
    for number in range(events):
        journal.append(replace(ROW, id=f"e{number}", payload="x" * 3000), commit=number % 10 == 0)
        answered += 1
    until = time.monotonic() + 30
    while not _causes(told) and time.monotonic() < until:  # the writer has to have met the fault
        time.sleep(0.005)
    if way == "write error":
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        journal.close(limit=20.0)
    else:
        journal.close(limit=0.3)  # what could not be written by then is lost, and counted
    said = {"answered": answered, "told": [text for text in told if "before the end" not in text]}
    os.write(out, json.dumps(said).encode())


def _control(tally: Tally) -> None:
    """Whoever writes on the deciding thread, and believes in it."""
    path = tally.folder / "control.db"
    database = open_db(path, migrate=True)
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
