"""Runs hooks that start no process: each request has a thread of its own, and a Deadline."""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from tray.errors import PACKAGE_ERRORS, HooktrayError
from tray.execution import command
from tray.execution.command import BackgroundProcesses, Hangup, Job
from tray.execution.process import CANCELLED, CLOSED, FREE_TURN, HookTurn, not_run
from tray.model.decision import Result
from tray.model.hook import DEFAULT_TIMEOUT
from tray.threads import start_thread

GRACE = 0.05  # seconds that a thread gets to notice its end, before it is abandoned

log = logging.getLogger(__name__)


class Deadline:
    """Ends once. A thread that waits for a tracked connection wakes up then, however slowly its peer sends."""

    def __init__(self, timeout: float, until: float = float("inf")) -> None:
        now = time.monotonic()
        self._started = now
        self._own_limit = now + timeout <= until
        self._timeout = timeout
        self.limit = min(now + timeout, until)
        self.cause = ""  # why it is over before its work was done; "" while it is not
        self.timed_out = False
        self._lock = threading.Lock()
        self._tracked: set[socket.socket] = set()
        self._timer = threading.Timer(min(max(self.limit - now, 0.0), threading.TIMEOUT_MAX), self._expire)
        self._timer.name, self._timer.daemon = "hook-deadline", True
        start_thread(self._timer)

    @property
    def left(self) -> float:
        """Seconds until the limit, never quite none: zero means "do not wait" to a socket."""
        return max(self.limit - time.monotonic(), 0.001)

    @property
    def ms(self) -> float:
        return (time.monotonic() - self._started) * 1000

    @contextlib.contextmanager
    def tracking(self) -> Iterator[None]:
        """Forget the connections that were tracked inside."""
        try:
            yield
        finally:
            with self._lock:
                tracked, self._tracked = self._tracked, set()
            for connection in tracked:
                connection.close()

    def track(self, connection: socket.socket) -> None:
        """Cut this connection when the time is over; by a handle of our own, as TLS wraps up the first one."""
        handle = connection.dup()
        with self._lock:
            self._tracked.add(handle)
            if self.cause:
                _cut(handle)

    def end(self, cause: str, *, timed_out: bool = False) -> None:
        """No more waiting. The first cause stays."""
        with self._lock:
            if self.cause:
                return
            self.cause, self.timed_out = cause, timed_out
            for connection in self._tracked:
                _cut(connection)

    def close(self) -> None:
        self._timer.cancel()
        self._timer.join()

    def _expire(self) -> None:
        limit = f"{self._timeout:g} s" if self._own_limit else f"{self.ms / 1000:.2g} s: the agent waits no longer"
        self.end(f"timed out after {limit}", timed_out=True)


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class RequestJob(msgspec.Struct, frozen=True, kw_only=True):
    """One request or question. `ask` blocks for at most its Deadline, and raises HooktrayError when it failed."""

    ask: Callable[[Deadline], Result]
    timeout: float = DEFAULT_TIMEOUT  # seconds
    on_end: Callable[[], None] | None = None  # called once, when it is over
    turn: HookTurn = FREE_TURN  # whose `starting` decides whether it may start


AnyJob = Job | RequestJob


class RunningRequest:
    """A request job that was started. When it is over, it sends a byte to `wake_out`."""

    def __init__(self, job: RequestJob, until: float, wake_out: socket.socket) -> None:
        self.deadline = Deadline(job.timeout, until)
        self._job, self._wake_out = job, wake_out
        self._result: Result | None = None
        self._done = False
        self._thread = threading.Thread(target=self._run, name="hook-request", daemon=True)
        start_thread(self._thread)

    @property
    def waiting(self) -> bool:
        return not self._done and not self.deadline.cause

    def result(self) -> Result:
        """The result; a thread that cannot be interrupted (it looks up a name) is abandoned."""
        self._thread.join(GRACE if self.deadline.cause else None)
        self.deadline.close()
        if self._result is not None:
            return self._result
        return Result(cause=self.deadline.cause, timed_out=self.deadline.timed_out, ms=self.deadline.ms)

    def _run(self) -> None:
        try:
            result = self._send()
            if not self.deadline.cause:
                self._result = result
        finally:
            if self._job.on_end is not None:
                self._job.on_end()
            self._done = True
            with contextlib.suppress(OSError):  # no caller waits any more
                self._wake_out.send(b"\0")

    def _send(self) -> Result:
        with self._job.turn.starting() as open_:
            if not open_:
                return Result(cause=CLOSED)
        try:
            result = self._job.ask(self.deadline)
        except HooktrayError as error:
            return Result(cause=error.message, ms=self.deadline.ms)
        except PACKAGE_ERRORS as error:  # the hook's turn
            if not self.deadline.cause:
                log.exception("a hook's request failed")
            return Result(cause=f"internal error: {type(error).__name__}", ms=self.deadline.ms)
        return Result(code=result.code, stdout=result.stdout, cause=result.cause, ms=self.deadline.ms)


def run_jobs(
    jobs: Sequence[AnyJob], deadline: float, hangup: Hangup | None, *, background: BackgroundProcesses | None = None
) -> tuple[Result, ...]:
    """Start everything together; one Result for each, in their order, by `deadline` (time.monotonic())."""
    commands = [job for job in jobs if isinstance(job, Job)]
    running: list[RunningRequest] = []
    try:
        wake_out, wake_in = socket.socketpair()
        with wake_out, wake_in:
            try:
                for job in jobs:
                    if isinstance(job, RequestJob):
                        running.append(RunningRequest(job, deadline, wake_out))
                ran = iter(command.run(commands, deadline, hangup, background=background) if commands else ())
                _wait(running, wake_in, hangup)
            finally:
                for one in running:
                    one.deadline.end(CANCELLED)
                answered = iter([one.result() for one in running])
    except (OSError, RuntimeError) as error:  # no descriptor or no thread left
        return not_run(jobs, error)
    return tuple(next(ran if isinstance(job, Job) else answered) for job in jobs)


def _wait(running: Sequence[RunningRequest], wake_in: socket.socket, hangup: Hangup | None) -> None:
    """Until every request is done or over its limit, or the agent has stopped waiting."""
    with selectors.DefaultSelector() as selector:
        selector.register(wake_in, selectors.EVENT_READ)
        if hangup is not None:
            if hangup.fileno() < 0:
                return
            selector.register(hangup, selectors.EVENT_READ)
        while waiting := [one for one in running if one.waiting]:
            ready = [key.fileobj for key, _ in selector.select(min(one.deadline.left for one in waiting))]
            if hangup in ready:
                return
            if wake_in in ready:
                wake_in.recv(4096)
