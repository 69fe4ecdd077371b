"""What T12 makes suffer: journals on a disk that fails, each in a fork of its own: `sufferer.py < jobs > results`.

A job is a line of JSON: path, way, number, events. With the shim of fault.c preloaded, `number` is the write that
fails; of the other ways, it is the page from which on nothing fits.
"""

from __future__ import annotations

import ctypes
import encodings.ascii  # noqa: F401 - who has become nobody may not load it where Python lives
import errno
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1]))

from store.writing import Problems

from torture.rows import ROW, child, rest
from tray.store.db import Database, open_db
from tray.store.journal import Journal

PAGE, FRAME, HEAD = 4096, 24, 32  # bytes; the last two of the write-ahead log
FULL = "max_page_count"
NOBODY = 65534
FOR_EVER = 1 << 40
SHIM = "FAULT_SHIM"


@dataclass(frozen=True, slots=True)
class Job:
    path: Path
    way: str
    number: int
    events: int

    @property
    def mends(self) -> bool:
        """Whether the disk is well again before the end."""
        return self.way in ("one write", "size")


def main() -> None:
    for line in sys.stdin:
        words = json.loads(line)
        job = Job(Path(words["path"]), words["way"], words["number"], words["events"])
        with child(partial(tell, job)) as (_, reading):
            said = json.loads(rest(reading) or b"{}")
        print(json.dumps(said), flush=True)


def tell(job: Job, out: int) -> None:
    os.write(out, json.dumps(suffer(job)).encode())


def suffer(job: Job) -> dict[str, Any]:
    if job.way == "folder" and os.getuid() == 0:
        os.setuid(NOBODY)
    database = open_db(job.path, create=True)
    with closing(Journal(database, wait=30.0)) as journal:
        journal.append(replace(ROW, id="before"), commit=True)
    with database.connect() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    if job.way == "full":
        database = Database(job.path, pragmas=(f"{FULL} = {pages + job.number}",))
    problems = Problems()
    told = problems.texts
    journal = Journal(database, listener=problems)
    mend = break_disk(job)
    for number in range(job.events):
        journal.append(replace(ROW, id=f"e{number}", payload="x" * 3000), commit=number % 10 == 0)
    until = time.monotonic() + 30
    while job.way != "one write" and not causes(told) and time.monotonic() < until:
        time.sleep(0.005)  # the writer has to have met the fault
    if job.mends and job.way != "one write":
        mend()
    journal.close(limit=20.0 if job.mends else 0.3)  # what could not be written by then is lost, and counted
    told = [text for text in told if "before the end" not in text]
    return {"answered": job.events, "told": told, "met": met(job) or bool(causes(told))}


def break_disk(job: Job) -> Callable[[], object]:
    """Returns what mends it."""
    if "write" in job.way:
        arm(job.path, job.number, 1 if job.way == "one write" else FOR_EVER)
        return lambda: arm(job.path, 0, 0)
    if job.way.startswith("size"):
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (job.number * (PAGE + FRAME) + HEAD, hard))
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    if job.way == "folder":
        job.path.parent.chmod(0o555)
    return lambda: None


def causes(told: list[str]) -> list[str]:
    """What is wrong, told once by whatever words; that an answer left before its row may be told besides."""
    return [text for text in told if "too long" not in text]


def shim() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ[SHIM])


def arm(path: Path, nth: int, count: int) -> None:
    code = errno.ENOSPC if nth % 2 else errno.EIO
    shim().fault_arm(str(path).encode(), ctypes.c_long(nth), ctypes.c_long(count), code)


def met(job: Job) -> bool:
    """Whether the one write was met; nobody hears of one that copies the log back, for that is done again."""
    return job.way == "one write" and int(shim().fault_seen()) >= job.number


if __name__ == "__main__":
    main()
