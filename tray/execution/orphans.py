"""Processes whose parents have died: on Linux they become the tray's children, so none gets away by forking twice.

The kernel gives an orphan to our main thread. Hooks are started by other threads, so that thread's list of children
is short, and no other code waits for the processes on it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

from tray.execution.process import OPENED_VARIABLE, RUN_VARIABLE
from tray.execution.process_table import ProcessEntry, environment, read_entry
from tray.files import content

SET_SUBREAPER, GET_SUBREAPER = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER
REAP_DELAY = 1.0  # seconds that whoever started a process has to wait for it himself
REAP_INTERVAL = 0.2  # seconds between two looks


def become_subreaper() -> bool:
    """From here on orphans come to us; False where the system has no such thing."""
    os.environ[OPENED_VARIABLE] = "1"
    return sys.platform == "linux" and _prctl(SET_SUBREAPER, 1) == 0


def is_subreaper() -> bool:
    return sys.platform == "linux" and _prctl(GET_SUBREAPER) == 1


def _prctl(option: int, value: int | None = None) -> int:
    """Calls prctl(2) and returns its result; without `value`, the value that the kernel wrote, or -1 on failure."""
    import ctypes  # only the tray needs it

    given = ctypes.c_int(value or 0)
    done = int(ctypes.CDLL(None).prctl(option, ctypes.byref(given) if value is None else given, 0, 0, 0))
    return done if done or value is not None else given.value


def orphans() -> tuple[int, ...]:
    """Our main thread's children, dead ones too."""
    try:
        return tuple(map(int, content(f"/proc/self/task/{os.getpid()}/children").split()))
    except OSError:
        return ()


def is_stray(entry: ProcessEntry, variables: bytes) -> bool:
    """Whether an orphan with this environment has no hook's mark, and is nothing that we opened for the user."""
    if sys.platform == "win32" or entry.parent != os.getpid() or entry.session == os.getsid(0):
        return False
    return OPENED_VARIABLE.encode() not in variables and RUN_VARIABLE.encode() not in variables and is_subreaper()


def end_orphans() -> None:
    """End every orphan of any hook."""
    if sys.platform == "win32":
        return
    for pid in orphans():
        variables, entry = environment(pid), read_entry(pid)
        if entry is None or entry.is_dead:
            continue
        if is_stray(entry, variables) or (RUN_VARIABLE.encode() in variables and is_subreaper()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


class Reaper:
    """Reaps the dead that no other code waits for. Never blocks, and leaves others the time to wait for their own."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, float], float] = {}  # by number and start
        self._lock = threading.Lock()
        self._next = 0.0

    def reap(self) -> None:
        if sys.platform != "linux":
            return
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + REAP_INTERVAL
        dead = set(_dead())
        if not (dead or self._seen):
            return
        with self._lock:
            now = time.monotonic()
            self._seen = {one: self._seen.get(one, now) for one in dead}
            due = [pid for (pid, _), since in self._seen.items() if now - since >= REAP_DELAY]
        for pid in due:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _dead() -> Iterator[tuple[int, float]]:
    if sys.platform == "win32":
        return
    own = os.getsid(0)
    for pid in orphans():
        entry = read_entry(pid)
        # A process of our session was started by us, and is not a hook.
        if entry is not None and entry.is_dead and entry.session != own:
            yield pid, entry.start
