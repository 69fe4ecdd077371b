"""Work without a process: each errand has a thread of its own beside the command hooks, and the same end."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tray.errors import HooktrayError
from tray.execution import command
from tray.execution.command import BackgroundProcesses, Hangup, Job
from tray.execution.deadline import Deadline
from tray.execution.process import CANCELLED, CLOSED, StartGate, always_open, ignore
from tray.model.decision import Result

GRACE = 0.05  # seconds that a thread gets to notice its end, before it is left alone

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestJob:
    """One request or question. `ask` blocks for at most its Span, and raises HooktrayError when it failed."""

    ask: Callable[[Deadline], Result]
    timeout: float = 20.0  # seconds
    on_end: Callable[[], None] = ignore  # told once, when its turn is over
    start_gate: StartGate = always_open  # whether it may start


AnyJob = Job | RequestJob


class RunningRequest:
    """One errand on its way."""

    def __init__(self, job: RequestJob, until: float, on_done: Callable[[], None]) -> None:
        self.deadline = Deadline(job.timeout, until)
        self._job, self._on_done = job, on_done
        self._result: Result | None = None
        self._done = False
        self._thread = threading.Thread(target=self._run, name="errand", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> bool:
        return not self._done and not self.deadline.cause

    def result(self) -> Result:
        """What came of it; a thread that hangs where nothing can cut it (a name's look-up) is left alone."""
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
            self._job.on_end()
            self._done = True
            self._on_done()

    def _send(self) -> Result:
        with self._job.start_gate() as open_:
            if not open_:
                return Result(cause=CLOSED)
        try:
            said = self._job.ask(self.deadline)
        except HooktrayError as error:
            return Result(cause=error.message, ms=self.deadline.ms)
        except Exception as error:  # the hook's turn
            if not self.deadline.cause:
                log.exception("an errand failed")
            return Result(cause=f"internal error: {type(error).__name__}", ms=self.deadline.ms)
        return Result(code=said.code, stdout=said.stdout, cause=said.cause, ms=self.deadline.ms)


def run_jobs(
    jobs: Sequence[AnyJob], deadline: float, hangup: Hangup | None, *, background: BackgroundProcesses | None = None
) -> tuple[Result, ...]:
    """Start everything together; one Result for each, in their order, by `deadline` (time.monotonic())."""
    try:
        return _run_all(jobs, deadline, hangup, background)
    except (OSError, RuntimeError) as error:  # no descriptor or no thread left: that takes nobody else's verdict away
        log.warning("hooks could not be run: %s", error)
        return tuple(Result(cause=f"could not be run: {error}") for _ in jobs)


def _run_all(
    work: Sequence[AnyJob], deadline: float, gone: Hangup | None, background: BackgroundProcesses | None
) -> tuple[Result, ...]:
    jobs = [one for one in work if isinstance(one, Job)]
    errands = [one for one in work if isinstance(one, RequestJob)]
    if not errands:
        return command.run(jobs, deadline, gone, background=background)
    bell, ear = socket.socketpair()
    sent: list[RunningRequest] = []
    with bell, ear:
        try:
            for errand in errands:
                sent.append(RunningRequest(errand, deadline, lambda: _wake(bell)))
            ran = iter(command.run(jobs, deadline, gone, background=background) if jobs else ())
            _wait(sent, ear, gone)
        finally:
            for one in sent:
                one.deadline.end(CANCELLED)
            came = iter([one.result() for one in sent])
    return tuple(next(ran if isinstance(one, Job) else came) for one in work)


def _wait(sent: Sequence[RunningRequest], ear: socket.socket, gone: Hangup | None) -> None:
    """Until every errand is done or over its limit, or the agent has stopped waiting."""
    with selectors.DefaultSelector() as selector:
        selector.register(ear, selectors.EVENT_READ)
        if gone is not None:
            if gone.fileno() < 0:
                return
            selector.register(gone, selectors.EVENT_READ)
        while waiting := [one for one in sent if one.waiting]:
            ready = [key.fileobj for key, _ in selector.select(min(one.deadline.left for one in waiting))]
            if gone in ready:
                return
            if ear in ready:
                ear.recv(4096)


def _wake(bell: socket.socket) -> None:
    try:
        bell.send(b"\0")
    except OSError:  # nobody waits any more
        return
