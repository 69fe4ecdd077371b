"""Runs the hooks of one event on Linux and macOS: started together, polled together in the calling thread."""

from __future__ import annotations

import contextlib
import math
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import IO, Protocol

from tray.execution.background import BackgroundProcesses
from tray.execution.hook_process import HookProcess, fail_unwatched, spawn
from tray.execution.process import CHUNK, STDERR_LIMIT, STDOUT_LIMIT, Hangup, Job, cancelled, expired
from tray.execution.procfs import boot_ticks
from tray.model.decision import Result
from tray.threads import CheckedThread

if sys.platform != "win32":
    from tray.execution.process_tree import PosixTree

assert sys.platform != "win32"

MAX_WAIT = 3600.0  # seconds in one poll
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR


class Poll:
    """select.poll with one action for each descriptor."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._actions: dict[int, Callable[[], None]] = {}

    def add(self, fd: int, mask: int, action: Callable[[], None]) -> None:
        self._actions[fd] = action
        self._poll.register(fd, mask)

    def drop(self, fd: int) -> None:
        if self._actions.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def wait(self, until: float) -> None:
        """Wait until the moment `until` (time.monotonic()) at most, and act on what came."""
        seconds = min(max(until - time.monotonic(), 0.0), MAX_WAIT)
        for fd, _ in self._poll.poll(math.ceil(seconds * 1000)):
            action = self._actions.get(fd)  # an earlier action of this round may have dropped it
            if action is not None:
                action()


class PollPipes:
    """The streams of one process, moved as far as they go without waiting."""

    complete = True  # whoever polls has read all that was there

    def __init__(self, child: subprocess.Popen[bytes], stdin: bytes, poll: Poll) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._poll = poll
        self._rest = memoryview(stdin)
        self._out, self._err = bytearray(), bytearray()
        for file in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(file.fileno(), False)

    def start(self, on_overflow: Callable[[], None]) -> None:
        """Begin; `on_overflow` is called when stdout is too long."""
        self._on_overflow = on_overflow
        self._poll.add(self._stdout.fileno(), READABLE, self._read_stdout)
        self._poll.add(self._stderr.fileno(), READABLE, self._read_stderr)
        self._feed()
        if not self._stdin.closed:
            self._poll.add(self._stdin.fileno(), select.POLLOUT | select.POLLERR, self._feed)

    @property
    def overflowed(self) -> bool:
        return len(self._out) > STDOUT_LIMIT

    def take(self) -> tuple[bytes, bytes]:
        """What is in the pipes now, in one read each: a grandchild that holds them must not delay us."""
        if not self._stdout.closed:
            self._out += read(self._stdout, STDOUT_LIMIT + 1 - len(self._out)) or b""
        if not self._stderr.closed:
            self._err += read(self._stderr, STDERR_LIMIT - len(self._err)) or b""
        for file in (self._stdin, self._stdout, self._stderr):
            self._close(file)
        return bytes(self._out[:STDOUT_LIMIT]), bytes(self._err)

    def _feed(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._stdin.fileno(), self._rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # EPIPE: it does not read, and need not
        self._close(self._stdin)

    def _read_stdout(self) -> None:
        chunk = read(self._stdout, CHUNK)
        if chunk is None:
            return
        self._out += chunk
        if self.overflowed:
            self._close(self._stdout)
            self._on_overflow()
        elif not chunk:
            self._close(self._stdout)

    def _read_stderr(self) -> None:
        chunk = read(self._stderr, CHUNK)
        if chunk is None:
            return
        self._err += chunk[: STDERR_LIMIT - len(self._err)]
        if not chunk:
            self._close(self._stderr)

    def _close(self, file: IO[bytes]) -> None:
        if not file.closed:
            self._poll.drop(file.fileno())
            file.close()


def read(file: IO[bytes], size: int) -> bytes | None:
    """Up to `size` bytes; empty at the end, None when there is nothing yet."""
    try:
        return os.read(file.fileno(), size)
    except BlockingIOError:
        return None


class ExitWatch(Protocol):
    """Something that polls as readable once the process has gone."""

    def fileno(self) -> int: ...
    def close(self) -> None: ...


Watcher = Callable[[subprocess.Popen[bytes]], ExitWatch]


class Pidfd:
    """The kernel's own handle on a process; Linux only."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)


class ExitThread:
    """Without a pidfd: a short thread that waits for the process, then closes its end of a pipe."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._fd, self._end = os.pipe()
        self._thread = CheckedThread(target=self._wait, name="hook-waiter", daemon=True)
        self._thread.start()

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
    if sys.platform == "linux":
        # Not every Python is built with it, not every sandbox has it.
        with contextlib.suppress(AttributeError, OSError):
            return Pidfd(os.pidfd_open(child.pid))
    return ExitThread(child)


class PolledRun:
    """The hooks of one event: their slots in the answer, and the poll that they share."""

    def __init__(self, deadline: float, background: BackgroundProcesses | None, watcher: Watcher) -> None:
        self._deadline, self._background, self._watcher = deadline, background, watcher
        self._poll = Poll()
        self._live: dict[HookProcess, ExitWatch] = {}
        self._slots: list[HookProcess | Result] = []

    def start(self, job: Job, spawned: Callable[[int], None] | None) -> None:
        mark = os.urandom(8).hex()
        born = boot_ticks() - 1
        child = spawn(job, mark)
        if isinstance(child, Result):
            self._slots.append(child)
            return
        pipes = PollPipes(child, job.stdin, self._poll)
        process = HookProcess(job, child, pipes, PosixTree(child.pid, mark, born), self._deadline, self._background)
        try:
            exit_ = self._watcher(child)
        except (OSError, RuntimeError) as error:  # no descriptor or no thread left
            self._slots.append(fail_unwatched(job, child, pipes, error))
            return
        self._live[process] = exit_
        self._slots.append(process)
        self._poll.add(exit_.fileno(), READABLE, process.exited)
        pipes.start(process.overflow)
        if spawned is not None:
            spawned(child.pid)

    def finish(self, hangup: Hangup | None = None) -> tuple[Result, ...]:
        """Move every stream and meet every deadline until all processes are over."""
        if hangup is not None:
            self._watch_hangup(hangup.fileno())
        while self._live:
            self._poll.wait(min(map(attrgetter("due"), self._live)))
            now = time.monotonic()
            for process in list(self._live):
                process.step(now)
                if process.result is not None:
                    self._drop(process)
        return tuple(map(self._result, self._slots))

    def cancel(self) -> None:
        for process in self._live:
            process.cancel()

    def _watch_hangup(self, fd: int) -> None:
        def on_hangup() -> None:
            self._poll.drop(fd)
            self.cancel()

        if fd < 0:
            self.cancel()
        else:
            self._poll.add(fd, READABLE, on_hangup)

    def _drop(self, process: HookProcess) -> None:
        exit_ = self._live.pop(process)
        self._poll.drop(exit_.fileno())
        exit_.close()

    @staticmethod
    def _result(slot: HookProcess | Result) -> Result:
        result = slot.result if isinstance(slot, HookProcess) else slot
        assert result is not None
        return result


def has_hung_up(hangup: Hangup | None) -> bool:
    """Whether the agent has already stopped waiting."""
    if hangup is None:
        return False
    poll = select.poll()
    fd = hangup.fileno()
    if fd < 0:
        return True
    poll.register(fd, READABLE)
    return bool(poll.poll(0))


def run(
    jobs: Sequence[Job],
    deadline: float,
    hangup: Hangup | None,
    spawned: Callable[[int], None] | None = None,
    *,
    background: BackgroundProcesses | None = None,
    watcher: Watcher = watch_exit,
) -> tuple[Result, ...]:
    """Run all `jobs` at once; one Result for each, in their order, by `deadline` (time.monotonic())."""
    if has_hung_up(hangup):
        return tuple(cancelled() for _ in jobs)
    if time.monotonic() >= deadline:
        return tuple(expired() for _ in jobs)
    polled = PolledRun(deadline, background, watcher)
    try:
        for job in jobs:
            polled.start(job, spawned)
        return polled.finish(hangup)
    except BaseException:
        polled.cancel()
        polled.finish()
        raise
