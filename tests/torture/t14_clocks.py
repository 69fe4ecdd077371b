"""T14: clocks that jump, and a machine that sleeps.

The journal keeps its order and throws nothing young away; no hook is ended too early or too late.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from store.writing import Limited, SetClock

from torture.frame import Tally
from torture.rows import ROW, child, ids, rest
from tray.store.db import open_db
from tray.store.journal import Journal
from tray.store.retention import DAY, Retention, RetentionLimits
from tray.store.writer import Committed

TITLE = "clocks that jump and a process that sleeps"
JUMPS = (1.0, 60.0, 3600.0, DAY, 30 * DAY, 365 * DAY, 10 * 365 * DAY)
START = 1_800_000_000.0


def torture(tally: Tally) -> None:
    _jumps(tally)
    _control(tally)
    if sys.platform == "win32":
        tally.not_run.append("no SIGSTOP here")
        return
    for number in range(tally.many(2, 50)):
        _sleep(tally, tally.folder / f"sleep{number}.db", tally.many(1, 10) / 10)
    _deadlines(tally)


def _deadlines(tally: Tally) -> None:
    from torture.deadlines import Deadlines  # none on Windows

    with closing(Deadlines(tally)) as deadlines:
        for _ in range(tally.many(1, 10)):
            deadlines.round("the clock jumps", lambda: deadlines.jump(20))
        for seconds in (*(50 * [1.0]), 3.0, 30.0) if tally.full else (3.0,):
            deadlines.round(f"stopped for {seconds:.0f} s", partial(deadlines.stop, seconds))
        deadlines.control()
        tally.measured.append(f"hooks were ended at most {deadlines.latest * 1000:.0f} ms late")


def _jumps(tally: Tally) -> None:
    chance, clock = random.Random(14), SetClock(START)
    database = open_db(tally.folder / "hooktray.db", create=True)
    retention = Retention(clock=clock)
    expected = []
    with closing(Journal(database, wait=30.0)) as journal, closing(database.open()) as connection:
        for number in range(200):
            clock.now += chance.choice(JUMPS) * chance.choice((1, -1))
            clock.since_boot += 60.0
            journal.append(replace(ROW, id=f"e{number}", at=max(clock.now, START)), commit=True)
            expected.append(f"e{number}")
            while retention.prune_step(connection):
                pass
            newest = [record.id for record in journal.recent(3)]
            tally.attack(f"jump {number} changed the order", newest == expected[:-4:-1])
    tally.keep("a row was thrown away as old", ids(database.path) == expected)


def _control(tally: Tally) -> None:
    """Age by the wall clock alone."""
    database = open_db(tally.folder / "control.db", create=True)
    with closing(Journal(database, wait=30.0)) as journal:
        for day in range(0, 120, 10):
            journal.append(replace(ROW, id=f"day {day}", at=START + day * DAY), commit=True)
    with closing(database.open()) as connection:
        Retention(Limited(RetentionLimits(days=1)), SetClock(START + 120 * DAY)).prune_step(connection)
    tally.control("age by the wall clock", ids(database.path) == [])


def _sleep(tally: Tally, path: Path, seconds: float) -> None:
    """Stopped in the midst of writing, and woken again."""
    with child(lambda out: _write(path, out)) as (pid, reading):
        got = os.read(reading, 64)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        got += rest(reading)
    said = got.decode().split()
    tally.attack(f"{len(said)} of 300 after a sleep", said == [f"e{number}" for number in range(300)] == ids(path))


def _write(path: Path, out: int) -> None:
    with closing(Journal(open_db(path, create=True), wait=60.0)) as journal:
        for number in range(300):
            if journal.append(replace(ROW, id=f"e{number}"), commit=True) is Committed.DONE:
                os.write(out, f"e{number}\n".encode())
