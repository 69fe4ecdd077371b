"""Runs the hooks of one event on Linux and macOS: started together, polled together in the calling thread."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tray.execution.background import BackgroundProcesses
from tray.execution.hook_process import HookProcess, fail_unwatched, spawn
from tray.execution.process import Hangup, Job, cancelled, expired
from tray.model.decision import Result
from tray.threads import CheckedThread

if sys.platform != "win32":
    from tray.execution.poll import READABLE, Poll, PollPipes
    from tray.execution.process_table import boot_ticks
    from tray.execution.process_tree import PosixTree

assert sys.platform != "win32"


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
    """Where there is no pidfd: a short thread that waits for the process, then closes its end of a pipe."""

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
            self._poll.wait(min(process.due for process in self._live))
            now = time.monotonic()
            for process in list(self._live):
                process.step(now)
                if process.result is not None:
                    self._drop(process)
        return tuple(self._result(slot) for slot in self._slots)

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
