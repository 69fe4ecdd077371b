"""Everything that came out of one hook's process, found and ended: its group, its session, its descendants, its mark.

A group alone misses a child that called setsid(); a walk over parents alone misses one whose parent has died.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tray.engine.runners.orphans import OPENED, adopting, orphans
from tray.engine.runners.process import MARK
from tray.files import content

assert sys.platform != "win32"

PROC = Path("/proc")
ROUNDS = 10  # looks at a tree that forks while it is being killed
DEAD = ("Z", "X")
UNREACHABLE = (ProcessLookupError, PermissionError)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the system's process table."""

    parent: int
    group: int
    session: int
    start: float


class PosixTree:
    """The tree below a process that leads a session of its own and carries `mark` in its environment."""

    def __init__(self, pid: int, mark: str, born: float | None = None) -> None:
        self.pid = pid
        self._mark = f"{MARK}={mark}".encode()
        self._known: dict[int, float] = {}
        self._born = ticks() - 100 if born is None else born

    def terminate(self) -> None:
        """Ask the group to end, and remember who belongs to the tree while the parents still say so."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def sweep(self) -> None:
        """Kill whoever is left. Each look may find forks that the one before was too early for."""
        killed: set[int] = set()
        for _ in range(ROUNDS):
            found = self._members().keys() - killed
            if not found:
                return
            for pid in found:
                with contextlib.suppress(*UNREACHABLE):
                    os.kill(pid, signal.SIGKILL)
            killed |= found

    def left(self) -> bool:
        """Whether anybody outlived the leader, who has been waited for."""
        return self._group_left() or any(map(self._escaped, orphans()))

    def _group_left(self) -> bool:
        try:
            os.killpg(self.pid, 0)  # first: as a rule nobody is left
        except UNREACHABLE:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False  # the system reuses a number only after the group is empty: this is a stranger

    def _signal(self, number: signal.Signals) -> None:
        self._known.update(self._members(marked=False))  # the quick look; sweep looks closer
        with contextlib.suppress(*UNREACHABLE):
            os.killpg(self.pid, number)

    def _members(self, *, marked: bool = True) -> dict[int, float]:
        table = snapshot()
        table.pop(os.getpid(), None)
        inside = {pid for pid, entry in table.items() if self._belongs(pid, entry) or (marked and self._marked(pid))}
        if marked:
            inside |= {pid for pid in orphans() if pid in table and self._escaped(pid)}
        size = -1
        while size != len(inside):
            size = len(inside)
            inside |= {pid for pid, entry in table.items() if entry.parent in inside}
        return {pid: table[pid].start for pid in inside}

    def _belongs(self, pid: int, entry: Entry) -> bool:
        if self.pid in (pid, entry.group, entry.session):
            return True
        return self._known.get(pid) == entry.start

    def _marked(self, pid: int) -> bool:
        return self._mark in environment(pid)

    def _escaped(self, pid: int) -> bool:
        """Whether this orphan is this hook's: by its mark, or by its hour when it wiped all marks off."""
        if self._marked(pid):
            return True
        entry = _entry(str(pid))
        return entry is not None and entry.start >= self._born and stray(pid, entry)


def stray(pid: int, entry: Entry) -> bool:
    """Whether this orphan belongs to no hook by name, and is nothing that we started for the person either."""
    if entry.parent != os.getpid() or entry.session == os.getsid(0):
        return False
    said = environment(pid)
    return OPENED.encode() not in said and MARK.encode() not in said and adopting()


def end_escaped() -> None:
    """End every orphan of any hook."""
    for pid in orphans():
        entry = _entry(str(pid))
        if entry is not None and (stray(pid, entry) or (MARK.encode() in environment(pid) and adopting())):
            with contextlib.suppress(*UNREACHABLE):
                os.kill(pid, signal.SIGKILL)


def ticks() -> float:
    """Now, as the process table tells when somebody was started."""
    if sys.platform != "linux":
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")


def snapshot() -> dict[int, Entry]:
    """The living processes."""
    if not (PROC / "self" / "stat").exists():
        return _snapshot_without_proc()
    names = os.listdir(PROC)  # noqa: PTH208 - hundreds of names, on the way to an answer
    entries = ((int(name), _entry(name)) for name in names if name.isdigit())
    return {pid: entry for pid, entry in entries if entry is not None}


def _entry(name: str) -> Entry | None:
    try:
        text = content(f"/proc/{name}/stat")
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()  # the name in brackets may hold blanks and brackets itself
    if fields[0].decode() in DEAD:
        return None
    return Entry(int(fields[1]), int(fields[2]), int(fields[3]), float(fields[19]))


def environment(pid: int) -> bytes:
    """What a process was started with; empty for one that is not ours."""
    try:
        return content(f"/proc/{pid}/environ")
    except OSError:
        return b""


def _snapshot_without_proc() -> dict[int, Entry]:
    # macOS; not run where this was written. Without /proc the mark is not looked at.
    import psutil

    entries: dict[int, Entry] = {}
    for process in psutil.process_iter(["ppid", "create_time", "status"]):
        if process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        with contextlib.suppress(OSError):
            group, session = os.getpgid(process.pid), os.getsid(process.pid)
            entries[process.pid] = Entry(process.info["ppid"], group, session, process.info["create_time"])
    return entries
