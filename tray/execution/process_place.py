"""Processes that are recognised again later: a number may come back as another one's."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
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
    import psutil

    names = []
    for one in processes:
        with contextlib.suppress(psutil.Error):
            names.append(psutil.Process(one.pid).name())
    return not processes or any(name.startswith(program) for name in names)


def command_of(pid: int) -> tuple[str, ...]:
    """How it was started; empty when it has gone."""
    import psutil

    try:
        return tuple(psutil.Process(pid).cmdline())
    except (psutil.Error, ValueError):
        return ()


def program_of(pid: int) -> str:
    """The name of its program; "" when it has gone."""
    import psutil

    try:
        return psutil.Process(pid).name()
    except (psutil.Error, ValueError):
        return ""
