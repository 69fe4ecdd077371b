"""Runs the hooks of one event on Linux and macOS: the calling thread starts and polls all of them together.

A hook ends with its whole tree, which is found by group, session, parents and mark: a group misses a child that
called setsid(), and a walk over parents misses a child whose parent has died.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import select
import signal
import subprocess
import sys
import threading
from typing import IO, Protocol

from tray.execution.background import BackgroundProcesses, is_stray, orphans
from tray.execution.hook_process import EventRun, HookProcess, fail_unwatched, spawn
from tray.execution.process import CHUNK, RUN_VARIABLE, STDERR_LIMIT, STDOUT_LIMIT, Hangup, Job
from tray.execution.process_table import SNAPSHOTS, boot_ticks, environment, read_entry
from tray.model.decision import Result
from tray.threads import start_thread

assert sys.platform != "win32"

READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
SWEEPS = 10  # rounds over a tree that forks while it is being killed
UNREACHABLE = (ProcessLookupError, PermissionError)


class ExitWatch(Protocol):
    """Something that polls as readable once the process has gone."""

    def fileno(self) -> int: ...
    def close(self) -> None: ...


class PollOwner(Protocol):
    """Owns descriptors that are in a poll."""

    def ready(self, fd: int) -> None:
        """Handle the descriptor that the poll has reported."""
        ...


class PolledHook:
    """One hook's process: its pipes, read and written without waiting, and the watch of its end.

    All of them are in the poll, and in `owners`, which has the owner of each descriptor.
    """

    complete = True  # whoever polls has read all that was there

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        stdin: bytes,
        watch: ExitWatch,
        poll: select.poll,
        owners: dict[int, PollOwner],
    ) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self.process: HookProcess
        self._watch, self._poll, self._owners = watch, poll, owners
        self._stdin, self._rest = child.stdin, memoryview(stdin)
        self._stdout, self._stderr = bytearray(), bytearray()
        self._outputs = (
            (child.stdout, self._stdout, STDOUT_LIMIT + 1),  # one byte more than is accepted
            (child.stderr, self._stderr, STDERR_LIMIT),
        )
        self.overflowed = False
        for file in (child.stdout, child.stderr, child.stdin):
            os.set_blocking(file.fileno(), False)
            owners[file.fileno()] = self
            poll.register(file.fileno(), select.POLLOUT | select.POLLERR if file is child.stdin else READABLE)
        owners[watch.fileno()] = self
        poll.register(watch.fileno(), READABLE)
        self._feed()

    def ready(self, fd: int) -> None:
        if fd == self._watch.fileno():
            self.process.exited()
            return
        for file, kept, limit in self._outputs:
            if not file.closed and fd == file.fileno():
                self._read(file, kept, limit)
                return
        self._feed()

    def take(self) -> tuple[bytes, bytes]:
        """What is in the pipes now, in one read each: a grandchild that holds them must not delay us."""
        for file, kept, limit in self._outputs:
            if not file.closed:
                with contextlib.suppress(BlockingIOError):
                    kept.extend(os.read(file.fileno(), limit - len(kept)))
                self._close(file)
        self._close(self._stdin)
        self.overflowed = len(self._stdout) > STDOUT_LIMIT
        return bytes(self._stdout[:STDOUT_LIMIT]), bytes(self._stderr)

    def _feed(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._stdin.fileno(), self._rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # EPIPE: it does not read, and need not
        self._close(self._stdin)

    def _read(self, file: IO[bytes], kept: bytearray, limit: int) -> None:
        try:
            chunk = os.read(file.fileno(), CHUNK)
        except BlockingIOError:
            return
        kept += chunk[: limit - len(kept)]
        if not chunk:
            self._close(file)
        elif len(self._stdout) > STDOUT_LIMIT and kept is self._stdout:
            self._close(file)
            self.process.overflow()

    def _close(self, file: IO[bytes]) -> None:
        if not file.closed:
            del self._owners[file.fileno()]
            self._poll.unregister(file.fileno())
            file.close()


class ExitThread:
    """Without a pidfd: a short thread that waits for the process, then closes its end of a pipe."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._fd, self._end = os.pipe()
        self._thread = threading.Thread(target=self._wait, name="hook-waiter", daemon=True)
        start_thread(self._thread)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if self._child.returncode is not None:
            self._thread.join()
        os.close(self._fd)

    def _wait(self) -> None:
        self._child.wait()
        os.close(self._end)


def watch_exit(child: subprocess.Popen[bytes]) -> ExitWatch:
    """The kernel's own handle on the process, where there is one."""
    if sys.platform == "linux":
        # Not every Python is built with it, not every sandbox has it.
        with contextlib.suppress(AttributeError, OSError):
            return io.FileIO(os.pidfd_open(child.pid))
    return ExitThread(child)


class PosixTree:
    """The tree below a process that leads a session of its own and carries `mark` in its environment."""

    def __init__(self, pid: int, mark: str, born: float | None = None) -> None:
        self.pid = pid
        self.has_orphans = False
        self._mark = mark
        self._known: dict[int, float] = {}
        self._born = boot_ticks() - 100 if born is None else born

    def terminate(self) -> None:
        """Ask the group to end, and remember what belongs to the tree while its parents still live."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def sweep(self) -> None:
        """Kill what is left. Each round may find new forks."""
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
        with contextlib.suppress(*UNREACHABLE):
            os.killpg(self.pid, 0)  # fails as a rule: no process of its group is left
            if self._has_lost_leader():
                return True
        if sys.platform == "linux":
            try:
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:  # we have no children, so none that we adopted
                self.has_orphans = False
                return False
        return self._has_escaped()

    def is_alive(self) -> bool:
        """Whether any process of it still runs; one that is dead and not yet waited for does not."""
        return bool(self._members())

    def _has_lost_leader(self) -> bool:
        """Whether the leader has gone; then the group is ours, as the system reuses only an empty group's number."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False

    def _has_escaped(self) -> bool:
        """Whether an orphan is of this tree. One that ends meanwhile leaves its children at the end of the list."""
        seen: set[int] = set()
        while new := set(self._orphans()) - seen:
            if any(map(self._escaped, new)):
                return True
            seen.update(new)
        return False

    def _orphans(self) -> tuple[int, ...]:
        found = orphans()
        self.has_orphans = bool(found)
        return found

    def _signal(self, number: signal.Signals) -> None:
        self._known.update(self._members(marked=False))  # the quick look; sweep looks closer
        with contextlib.suppress(*UNREACHABLE):
            os.killpg(self.pid, number)

    def _members(self, *, marked: bool = True) -> dict[int, float]:
        table = SNAPSHOTS.now()
        inside = table.group(self.pid)
        for pid, start in self._known.items():
            entry = table.entries.get(pid)
            if entry is not None and entry.start == start:
                inside.add(pid)
        if marked:
            inside |= table.marked(self._mark)
            others = table.entries.keys() - inside
            inside |= {pid for pid in self._orphans() if pid in others and self._escaped(pid)}
        return {pid: table.entries[pid].start for pid in table.descendants(inside)}

    def _escaped(self, pid: int) -> bool:
        """Whether this orphan is this hook's: by its mark, or by its start time when it removed all marks."""
        variables = environment(pid)
        if f"{RUN_VARIABLE}={self._mark}".encode() in variables:
            return True
        entry = read_entry(pid)
        return entry is not None and not entry.is_dead and entry.start >= self._born and is_stray(entry, variables)


class PolledRun(EventRun):
    """The calling thread starts the hooks and polls all of them."""

    def __init__(self, deadline: float, background: BackgroundProcesses | None) -> None:
        super().__init__(deadline, background)
        self._poll = select.poll()
        self._owners: dict[int, PollOwner] = {}
        self._watches: dict[HookProcess, ExitWatch] = {}

    def has_hung_up(self, hangup: Hangup) -> bool:
        fd = hangup.fileno()
        if fd < 0:
            return True
        self._owners[fd] = self
        self._poll.register(fd, READABLE)
        return bool(self._poll.poll(0))

    def ready(self, fd: int) -> None:
        """The agent has hung up: cancel everything."""
        del self._owners[fd]
        self._poll.unregister(fd)
        self.cancel()

    def start(self, job: Job) -> HookProcess | Result:
        mark = os.urandom(8).hex()
        born = boot_ticks() - 1
        child = spawn(job, mark)
        if isinstance(child, Result):
            return child
        try:
            watch = watch_exit(child)
        except (OSError, RuntimeError) as error:  # no descriptor or no thread left
            return fail_unwatched(job, child, error)
        hook = PolledHook(child, job.stdin, watch, self._poll, self._owners)
        tree = PosixTree(child.pid, mark, born)
        hook.process = HookProcess(job, child, hook, tree, self.deadline, self.background)
        self._watches[hook.process] = watch
        return hook.process

    def wait(self, seconds: float) -> None:
        for fd, _ in self._poll.poll(math.ceil(seconds * 1000)):
            owner = self._owners.get(fd)  # an earlier one of this round may have closed it
            if owner is not None:
                owner.ready(fd)

    def release(self, ended: HookProcess) -> None:
        watch = self._watches.pop(ended)  # for its end; `take` has closed the pipes
        del self._owners[watch.fileno()]
        self._poll.unregister(watch.fileno())
        watch.close()


run = PolledRun.run
