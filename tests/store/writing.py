"""Rows for the journal's writer, and who is in its way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from msgspec.structs import replace

from tray.model.decision import Record, Verdict
from tray.store.db import Database
from tray.store.journal import Journal, insert_statement, row_values
from tray.store.retention import RetentionLimits
from tray.store.writer import Committed

ROW = Record(
    id="e", at=1.0, agent="claude-code", session="s", project="p", event="PreToolUse", kind="tool_before",
    verdict=Verdict.DENY, reason="no", ms=1.0,
)  # fmt: skip


class Problems:
    """Keeps what a journal reports. Stand-in for the tray."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def journal_problem(self, text: str) -> None:
        self.texts.append(text)


class SetClock:
    """A clock whose time can be set apart from the time since the system's start. Stand-in for the BootClock."""

    def __init__(self, now: float) -> None:
        self.now, self.since_boot = now, 0.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.since_boot


class Limited:
    """Has these limits of the journal. Stand-in for the tray."""

    def __init__(self, limits: RetentionLimits) -> None:
        self.journal_limits = limits


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Another connection that holds the only write lock."""
    with closing(database.open()) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def write(database: Database, records: Iterable[Record]) -> None:
    """All at once, and there when this returns: an answer waits for its row 50 ms at most."""
    with database.write() as connection:
        connection.executemany(insert_statement(1), map(row_values, records))


def append(journal: Journal, id: str, *, commit: bool = True) -> tuple[Committed, float]:
    started = time.monotonic()
    said = journal.append(replace(ROW, id=id), commit=commit)
    return said, time.monotonic() - started
