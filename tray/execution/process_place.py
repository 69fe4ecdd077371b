"""Processes that are recognised again later: a number may come back as another one's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from tray.execution.process_table import command_line, environment, program_name, read_entry, start_time
from tray.files import content
from tray.model.place import ProcessId

DEPTH = 32
TOLERANCE = 2.0  # seconds: a correction of the clock moves the start that the system computes


def processes_from(pid: int) -> tuple[ProcessId, ...]:
    """The process and those above it, nearest first, as far as they can be seen."""
    return tuple(_upwards(pid))


def _upwards(pid: int) -> Iterator[ProcessId]:
    below = float("inf")
    for _ in range(DEPTH):
        entry = read_entry(pid) if pid > 1 else None
        if entry is None or entry.start > below:  # a later process has the number of a parent that has ended
            return
        yield ProcessId(pid, start_time(entry))
        pid, below = entry.parent, entry.start


def is_alive(process: ProcessId) -> bool:
    """Whether it is still the same process."""
    entry = read_entry(process.pid)
    return entry is not None and abs(start_time(entry) - process.started) < TOLERANCE


if sys.platform == "linux":

    def environment_of(pid: int) -> dict[str, str]:
        """What a process of the user's own was started with; empty for any other."""
        if _real_user(pid) != os.getuid():
            return {}
        rows = (row.partition(b"=") for row in environment(pid).split(b"\0"))
        return {os.fsdecode(name): os.fsdecode(value) for name, equals, value in rows if equals}

    def _real_user(pid: int) -> int | None:
        try:
            return int(content(f"/proc/{pid}/status").partition(b"\nUid:")[2].split(None, 1)[0])
        except (OSError, ValueError, IndexError):
            return None

else:

    def environment_of(pid: int) -> dict[str, str]:
        """What a process of the user's own was started with; empty for any other."""
        import psutil

        try:
            process = psutil.Process(pid)
            if sys.platform != "win32" and process.uids().real != os.getuid():
                return {}
            return dict(process.environ())
        except (psutil.Error, ValueError, OSError):
            return {}


def terminal_of(pid: int) -> str:
    """The terminal that controls a process; "" for none."""
    import psutil

    try:
        return str(getattr(psutil.Process(pid), "terminal", str)() or "")
    except psutil.Error:
        return ""


def is_below(processes: Sequence[ProcessId], program: str) -> bool:
    """Whether one of them is this program, as far as they are known: a variable may be inherited from elsewhere."""
    return not processes or any(program_name(one.pid).startswith(program) for one in processes)


def command_of(pid: int) -> tuple[str, ...]:
    """How it was started; empty when it has ended. A program that rewrote its line may have made it one word."""
    words = command_line(pid)
    return tuple(words[0].split(" ")) if len(words) == 1 else words
