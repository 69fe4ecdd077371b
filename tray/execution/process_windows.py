"""Runs the hooks of one event where pipes cannot be polled: threads move the streams, and report to the caller.

Made for Windows, and run under wine, not there. Only the process tree is Windows' own: the tests run it on Linux too.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

from tray.execution import script
from tray.execution.background import BackgroundProcesses
from tray.execution.hook_process import HookProcess, fail_unwatched, spawn
from tray.execution.process import Hangup, Job, ProcessTree, cancelled, expired, not_run
from tray.execution.streams import ThreadPipes
from tray.model.decision import Result
from tray.threads import start_thread

if sys.platform == "win32":
    import psutil

    from tray.execution.job_object import SUSPENDED, JobObject, kernel

    FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW | SUSPENDED

    class WindowsTree:
        """A process that was started suspended: put into a job of its own, then set going.

        Where Windows refuses the job, its descendants are found by the parents' numbers, which outlive the parents.
        """

        def __init__(self, pid: int, mark: str) -> None:
            self.pid = pid
            self.has_orphans = False  # Windows gives them to no other process
            self._job = JobObject(kernel())
            self._process: psutil.Process | None = None
            with contextlib.suppress(psutil.Error):
                self._process = psutil.Process(pid)
            try:
                self._in_job = self._job.assign(pid)
            finally:
                with contextlib.suppress(psutil.Error):
                    if self._process:
                        self._process.resume()

        def terminate(self) -> None:
            self.kill()  # a process without a console cannot be asked

        def kill(self) -> None:
            if self._in_job:
                self._job.end()
            children = self._children()
            for process in [self._process, *children] if self._process else children:
                with contextlib.suppress(psutil.Error):
                    process.kill()

        def sweep(self) -> None:
            self.kill()

        def has_survivors(self) -> bool:
            if not self._in_job:
                return any(child.is_running() for child in self._children())
            if self._job.active():
                return True
            self._job.close()
            return False

        def is_alive(self) -> bool:
            return self.has_survivors()

        def _children(self) -> list[psutil.Process]:
            try:
                return self._process.children(recursive=True) if self._process else []
            except psutil.Error:
                return []

    def tree(pid: int, mark: str) -> ProcessTree:
        return WindowsTree(pid, mark)
else:
    from tray.execution.process_posix import PosixTree

    FLAGS = 0

    def tree(pid: int, mark: str) -> ProcessTree:
        return PosixTree(pid, mark)


MAX_WAIT = 3600.0


class HangupWatch:
    """A thread that waits for the agent to hang up; `close` ends the wait."""

    def __init__(self, hangup: Hangup, run: ThreadedRun) -> None:
        self._hangup, self._run = hangup, run
        self._stop, self._stopped = socket.socketpair()
        self._thread = threading.Thread(target=self._wait, name="hook-hangup", daemon=True)
        start_thread(self._thread)

    def close(self) -> None:
        self._stop.close()
        self._thread.join()
        self._stopped.close()

    def _wait(self) -> None:
        try:
            ready, _, _ = select.select([self._hangup.fileno(), self._stopped.fileno()], [], [])
        except (OSError, ValueError):
            return  # not a socket, or closed: nothing to wait for
        if self._stopped.fileno() not in ready:
            self._run.post(self._run.cancel)


class ThreadedRun:
    """The hooks of one event: their slots in the answer, and the queue of calls that their threads fill."""

    def __init__(self, deadline: float, background: BackgroundProcesses | None) -> None:
        self._deadline, self._background = deadline, background
        self._calls: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._live: dict[HookProcess, threading.Thread] = {}
        self._slots: list[HookProcess | Result] = []

    def post(self, work: Callable[[], object]) -> None:
        """Have the caller's thread call `work`."""
        self._calls.put(work)

    def start(self, job: Job) -> None:
        mark = os.urandom(8).hex()
        try:
            pipes = ThreadPipes(self)
        except OSError as error:
            self._slots.append(Result(cause=script.start_error(job.argv, job.cwd, error)))
            return
        try:
            child = spawn(job, mark, FLAGS, pipes.stdout.end, pipes.stderr.end)
        except BaseException:  # the job's turn has failed
            pipes.close()
            raise
        if isinstance(child, Result):
            pipes.close()
            self._slots.append(child)
            return
        try:
            self._watch(job, child, pipes, mark)
        except (OSError, RuntimeError) as error:  # no handle or no thread left
            self._slots.append(fail_unwatched(job, child, error))
            pipes.take()

    def _watch(self, job: Job, child: subprocess.Popen[bytes], pipes: ThreadPipes, mark: str) -> None:
        assert child.stdin is not None
        process = HookProcess(job, child, pipes, tree(child.pid, mark), self._deadline, self._background)
        pipes.start(child.stdin, job.stdin, process)
        waiter = threading.Thread(target=self._wait, args=(child, process), name="hook-waiter", daemon=True)
        start_thread(waiter)
        self._live[process] = waiter
        self._slots.append(process)

    def finish(self, hangup: Hangup | None = None) -> tuple[Result, ...]:
        """Make the calls of the threads and meet every deadline until all processes are over."""
        watch = None if hangup is None else HangupWatch(hangup, self)
        try:
            while self._live:
                self._step()
        finally:
            if watch is not None:
                watch.close()
        return tuple(self._result(slot) for slot in self._slots)

    def cancel(self) -> None:
        for process in self._live:
            process.cancel()

    def _step(self) -> None:
        until = min(process.due for process in self._live)
        with contextlib.suppress(queue.Empty):
            self._calls.get(timeout=min(max(until - time.monotonic(), 0.0), MAX_WAIT))()
        now = time.monotonic()
        for process in list(self._live):
            if process.result is None and process.due <= now:
                process.step(now)
            if process.result is not None:
                waiter = self._live.pop(process)
                if not process.abandoned:
                    waiter.join()

    def _wait(self, child: subprocess.Popen[bytes], process: HookProcess) -> None:
        child.wait()
        self.post(process.exited)

    @staticmethod
    def _result(slot: HookProcess | Result) -> Result:
        result = slot.result if isinstance(slot, HookProcess) else slot
        assert result is not None
        return result


def has_hung_up(hangup: Hangup | None) -> bool:
    """Whether the agent has already stopped waiting."""
    if hangup is None:
        return False
    try:
        return bool(select.select([hangup.fileno()], [], [], 0)[0])
    except (OSError, ValueError):
        return hangup.fileno() < 0


def run(
    jobs: Sequence[Job],
    deadline: float,
    hangup: Hangup | None,
    *,
    background: BackgroundProcesses | None = None,
) -> tuple[Result, ...]:
    """Run all `jobs` at once; one Result for each, in their order, by `deadline` (time.monotonic())."""
    threaded = ThreadedRun(deadline, background)
    try:
        if has_hung_up(hangup):
            return tuple(cancelled() for _ in jobs)
        if time.monotonic() >= deadline:
            return tuple(expired() for _ in jobs)
        for job in jobs:
            threaded.start(job)
        return threaded.finish(hangup)
    except BaseException as error:
        threaded.cancel()
        threaded.finish()
        if isinstance(error, (OSError, RuntimeError)):  # no handle or no thread left
            return not_run(jobs, error)
        raise
