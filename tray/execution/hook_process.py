"""One job's process from its spawn to its Result: time-outs, endings, and what is left behind."""

from __future__ import annotations

import contextlib
import enum
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from operator import attrgetter
from typing import IO

from tray.execution import process, script
from tray.execution.background import BackgroundProcesses
from tray.execution.process import Hangup, Job, Pipes, ProcessTree
from tray.model.decision import Result
from tray.threads import start_thread

Output = int | IO[bytes]

if sys.platform == "linux":  # the only system where the limit of a process that runs already can be set back
    from resource import RLIMIT_NOFILE, getrlimit, prlimit, setrlimit

    ORIGINAL_LIMIT = getrlimit(RLIMIT_NOFILE)  # before we ask for more

MAX_WAIT = 3600.0  # seconds of one wait
POLL_INTERVAL = 0.005  # seconds between two looks at processes that were killed
WANTED_LIMIT = 8192  # open files of ours: each event of a burst may need a dozen
TOO_MUCH = f"stdout over {process.STDOUT_LIMIT} bytes"


class Stage(enum.Enum):
    RUNNING = enum.auto()
    ENDING = enum.auto()  # asked to end
    KILLED = enum.auto()


class HookProcess:
    """Driven by its runner: `step` once it is `due`, `exited` when the process is gone, `cancel` and `overflow`.

    It is over when `result` is there.
    """

    def __init__(
        self,
        job: Job,
        child: subprocess.Popen[bytes],
        pipes: Pipes,
        tree: ProcessTree,
        deadline: float,
        background: BackgroundProcesses | None,
    ) -> None:
        self.result: Result | None = None
        self.abandoned = False  # over, but its process could not be waited for
        self._started = time.perf_counter()
        self._limit = time.monotonic() + job.timeout
        self._deadline = deadline
        self.due = min(self._limit, deadline)
        self._job, self._child, self._pipes, self._tree, self._background = job, child, pipes, tree, background
        self._stage = Stage.RUNNING
        self._cause = ""
        self._timed_out = False

    def step(self, now: float) -> None:
        """Do what is due."""
        if self._stage is Stage.RUNNING:
            self._time_out(now)
        elif self._stage is Stage.ENDING:
            self._kill(now)
        else:
            # Only a process in an uninterruptible wait gets here: it can do nothing more and cannot be waited for.
            self.abandoned = True
            self.exited()
            with contextlib.suppress(RuntimeError):  # no thread can start: nothing waits for the child
                start_thread(threading.Thread(target=self._child.wait, name="hook-reaper", daemon=True))

    def cancel(self) -> None:
        self.exited()  # what is over keeps its result, even when its end was not reported yet
        self._fail(process.CANCELLED)

    def overflow(self) -> None:
        self._fail(TOO_MUCH)

    def exited(self) -> None:
        """If the process has gone, or is abandoned: take its output, and clean up what it left behind."""
        code = self._child.poll()
        if self.result is not None or (code is None and not self.abandoned):
            return
        ms = (time.perf_counter() - self._started) * 1000
        stdout, stderr = self._pipes.take()
        cause, signal = self._cause, 0
        if not cause and self._pipes.overflowed:
            cause = TOO_MUCH
        elif not cause and not self._pipes.complete:
            cause = "its output could not be read to its end"
        elif not cause and code is not None and code < 0:
            cause, signal = process.killed_by(-code), -code
        has_left = self._clean_up(clean=not cause)
        if cause == process.CANCELLED and not self.abandoned:
            self._wait_for_tree()
        self._job.turn.exited(self._tree.pid, has_left=has_left)
        number = None if cause else code
        self.result = Result(
            code=number, stdout=stdout, stderr=stderr, cause=cause, timed_out=self._timed_out, ms=ms, signal=signal
        )
        if self._job.on_end is not None:
            self._job.on_end()

    def _time_out(self, now: float) -> None:
        self._timed_out = True
        if self._limit <= self._deadline:
            self._cause = f"timed out after {self._job.timeout:g} s"
        else:
            seconds = time.perf_counter() - self._started
            self._cause = f"timed out after {seconds:.2g} s: the agent waits no longer"
        if now >= self._deadline:
            self._kill(now)
            return
        self._tree.terminate()
        self._stage = Stage.ENDING
        self.due = min(now + process.GRACE, self._deadline)

    def _fail(self, cause: str) -> None:
        if self.result is None and not self._cause:
            self._cause = cause
            self._kill(time.monotonic())

    def _kill(self, now: float) -> None:
        self._tree.kill()
        self._stage = Stage.KILLED
        self.due = now + process.REAP

    def _clean_up(self, *, clean: bool) -> bool:
        """A clean hook may leave children for a while, if we can watch over them: True. Any other leaves none."""
        has_left = False
        if not clean or self._job.background <= 0:
            self._tree.sweep()
        elif self._tree.has_survivors():
            if self._background is None:
                self._tree.sweep()
            else:
                has_left = True
                self._background.add(self._tree, time.monotonic() + self._job.background)
        if self._tree.has_orphans and self._background is not None:
            self._background.reap()
        return has_left

    def _wait_for_tree(self) -> None:
        """A cancelled hook may be started again: no killed descendant may still run beside the second one."""
        until = time.monotonic() + process.REAP
        while self._tree.is_alive() and time.monotonic() < until:
            time.sleep(POLL_INTERVAL)


class EventRun(ABC):
    """Runs the hooks of one event: one wait for all, and their results in order."""

    def __init__(self, deadline: float, background: BackgroundProcesses | None) -> None:
        self.deadline, self.background = deadline, background
        self._live: list[HookProcess] = []
        self._slots: list[HookProcess | Result] = []

    @classmethod
    def run(
        cls,
        jobs: Sequence[Job],
        deadline: float,
        hangup: Hangup | None,
        *,
        background: BackgroundProcesses | None = None,
    ) -> tuple[Result, ...]:
        """Run all `jobs` at once; one Result for each, in their order, by `deadline` (time.monotonic())."""
        event_run = cls(deadline, background)
        try:
            if hangup is not None and event_run.has_hung_up(hangup):
                return (Result(cause=process.CANCELLED),) * len(jobs)
            if time.monotonic() >= deadline:
                return (Result(cause="timed out before it could start", timed_out=True),) * len(jobs)
            for job in jobs:
                started = event_run.start(job)
                event_run._slots.append(started)
                if isinstance(started, HookProcess):
                    event_run._live.append(started)
            return event_run.finish()
        except BaseException as error:
            event_run.cancel()
            event_run.finish()
            if isinstance(error, (OSError, RuntimeError)):  # no descriptor, handle or thread left
                return process.not_run(jobs, error)
            raise

    def finish(self) -> tuple[Result, ...]:
        """Move every stream and meet every deadline until all processes have ended."""
        while self._live:
            due = min(map(attrgetter("due"), self._live))
            self.wait(min(max(due - time.monotonic(), 0.0), MAX_WAIT))
            now = time.monotonic()
            for one in tuple(self._live):
                if one.result is None and one.due <= now:
                    one.step(now)
                if one.result is not None:
                    self._live.remove(one)
                    self.release(one)
        results = []
        for slot in self._slots:
            result = slot.result if isinstance(slot, HookProcess) else slot
            assert result is not None
            results.append(result)
        return tuple(results)

    def cancel(self) -> None:
        for one in self._live:
            one.cancel()

    @abstractmethod
    def has_hung_up(self, hangup: Hangup) -> bool:
        """Returns True if the agent has stopped waiting. If it stops later, the run cancels all hooks."""

    @abstractmethod
    def start(self, job: Job) -> HookProcess | Result:
        """Starts the process of the job. Returns a Result if that fails."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Waits for output or the end of a process, at most `seconds`, and processes it."""

    @abstractmethod
    def release(self, ended: HookProcess) -> None:
        """Frees what the run keeps for a process that has ended."""


def fail_unwatched(job: Job, child: subprocess.Popen[bytes], error: Exception) -> Result:
    """Its process was started, and its end cannot be watched: it is killed, and has failed."""
    child.kill()
    child.wait()
    job.turn.exited(child.pid, has_left=False)
    for file in (child.stdin, child.stdout, child.stderr):
        if file is not None:
            file.close()
    return Result(cause=f"could not be watched: {error}")


def spawn(
    job: Job, mark: str, flags: int = 0, stdout: Output = subprocess.PIPE, stderr: Output = subprocess.PIPE
) -> subprocess.Popen[bytes] | Result:
    """Start the job in a session of its own; a Result when there is nothing that could be started."""
    try:
        with job.turn.starting() as open_:
            if not open_:
                return Result(cause=process.CLOSED)
            if problem := script.missing_program(job.argv, job.cwd):
                return Result(cause=problem)
            child = subprocess.Popen(
                job.argv,
                bufsize=0,
                close_fds=True,
                creationflags=flags,
                cwd=job.cwd or None,
                env={**job.environment, process.RUN_VARIABLE: mark},
                start_new_session=True,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
            )
            job.turn.started(child.pid)
            if sys.platform == "linux" and getrlimit(RLIMIT_NOFILE) != ORIGINAL_LIMIT:
                with contextlib.suppress(OSError):  # it has ended already
                    prlimit(child.pid, RLIMIT_NOFILE, ORIGINAL_LIMIT)
            return child
    except (OSError, ValueError) as error:
        return Result(cause=script.start_error(job.argv, job.cwd, error))


def raise_limit() -> None:
    """Let the tray open more files than its hooks may; unchanged where hooks would get the same limit."""
    if sys.platform == "linux":
        soft, hard = ORIGINAL_LIMIT
        with contextlib.suppress(OSError, ValueError):  # then it stays as it is
            setrlimit(RLIMIT_NOFILE, (max(soft, min(hard, WANTED_LIMIT)), hard))
