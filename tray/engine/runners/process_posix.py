"""Runs the hooks of one event on Linux and macOS: started together, polled together in the calling thread."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tray.engine.runners.background import Background
from tray.engine.runners.process import Gone, Job, cancelled, late
from tray.engine.runners.turn import Turn, spawn, unwatched
from tray.model.decision import Result

if sys.platform != "win32":
    from tray.engine.runners.poll import READABLE, Poll, PollPipes
    from tray.engine.runners.table import ticks
    from tray.engine.runners.tree import PosixTree

assert sys.platform != "win32"


class Watch(Protocol):
    """Something that polls as readable once the process has gone."""

    def fileno(self) -> int: ...
    def close(self) -> None: ...


Watcher = Callable[[subprocess.Popen[bytes]], Watch]


class Pidfd:
    """The kernel's own handle on a process; Linux only."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)


class Waiter:
    """Where there is no pidfd: a short thread that waits for the process, then closes its end of a pipe."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._fd, self._end = os.pipe()
        self._thread = threading.Thread(target=self._wait, name="hook-waiter", daemon=True)
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


def watch(child: subprocess.Popen[bytes]) -> Watch:
    if sys.platform == "linux":
        with contextlib.suppress(
            AttributeError, OSError
        ):  # not every Python is built with it, not every sandbox has it
            return Pidfd(os.pidfd_open(child.pid))
    return Waiter(child)


class Round:
    """The hooks of one event: their places in the answer, and the poll that they share."""

    def __init__(self, deadline: float, background: Background | None, watcher: Watcher) -> None:
        self._deadline, self._background, self._watcher = deadline, background, watcher
        self._poll = Poll()
        self._live: dict[Turn, Watch] = {}
        self._places: list[Turn | Result] = []

    def start(self, job: Job, spawned: Callable[[int], None] | None) -> None:
        mark = secrets.token_hex(8)
        born = ticks() - 1
        child = spawn(job, mark)
        if isinstance(child, Result):
            self._places.append(child)
            return
        pipes = PollPipes(child, job.stdin, self._poll)
        turn = Turn(job, child, pipes, PosixTree(child.pid, mark, born), self._deadline, self._background)
        try:
            exit_ = self._watcher(child)
        except (OSError, RuntimeError) as error:  # no descriptor or no thread left
            self._places.append(unwatched(child, pipes, error))
            return
        self._live[turn] = exit_
        self._places.append(turn)
        self._poll.add(exit_.fileno(), READABLE, turn.exited)
        pipes.watch(turn.overflow)
        if spawned is not None:
            spawned(child.pid)

    def finish(self, gone: Gone | None = None) -> tuple[Result, ...]:
        """Move every stream and meet every deadline until all turns are over."""
        if gone is not None:
            self._listen(gone.fileno())
        while self._live:
            self._poll.wait(min(turn.due for turn in self._live))
            now = time.monotonic()
            for turn in list(self._live):
                turn.step(now)
                if turn.result is not None:
                    self._drop(turn)
        return tuple(self._result(place) for place in self._places)

    def cancel(self) -> None:
        for turn in self._live:
            turn.cancel()

    def _listen(self, fd: int) -> None:
        def heard() -> None:
            self._poll.drop(fd)
            self.cancel()

        if fd < 0:
            self.cancel()
        else:
            self._poll.add(fd, READABLE, heard)

    def _drop(self, turn: Turn) -> None:
        exit_ = self._live.pop(turn)
        self._poll.drop(exit_.fileno())
        exit_.close()

    @staticmethod
    def _result(place: Turn | Result) -> Result:
        result = place.result if isinstance(place, Turn) else place
        assert result is not None
        return result


def given_up(gone: Gone | None) -> bool:
    """Whether the agent has already stopped waiting."""
    if gone is None:
        return False
    poll = select.poll()
    fd = gone.fileno()
    if fd < 0:
        return True
    poll.register(fd, READABLE)
    return bool(poll.poll(0))


def run(
    jobs: Sequence[Job],
    deadline: float,
    gone: Gone | None,
    spawned: Callable[[int], None] | None = None,
    *,
    background: Background | None = None,
    watcher: Watcher = watch,
) -> tuple[Result, ...]:
    """Run all `jobs` at once; one Result for each, in their order, by `deadline` (time.monotonic())."""
    if given_up(gone):
        return tuple(cancelled() for _ in jobs)
    if time.monotonic() >= deadline:
        return tuple(late() for _ in jobs)
    event = Round(deadline, background, watcher)
    try:
        for job in jobs:
            event.start(job, spawned)
        return event.finish(gone)
    except BaseException:
        event.cancel()
        event.finish()
        raise
