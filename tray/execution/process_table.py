"""The system's processes: each one's entry, command line and environment, and all of them at one moment.

Hooks of a burst time out together: with a snapshot for each, the time would grow with the square of their number.
So threads that ask at the same time share one.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

import msgspec

from tray.execution.process import RUN_VARIABLE
from tray.files import FLAGS, content

if sys.platform != "linux":
    import psutil

PROC = "/proc"
COMM = 15  # bytes of a program's name that the kernel keeps
LINE = 4096  # bytes; `stat` has at most some 1,200, and the kernel returns them at once
DEAD = (b"Z", b"X")
MARKS = re.compile(RUN_VARIABLE.encode() + rb"=([^\0]+)")
LOOKS = 20  # at a process that is exchanging its program
LOOK_INTERVAL = 0.0005  # seconds between two of them
ENDING_OR_KERNEL = 0x4 | 0x200000  # PF_EXITING, PF_KTHREAD: these have no environment any more, or never
FLAGS_FIELD, END_OF_ENVIRONMENT = 6, 48  # in `stat`


class ProcessEntry(msgspec.Struct, frozen=True):
    """One line of the system's process table. A number may come back as another process's, with another start."""

    parent: int
    group: int
    session: int
    start: float  # in the system's own unit
    is_dead: bool = False  # and not waited for


if sys.platform == "linux":

    def read_entry(pid: int) -> ProcessEntry | None:
        """This process; None when it has gone."""
        try:
            opened = os.open(f"{PROC}/{pid}/stat", FLAGS)
            try:
                line = os.read(opened, LINE)
            finally:
                os.close(opened)
            # The name in brackets before the fields may hold blanks and brackets itself.
            fields = line.rpartition(b")")[2].split(None, 20)
            parent, group, session = map(int, fields[1:4])
            return ProcessEntry(parent, group, session, float(fields[19]), fields[0] in DEAD)
        except (OSError, ValueError, IndexError):
            return None

else:

    def read_entry(pid: int) -> ProcessEntry | None:
        """This process; None when it has gone, or we may not see it."""
        try:
            process = psutil.Process(pid)
            if sys.platform == "win32":  # has no groups, no sessions and no zombies
                return ProcessEntry(process.ppid(), 0, 0, process.create_time())
            is_dead = process.status() == psutil.STATUS_ZOMBIE
            return ProcessEntry(process.ppid(), os.getpgid(pid), os.getsid(pid), process.create_time(), is_dead)
        except (psutil.Error, OSError):
            return None


if sys.platform == "linux":  # psutil would take 4 MB and some 10 ms at an agent's first event

    def command_line(pid: int) -> tuple[str, ...]:
        """How it was started; empty when it has gone, and for a process of the kernel."""
        try:
            line = content(f"{PROC}/{pid}/cmdline")
        except (OSError, ValueError):
            return ()
        return tuple(map(os.fsdecode, line.removesuffix(b"\0").split(b"\0"))) if line else ()

    def program_name(pid: int) -> str:
        """The name of its program; "" when it has gone. The kernel keeps 15 bytes, the command line has the rest."""
        try:
            name = os.fsdecode(content(f"{PROC}/{pid}/comm").removesuffix(b"\n"))
        except (OSError, ValueError):
            return ""
        if len(os.fsencode(name)) < COMM:
            return name
        longer = os.path.basename((*command_line(pid), "")[0])  # noqa: PTH119
        return longer if longer.startswith(name) else name

    def program_path(pid: int) -> str:
        """Returns the file of its program, even if it was replaced since; "" if the system hides it."""
        try:
            return os.readlink(f"{PROC}/{pid}/exe").removesuffix(" (deleted)")  # noqa: PTH115
        except OSError:
            return ""

else:

    def command_line(pid: int) -> tuple[str, ...]:
        """How it was started; empty when it has gone."""
        try:
            return tuple(psutil.Process(pid).cmdline())
        except (psutil.Error, ValueError):
            return ()

    def program_name(pid: int) -> str:
        """The name of its program; "" when it has gone."""
        try:
            return psutil.Process(pid).name()
        except (psutil.Error, ValueError):
            return ""

    def program_path(pid: int) -> str:
        """Returns the file of its program; "" if the system hides it."""
        try:
            return psutil.Process(pid).exe()
        except (psutil.Error, OSError, ValueError):  # wine shows the program of no other process
            return ""


def environment(pid: int) -> bytes:
    """What it was started with; empty for one that is not ours, or has gone (Linux)."""
    try:
        for _ in range(LOOKS):
            found = content(f"{PROC}/{pid}/environ")
            if found or not _is_in_exec(pid):
                return found
            time.sleep(LOOK_INTERVAL)
    except (OSError, ValueError, IndexError):
        pass
    return b""


def _is_in_exec(pid: int) -> bool:
    """Whether it is between two programs: the old one's environment has gone, and the new one's is not there yet."""
    fields = content(f"{PROC}/{pid}/stat").rpartition(b")")[2].split()
    return not int(fields[FLAGS_FIELD]) & ENDING_OR_KERNEL and fields[END_OF_ENVIRONMENT] == b"0"


def boot_ticks() -> float:
    """Now, in the unit of an entry's start on Linux; 0 elsewhere."""
    if sys.platform != "linux":
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")


def start_time(entry: ProcessEntry) -> float:
    """When it was started, in seconds since the epoch."""
    if sys.platform != "linux":
        return entry.start
    return time.time() - (boot_ticks() - entry.start) / os.sysconf("SC_CLK_TCK")


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


def _read_entries() -> dict[int, ProcessEntry]:
    """All that live."""
    if sys.platform == "linux":
        pids = [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - on the way to an answer
    else:  # macOS; not run where this was written. Without /proc the mark is not checked.
        pids = psutil.pids()
    found = ((pid, read_entry(pid)) for pid in pids)
    return {pid: one for pid, one in found if one is not None and not one.is_dead}
