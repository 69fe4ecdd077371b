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
from collections.abc import Callable

from tray.execution import script
from tray.execution.background import BackgroundProcesses
from tray.execution.hook_process import EventRun, HookProcess, fail_unwatched, spawn
from tray.execution.process import Hangup, Job, ProcessTree
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


class ThreadedRun(EventRun):
    """Threads move the streams and wait for processes. They queue calls, which the calling thread makes."""

    def __init__(self, deadline: float, background: BackgroundProcesses | None) -> None:
        super().__init__(deadline, background)
        self._calls: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._waiters: dict[HookProcess, threading.Thread] = {}
        self._hangup: Hangup | None = None

    def post(self, work: Callable[[], object]) -> None:
        """Have the caller's thread call `work`."""
        self._calls.put(work)

    def has_hung_up(self, hangup: Hangup) -> bool:
        self._hangup = hangup
        try:
            return bool(select.select([hangup.fileno()], [], [], 0)[0])
        except (OSError, ValueError):
            return hangup.fileno() < 0

    def start(self, job: Job) -> HookProcess | Result:
        mark = os.urandom(8).hex()
        try:
            pipes = ThreadPipes(self)
        except OSError as error:
            return Result(cause=script.start_error(job.argv, job.cwd, error))
        try:
            child = spawn(job, mark, FLAGS, pipes.stdout.end, pipes.stderr.end)
        except BaseException:  # the job's turn has failed
            pipes.close()
            raise
        if isinstance(child, Result):
            pipes.close()
            return child
        try:
            return self._watch(job, child, pipes, mark)
        except (OSError, RuntimeError) as error:  # no handle or no thread left
            failed = fail_unwatched(job, child, error)
            pipes.take()
            return failed

    def _watch(self, job: Job, child: subprocess.Popen[bytes], pipes: ThreadPipes, mark: str) -> HookProcess:
        assert child.stdin is not None
        process = HookProcess(job, child, pipes, tree(child.pid, mark), self.deadline, self.background)
        pipes.start(child.stdin, job.stdin, process.overflow)
        waiter = threading.Thread(target=self._wait_for, args=(child, process), name="hook-waiter", daemon=True)
        start_thread(waiter)
        self._waiters[process] = waiter
        return process

    def finish(self) -> tuple[Result, ...]:
        hangup, self._hangup = self._hangup, None
        watch = None if hangup is None else HangupWatch(hangup, self)
        try:
            return super().finish()
        finally:
            if watch is not None:
                watch.close()

    def cancel(self) -> None:
        self._hangup = None  # `finish` need not watch what would only cancel everything
        super().cancel()

    def wait(self, seconds: float) -> None:
        with contextlib.suppress(queue.Empty):
            self._calls.get(timeout=seconds)()

    def release(self, ended: HookProcess) -> None:
        waiter = self._waiters.pop(ended)
        if not ended.abandoned:
            waiter.join()

    def _wait_for(self, child: subprocess.Popen[bytes], process: HookProcess) -> None:
        child.wait()
        self.post(process.exited)


run = ThreadedRun.run
