"""T13: more events at once than a blocked writer can take: each is written or counted, and nobody waits."""

from __future__ import annotations

import sqlite3
import statistics
import threading
import time
from collections import Counter, deque
from contextlib import closing, suppress

import psutil
from msgspec.structs import replace
from store.writing import Problems, locked

from torture.frame import Tally
from torture.rows import ROW
from torture.trays import LONG
from tray.store.db import Database, open_db
from tray.store.journal import Journal, insert_statement, row_values
from tray.store.writer import MAX_ROWS, Committed

TITLE = "a burst while the journal's writer is blocked"
SENDERS = 8
PAYLOAD = "x" * 2000
MEMORY = 250_000_000  # bytes: what may wait, twice, and the process's own ups and downs
PATIENCE = 0.05  # seconds that a careless journal waits for the file


def torture(tally: Tally) -> None:
    database = open_db(tally.folder / "hooktray.db", create=True)
    events = tally.many(13_000, 100_000)
    problems = Problems()
    journal = Journal(database, listener=problems)
    try:
        journal.append(replace(ROW, id="first"), commit=True)
        before = psutil.Process().memory_info().rss
        with locked(database):
            started = time.monotonic()
            said, waits = _burst(journal, events)
            seconds = time.monotonic() - started
            grown = psutil.Process().memory_info().rss - before
    finally:
        journal.close(LONG)  # all that was accepted is written by then
    accepted = events - said[Committed.DROPPED]
    tally.inputs += events
    again = Journal(database)
    tally.attack(f"{again.count() - 1} written of {accepted} accepted", again.count() - 1 == accepted)
    tally.attack(f"{again.dropped} dropped of {events - accepted}", again.dropped == events - accepted > 0)
    tally.attack(f"{grown} bytes more", grown < MEMORY)
    half = statistics.median(waits)  # the first one waits 0.05 s, and then nobody does
    tally.attack(f"half of the blocking answers waited {half * 1000:.1f} ms or more", half < PATIENCE / 2)
    tally.attack(f"told: {problems.texts}", 1 <= len(problems.texts) <= 2)
    tally.measured.append(f"{events:,} events in {seconds:.1f} s; {accepted:,} accepted, {grown / 1e6:.0f} MB more")
    _controls(tally)


def _burst(journal: Journal, events: int) -> tuple[Counter[Committed], list[float]]:
    said: Counter[Committed] = Counter()
    waits: list[float] = []
    lock = threading.Lock()

    def send(name: int) -> None:
        own: Counter[Committed] = Counter()
        mine = []
        for number in range(events // SENDERS):
            blocking = number % 10 == 0
            started = time.monotonic()
            row = replace(ROW, id=f"{name}-{number}", payload=PAYLOAD + str(number))
            own[journal.append(row, commit=blocking)] += 1
            if blocking:
                mine.append(time.monotonic() - started)
        with lock:
            said.update(own)
            waits.extend(mine)

    threads = [threading.Thread(target=send, args=(name,)) for name in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said, waits


def _controls(tally: Tally) -> None:
    """A journal whose queue forgets in silence, and one that everybody waits for: both with a real, locked file."""
    database = open_db(tally.folder / "control.db", create=True)
    forgetful = Forgetful(database)
    with locked(database):
        accepted = sum(forgetful.append(f"f{number}") for number in range(MAX_ROWS + 500))
    forgetful.close()
    tally.control("a queue that forgets", Journal(database).count() < accepted)
    waits = []
    with locked(database), closing(database.open(busy=PATIENCE)) as connection:
        for number in range(10):
            started = time.monotonic()
            with suppress(sqlite3.OperationalError):
                connection.execute(insert_statement(1), row_values(replace(ROW, id=f"w{number}")))
            waits.append(time.monotonic() - started)
    tally.control("everybody waits", statistics.median(waits) >= PATIENCE / 2)


class Forgetful:
    """What one writes first: a bounded queue, and a thread that empties it when the file is free."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: deque[str] = deque(maxlen=MAX_ROWS)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def append(self, id: str) -> bool:
        self._queue.append(id)
        return True

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        self._over.wait()  # the file is locked for all the burst
        with self._database.write() as connection:
            for id in self._queue:
                connection.execute(insert_statement(1), row_values(replace(ROW, id=id)))
