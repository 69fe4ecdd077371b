"""Everything that came out of one hook's process, found and ended: its group, its session, its descendants, its mark.

A group misses a child that called setsid(); a walk over parents misses one whose parent has died.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from tray.execution.orphans import OPENED_VARIABLE, is_subreaper, orphans
from tray.execution.process import RUN_VARIABLE
from tray.execution.procfs import boot_ticks, environment

if sys.platform != "win32":
    from tray.execution.process_table import SNAPSHOTS, ProcessEntry, ProcessTable, read_entry

assert sys.platform != "win32"

SWEEPS = 10  # rounds over a tree that forks while it is being killed
UNREACHABLE = (ProcessLookupError, PermissionError)


class PosixTree:
    """The tree below a process that leads a session of its own and carries `mark` in its environment."""

    def __init__(self, pid: int, mark: str, born: float | None = None) -> None:
        self.pid = pid
        self._mark = mark
        self._known: dict[int, float] = {}
        self._born = boot_ticks() - 100 if born is None else born

    def terminate(self) -> None:
        """Ask the group to end, and remember who belongs to the tree while the parents still say so."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def sweep(self) -> None:
        """Kill whoever is left. Each look may find forks that the one before was too early for."""
        killed: set[int] = set()
        for _ in range(SWEEPS):
            found = self._members().keys() - killed
            if not found:
                return
            for pid in found:
                with contextlib.suppress(*UNREACHABLE):
                    os.kill(pid, signal.SIGKILL)
            killed |= found

    def has_survivors(self) -> bool:
        """Whether a process outlived the leader, which has been waited for."""
        return self._group_left() or self._has_escaped()

    def is_alive(self) -> bool:
        """Whether any process of it still runs; one that is dead and not yet waited for does not."""
        return bool(self._members())

    def _group_left(self) -> bool:
        try:
            os.killpg(self.pid, 0)  # first: as a rule none is left
        except UNREACHABLE:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False  # the system reuses a number only after the group is empty: this is a stranger

    def _has_escaped(self) -> bool:
        """Whether an orphan is of this tree. One that ends while we look has left its children at the list's end."""
        seen: set[int] = set()
        while new := set(orphans()) - seen:
            if any(map(self._escaped, new)):
                return True
            seen.update(new)
        return False

    def _signal(self, number: signal.Signals) -> None:
        self._known.update(self._members(marked=False))  # the quick look; sweep looks closer
        with contextlib.suppress(*UNREACHABLE):
            os.killpg(self.pid, number)

    def _members(self, *, marked: bool = True) -> dict[int, float]:
        table = SNAPSHOTS.now()
        inside = table.group(self.pid) | {
            pid for pid, start in self._known.items() if self._is_same(table, pid, start)
        }
        if marked:
            inside |= table.marked(self._mark)
            others = table.entries.keys() - inside
            inside |= {pid for pid in orphans() if pid in others and self._escaped(pid)}
        return {pid: table.entries[pid].start for pid in table.descendants(inside)}

    @staticmethod
    def _is_same(table: ProcessTable, pid: int, start: float) -> bool:
        entry = table.entries.get(pid)
        return entry is not None and entry.start == start

    def _escaped(self, pid: int) -> bool:
        """Whether this orphan is this hook's: by its mark, or by its start time when it removed all marks."""
        variables = environment(pid)
        if f"{RUN_VARIABLE}={self._mark}".encode() in variables:
            return True
        entry = read_entry(pid)
        return entry is not None and entry.start >= self._born and is_stray(entry, variables)


def is_stray(entry: ProcessEntry, variables: bytes) -> bool:
    """Whether an orphan with this environment has no hook's mark, and is nothing that we opened for the user."""
    if entry.parent != os.getpid() or entry.session == os.getsid(0):
        return False
    return OPENED_VARIABLE.encode() not in variables and RUN_VARIABLE.encode() not in variables and is_subreaper()


def end_orphans() -> None:
    """End every orphan of any hook."""
    for pid in orphans():
        variables, entry = environment(pid), read_entry(pid)
        if entry is not None and (
            is_stray(entry, variables) or (RUN_VARIABLE.encode() in variables and is_subreaper())
        ):
            with contextlib.suppress(*UNREACHABLE):
                os.kill(pid, signal.SIGKILL)
