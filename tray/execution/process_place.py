"""Processes that are recognised again later: a number alone may come back as another one's."""

from __future__ import annotations

from itertools import islice

from tray.model.place import ProcessId

DEPTH = 32
TOLERANCE = 2.0  # seconds: a correction of the clock moves the start that the system computes


def processes_from(pid: int) -> tuple[ProcessId, ...]:
    """The process and those above it, nearest first, as far as they can be seen."""
    import psutil

    found = []
    try:
        process = psutil.Process(pid)
        for one in islice((process, *process.parents()), DEPTH):
            if one.pid > 1:
                found.append(ProcessId(one.pid, one.create_time()))
    except (psutil.Error, ValueError):
        pass
    return tuple(found)


def is_alive(process: ProcessId) -> bool:
    """Whether it is still the same process."""
    import psutil

    try:
        return abs(psutil.Process(process.pid).create_time() - process.started) < TOLERANCE
    except (psutil.Error, ValueError):
        return False
