"""The thread that writes the journal: it takes the rows that wait, some at once, and wakes their callers.

It sleeps while there is nothing to write, and prunes now and then. When writing fails it keeps what it has and
tries again, further and further apart; then no caller waits for it any more, and what exceeds the bounds is dropped
and counted.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Protocol

import msgspec

from tray.store.db import Database, database_error, is_damage
from tray.store.retention import Retention
from tray.threads import start_thread

MAX_ROWS = 10_000  # that may wait; more are dropped
MAX_SIZE = 64 * 1024 * 1024  # characters that may wait
BATCH_ROWS = 32  # rows in one statement, at most: older SQLite takes 999 values
BUSY_TIMEOUT = 0.25  # seconds; longer would keep close() waiting
RETRY_PAUSE = (0.05, 1.0)  # seconds between two tries: the first, and the longest
WARNING_INTERVAL = 3600.0  # seconds before the same warning is repeated
PRUNE_INTERVAL = 1000  # jobs between two rounds of pruning
COUNT_SIZE = 1 << 20  # bytes of the file with the count of dropped rows
SAVE_DROPPED = "INSERT INTO meta VALUES ('dropped', ?) ON CONFLICT (key) DO UPDATE SET value = value + excluded.value"
PRUNE_DEADLINE = 4 * PRUNE_INTERVAL  # jobs without a quiet moment; then it prunes a little before each statement


log = logging.getLogger(__name__)


class Committed(enum.Enum):
    """What became of a row by the time its caller goes on."""

    DONE = "done"
    LATE = "late"  # wanted before the answer, and not there in time; it is still going to be written
    QUEUED = "queued"
    DROPPED = "dropped"


class WriteJob(msgspec.Struct, frozen=True):
    """A row of the journal, or any other statement. Only rows are counted when they have to be dropped."""

    values: tuple[object, ...]
    size: int  # characters of the values
    sql: str = ""  # "" = a row


class JournalListener(Protocol):
    def journal_problem(self, text: str) -> None:
        """Report to the user what is wrong with the journal. Neither blocks nor raises."""
        ...


def report(text: str, listener: JournalListener | None) -> None:
    """Report a problem of the journal to the listener; without one, only in the log."""
    if listener is None:
        log.warning("%s", text)
    else:
        listener.journal_problem(text)


class JournalWriter:
    """`insert` returns the statement for so many rows. Without `retention` all rows are kept.

    Each distinct problem is reported to the listener once an hour.
    """

    def __init__(
        self,
        database: Database,
        insert: Callable[[int], str],
        *,
        wait: float,
        listener: JournalListener | None = None,
        retention: Retention | None = None,
    ) -> None:
        self._database = database
        self._insert = insert
        self._retention = retention
        self._needs_pruning = False
        self._since_pruning = 0  # jobs since the last round of pruning began
        self._wait = wait
        self._listener = listener
        self._warned: dict[str, float] = {}
        lock = threading.Lock()
        self._work_ready = threading.Condition(lock)  # there is something to do
        self._progress = threading.Condition(lock)  # something was done, or callers must not wait
        self._queue: deque[WriteJob] = deque()
        self._size = 0
        self._accepted = 0  # jobs ever accepted
        self._written = 0  # of them committed, in the same order
        self._stalled = False
        self._closing = False
        self._deadline = 0.0
        self._late_count = 0
        self._dropped = count_dropped(database)  # of these, not yet in the database:
        self._unsaved = 0
        self._counted = False  # the last statement; then rows come first, however many are dropped meanwhile
        self._failing_since = 0.0  # when that was reported; 0 = writing works
        self._problem = ""  # why writing fails now
        self._thread: threading.Thread | None = None
        self._writing = threading.Lock()  # held while the connection is used
        self._stale = False  # the connection's file is not at its path any more

    @property
    def dropped(self) -> int:
        """Rows that could not be kept, since the database was made."""
        with self._work_ready:
            return self._dropped

    @property
    def problem(self) -> str:
        """Why no row can be written now, and what to do; "" while writing works."""
        return self._problem

    @property
    def late_count(self) -> int:
        """Answers that left before their row was committed, since the start."""
        with self._work_ready:
            return self._late_count

    def submit(self, job: WriteJob, *, commit: bool = False) -> Committed:
        """Queue it. With `commit`, wait for it, but not for long and not when another has waited in vain."""
        with self._work_ready:
            if self._closing or len(self._queue) >= MAX_ROWS or self._size >= MAX_SIZE:
                self._drop(not job.sql)
                return Committed.DROPPED
            self._queue.append(job)
            self._size += job.size
            self._accepted += 1
            if self._thread is None:
                self._start()
            self._work_ready.notify()
            if not commit:
                return Committed.QUEUED
            number, deadline = self._accepted, time.monotonic() + self._wait
            while self._written < number and not self._stalled:
                if not self._progress.wait(deadline - time.monotonic()):
                    break
            if self._written >= number:
                return Committed.DONE
            self._late_count += 1
            self._stalled = True
            self._progress.notify_all()
            failing = bool(self._failing_since)  # reported already, with its cause
        if not failing:
            self._warn("answers leave before they are written down: writing takes too long")
        return Committed.LATE

    def prune(self) -> None:
        """Begin a round of pruning, as soon as there is nothing to write."""
        with self._work_ready:
            self._needs_pruning = True
            if not self._closing:
                self._start()
                self._work_ready.notify()

    @contextlib.contextmanager
    def swap(self) -> Iterator[None]:
        """While the block runs, nothing is written; later rows go into the file that is then at the path."""
        with self._writing:
            self._stale = True
            yield

    def close(self, limit: float = 5.0) -> None:
        """Write what waits, but give up after `limit` seconds."""
        with self._work_ready:
            self._closing = True
            self._deadline = time.monotonic() + limit
            self._work_ready.notify()
            thread = self._thread
        if thread is not None:
            thread.join(limit + 2 * BUSY_TIMEOUT)
        with self._work_ready:
            left = sum(not job.sql for job in self._queue)
            self._dropped += left
            if thread is None or not thread.is_alive():
                self._queue.clear()
            unsaved, self._unsaved = self._unsaved + left, 0
        if unsaved:
            add_dropped(self._database, unsaved)
        if left:
            self._warn(f"{left} rows could not be written before the end")

    def _drop(self, is_row: bool) -> None:
        self._dropped += is_row
        self._unsaved += is_row
        if not self._closing:
            self._start()
            self._work_ready.notify()

    def _start(self) -> None:
        """The first row starts the thread: a journal that is only read has none."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="journal", daemon=True)
            start_thread(thread)
            self._thread = thread

    def _run(self) -> None:
        prepare_dropped(self._database)  # while there is room for it
        connection: sqlite3.Connection | None = None
        tries = 0
        while (job := self._next()) is not None:
            try:
                with self._writing:
                    if self._stale:
                        _close(connection)
                        connection, self._stale = None, False
                    if connection is None:
                        connection = self._database.open(busy=BUSY_TIMEOUT)
                    if not any(job) or self._since_pruning >= PRUNE_DEADLINE:
                        self._prune(connection)
                    self._commit(connection, *job)
            except sqlite3.Error as e:
                _close(connection)  # a fresh one sees a file that was mended or put back
                connection = None
                self._failed(e)
                pause = min(RETRY_PAUSE[0] * 2 ** min(tries, 10), RETRY_PAUSE[1])
                with self._work_ready:
                    if self._closing:
                        self._work_ready.wait(RETRY_PAUSE[0])
                    else:
                        self._work_ready.wait_for(lambda: self._closing, pause)
                tries += 1
            else:
                self._finished(*job)
                tries = 0
        _close(connection)

    def _next(self) -> tuple[list[WriteJob], int] | None:
        """What to write now with one statement, as many rows as go into one; None = the end.

        It stays in the queue until it is written.
        """
        with self._work_ready:
            while not (self._queue or self._unsaved or self._needs_pruning or self._closing):
                self._work_ready.wait()
            is_over = self._closing and time.monotonic() >= self._deadline
            if is_over or not (self._queue or self._unsaved or (self._needs_pruning and not self._closing)):
                return None
            if self._unsaved and not (self._queue and self._counted):
                return [], self._unsaved
            batch: list[WriteJob] = []
            for job in islice(self._queue, BATCH_ROWS):
                if job.sql and batch:
                    break
                batch.append(job)
                if job.sql:
                    break
            # Of a few sizes only: SQLite keeps what it has compiled.
            return batch[: 1 << (len(batch).bit_length() - 1)] if batch else batch, 0

    def _commit(self, connection: sqlite3.Connection, batch: list[WriteJob], dropped: int) -> None:
        """One statement, which is a transaction of its own: SQLite begins and ends it without the interpreter.

        Between BEGIN and COMMIT busy threads would take the interpreter at each statement, and a change of the switch
        would find the database locked for seconds.
        """
        if dropped:
            connection.execute(SAVE_DROPPED, (dropped,))
        elif batch:
            sql = batch[0].sql or self._insert(len(batch))
            connection.execute(sql, tuple(chain.from_iterable(map(attrgetter("values"), batch))))

    def _finished(self, batch: list[WriteJob], dropped: int) -> None:
        with self._work_ready:
            for job in batch:
                self._queue.popleft()
                self._size -= job.size
            self._written += len(batch)
            self._since_pruning += len(batch)
            self._needs_pruning = self._needs_pruning or self._since_pruning >= PRUNE_INTERVAL
            self._unsaved -= dropped
            self._counted = dropped > 0
            self._stalled = False
            self._failing_since, self._problem = 0.0, ""
            self._progress.notify_all()

    def _prune(self, connection: sqlite3.Connection) -> None:
        more = False  # what cannot be done now is tried again after the next rows
        try:
            more = self._retention is not None and self._retention.prune_step(connection)
        finally:
            with self._work_ready:
                self._needs_pruning = more
                self._since_pruning = self._since_pruning if more else 0

    def _failed(self, error: sqlite3.Error) -> None:
        if is_damage(error):
            self._database.mark_damaged()
        now = time.monotonic()
        self._problem = str(database_error(self._database.path, error))
        with self._work_ready:
            if self._failing_since and now - self._failing_since < WARNING_INTERVAL:
                return  # one fault may have several messages
            self._failing_since = now
        self._warn(f"{self._database.path}: {error}")

    def _warn(self, text: str) -> None:
        now = time.monotonic()
        with self._work_ready:
            if now - self._warned.get(text, -WARNING_INTERVAL) < WARNING_INTERVAL:
                return
            self._warned[text] = now
        report(text, self._listener)


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        with contextlib.suppress(sqlite3.Error):
            connection.close()


# ---- the count of dropped rows: in the database, or beside it while that cannot be written


def count_dropped(database: Database) -> int:
    """All rows that were ever dropped."""
    with database.connect() as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'dropped'").fetchone()
    file, taken = _count_files(database)
    return (row["value"] if row else 0) + _read_count(file) + _read_count(taken)


def add_dropped(database: Database, number: int | str) -> None:
    """Note some more beside the database; several processes may do so at once."""
    with contextlib.suppress(OSError):
        handle = os.open(_count_files(database)[0], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, f"{number}\n".encode())
        finally:
            os.close(handle)


def merge_dropped(database: Database) -> None:
    """Move the count beside the database into it."""
    file, taken = _count_files(database)
    if not _read_count(file) + _read_count(taken):
        return
    with contextlib.suppress(OSError):
        if not taken.exists():  # else an earlier attempt was cut short
            file.replace(taken)
        with database.write() as connection:
            connection.execute(SAVE_DROPPED, (_read_count(taken),))
        taken.unlink()
    prepare_dropped(database)


def prepare_dropped(database: Database) -> None:
    """Creates the file while the disk has room: its block then takes a few digits on a full disk, too."""
    if not _count_files(database)[0].exists():
        add_dropped(database, "")


def _read_count(file: Path) -> int:
    try:
        with file.open("rb") as lines:
            return sum(int(word) for word in lines.read(COUNT_SIZE).split() if word.isdigit())
    except OSError:
        return 0


def _count_files(database: Database) -> tuple[Path, Path]:
    """Returns the file, and the file whose count `merge_dropped` is adding."""
    name = database.path.name
    return database.path.with_name(f"{name}.lost"), database.path.with_name(f"{name}.lost.taken")
