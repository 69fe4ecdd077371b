"""The system's processes at one moment; threads that ask at the same time share one snapshot.

Hooks of a burst time out together: with a snapshot for each, the time would grow with the square of their number.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from tray.execution.process import RUN_VARIABLE
from tray.execution.procfs import environment, stat
from tray.lazy_dataclass import dataclass
from tray.lazy_pattern import lazy_pattern

assert sys.platform != "win32"

PROC = "/proc"
DEAD = ("Z", "X")
MARKS = lazy_pattern(RUN_VARIABLE.encode() + rb"=([^\0]+)")


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One line of the system's process table."""

    parent: int
    group: int
    session: int
    start: float


class ProcessTable:
    """The living processes but for ourselves, by number, and by what they have in common."""

    def __init__(self, entries: dict[int, ProcessEntry]) -> None:
        self.entries = entries
        self._lock = threading.Lock()

    def group(self, leader: int) -> set[int]:
        """Whoever is this process, or of its group or its session."""
        return {leader} & self.entries.keys() | self._groups.get(leader, set())

    def marked(self, mark: str) -> set[int]:
        """Whoever carries this mark in the environment that it was started with."""
        with self._lock:
            return self._marked.get(mark.encode(), set())

    def descendants(self, pids: Iterable[int]) -> set[int]:
        """These and all that they started, as far as the parents live."""
        found, waiting = set[int](), list(pids)
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                waiting += self._children.get(pid, ())
        return found

    @cached_property
    def _groups(self) -> dict[int, set[int]]:
        groups: dict[int, set[int]] = defaultdict(set)
        for pid, entry in self.entries.items():
            groups[entry.group].add(pid)
            groups[entry.session].add(pid)
        return groups

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = defaultdict(list)
        for pid, entry in self.entries.items():
            children[entry.parent].append(pid)
        return children

    @cached_property
    def _marked(self) -> dict[bytes, set[int]]:
        marked: dict[bytes, set[int]] = defaultdict(set)
        for pid in self.entries:
            for mark in MARKS.findall(environment(pid)):
                marked[mark].add(pid)
        return marked


class ProcessSnapshots:
    """Returns tables. Each is begun after it was asked for, so that no process is missing that ran by then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = ProcessTable({})
        self._began = float("-inf")

    def now(self) -> ProcessTable:
        asked = time.monotonic()
        with self._lock:
            if self._began < asked:
                self._began = time.monotonic()
                entries = _read_entries()
                entries.pop(os.getpid(), None)
                self._last = ProcessTable(entries)
            return self._last


SNAPSHOTS = ProcessSnapshots()


def read_entry(pid: int) -> ProcessEntry | None:
    """This process; None when it is dead, or we may not see it."""
    try:
        fields = stat(pid)
    except OSError:
        return None
    if fields[0].decode() in DEAD:
        return None
    return ProcessEntry(int(fields[1]), int(fields[2]), int(fields[3]), float(fields[19]))


def _read_entries() -> dict[int, ProcessEntry]:
    if not Path(PROC, "self", "stat").exists():
        return _read_with_psutil()
    pids = (int(name) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208 - on the way to an answer
    found = ((pid, read_entry(pid)) for pid in pids)
    return {pid: one for pid, one in found if one is not None}


def _read_with_psutil() -> dict[int, ProcessEntry]:
    # macOS; not run where this was written. Without /proc the mark is not checked.
    import psutil

    entries: dict[int, ProcessEntry] = {}
    for process in psutil.process_iter(["ppid", "create_time", "status"]):
        if process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        with contextlib.suppress(OSError):
            group, session = os.getpgid(process.pid), os.getsid(process.pid)
            entries[process.pid] = ProcessEntry(process.info["ppid"], group, session, process.info["create_time"])
    return entries
