"""How much the journal keeps: by age, rows and bytes, the oldest rows going first, a few at a time."""

from __future__ import annotations

import sqlite3
import sys
import time
from typing import Protocol

import msgspec

from tray.clock import Clock

CHUNK_ROWS = 200  # rows deleted in one transaction, so that the writer gets its turn in between
VACUUM_PAGES = 200  # given back to the disk at a time
MIN_ROWS = 50  # rows that stay, whatever they weigh
DAY = 86_400.0
GAP = 30 * DAY  # without rows: the clock may be wrong, so no row is old until as much time has passed again
DELETE = "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal WHERE {} ORDER BY seq LIMIT :chunk)"


class BootClock:
    """The clock of the system. On Linux `monotonic` goes on while the system sleeps."""

    def time(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        if sys.platform == "linux":
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()


BOOT_CLOCK = BootClock()


class RetentionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Whatever exceeds one of them goes."""

    days: float = 90.0
    rows: int = 200_000
    megabytes: float = 500.0  # of the whole file; what else is in it is small


class JournalSettings(Protocol):
    """Has the limits of the journal as they are set now."""

    @property
    def journal_limits(self) -> RetentionLimits: ...


class Retention:
    """Deletes the rows that exceed the limits. Without `settings`, the limits are the defaults.

    A clock that jumps ahead while we run makes no row old, because its `monotonic` limits the time that has passed. A
    clock that was ahead at the start makes none old either, as far as the rows show that (`GAP`).
    """

    def __init__(self, settings: JournalSettings | None = None, clock: Clock = BOOT_CLOCK) -> None:
        self._settings = settings
        self._clock = clock
        self._began = clock.time() - clock.monotonic()

    def prune_step(self, connection: sqlite3.Connection) -> bool:
        """Delete a few rows. Returns True if there is more to delete."""
        limits = self._settings.journal_limits if self._settings else RetentionLimits()
        now = min(self._clock.time(), self._began + self._clock.monotonic())
        deleted = _delete(connection, "at < :value", now - limits.days * DAY) if _is_plausible(connection, now) else 0
        last = connection.execute("SELECT max(seq) FROM journal").fetchone()[0] or 0
        deleted += _delete(connection, "seq <= :value", last - limits.rows)
        if deleted == 0 and _size(connection) > limits.megabytes * 1_000_000:
            deleted = _delete(connection, "seq <= :value", last - MIN_ROWS)
        if deleted:  # execute() would free a single page
            connection.executescript(f"PRAGMA incremental_vacuum({VACUUM_PAGES})")
        return deleted > 0


def _is_plausible(connection: sqlite3.Connection, now: float) -> bool:
    """True if the rows reach up to this time without the gap that a clock set ahead would leave."""
    value = {"value": now - GAP}
    before, since = (
        connection.execute(f"SELECT {what} :value", value).fetchone()[0]
        for what in ("max(at) FROM journal WHERE at <", "min(at) FROM journal WHERE at >=")
    )
    return before is None or (since is not None and since - before <= GAP)


def _delete(connection: sqlite3.Connection, condition: str, value: float) -> int:
    if not connection.execute(f"SELECT 1 FROM journal WHERE {condition} LIMIT 1", {"value": value}).fetchone():
        return 0  # looking takes no lock
    return connection.execute(DELETE.format(condition), {"value": value, "chunk": CHUNK_ROWS}).rowcount


def _size(connection: sqlite3.Connection) -> int:
    """Bytes in use; those of free pages are on their way back to the disk."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
