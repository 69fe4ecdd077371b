"""What the programs about the journal share: a row, and children that are made by a fork and end without a word."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tray.model.decision import Record, Verdict

ROW = Record(
    id="r", at=1.0, agent="claude-code", session="s", project="p", event="PreToolUse", kind="tool_before",
    verdict=Verdict.DENY, reason="no", ms=1.0, payload="{}",
)  # fmt: skip


@contextmanager
def child(work: Callable[[int], None]) -> Iterator[tuple[int, int]]:
    """A fork that does `work` with the writing end of a pipe; gives its pid and the reading end. Waited for."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            work(writing)
        except BaseException:  # noqa: BLE001 - the last place of this process
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    try:
        yield pid, reading
    finally:
        os.close(reading)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def rest(reading: int) -> bytes:
    """Everything that is still in the pipe, until its other end is closed."""
    parts = []
    while part := os.read(reading, 65536):
        parts.append(part)
    return b"".join(parts)


def ids(path: Path) -> list[str]:
    """Of all rows, in the order of their numbers, read by SQLite alone."""
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM journal ORDER BY seq")]


def whole(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
