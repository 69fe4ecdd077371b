"""T11: whoever writes the journal is killed with -9 at any moment; what it had confirmed is there."""

from __future__ import annotations

import os
import random
import signal
import sys
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from torture.frame import Tally
from torture.rows import ROW, child, ids, rest, whole
from tray.store.db import open_db
from tray.store.journal import Journal
from tray.store.writer import Committed

TITLE = "kill -9 of the journal's writer"


def torture(tally: Tally) -> None:
    if sys.platform == "win32":
        tally.not_run.append("no SIGKILL here")
        return
    chance = random.Random(11)
    path = tally.folder / "hooktray.db"
    confirmed: list[str] = []
    for kill in range(tally.many(20, 1000)):
        said = _killed(path, kill, tally.many(10, 500) + chance.randrange(50), confirm=True)
        tally.inputs += len(said)
        tally.faults += 1
        confirmed += said
    found = ids(path)
    there = set(found)
    tally.lost += [id for id in confirmed if id not in there]
    tally.wrong += ["the file is damaged"] if not whole(path) else []
    tally.wrong += ["an id twice"] if len(there) != len(found) else []
    tally.wrong += ["rows are out of order"] if found != sorted(found, key=_order) else []
    _control(tally, chance)


def _control(tally: Tally, chance: random.Random) -> None:
    """A journal that confirms what it has only queued."""
    path = tally.folder / "control.db"
    said = [id for kill in range(5) for id in _killed(path, kill, chance.randrange(200, 600), confirm=False)]
    tally.control("confirm before the commit", not set(said) <= set(ids(path)))


def _killed(path: Path, number: int, after: int, *, confirm: bool) -> list[str]:
    """What a writer had confirmed when it was killed, `after` so many confirmations or a little later."""
    with child(lambda out: _write(path, number, out, confirm=confirm)) as (pid, reading):
        got = b""
        while got.count(b"\n") < after and (part := os.read(reading, 65536)):
            got += part
        os.kill(pid, signal.SIGKILL)
        got += rest(reading)
    return got.decode().split("\n")[:-1]  # the last one may be half a word


def _write(path: Path, number: int, out: int, *, confirm: bool) -> None:
    journal = Journal(open_db(path, create=True), wait=30.0)
    for each in count():
        id = f"{number}-{each}"
        said = journal.append(replace(ROW, id=id, payload="x" * (each % 3000)), commit=confirm)
        if said is Committed.DONE or (not confirm and said is Committed.QUEUED):
            os.write(out, f"{id}\n".encode())


def _order(id: str) -> tuple[int, int]:
    kill, each = id.split("-")
    return int(kill), int(each)
