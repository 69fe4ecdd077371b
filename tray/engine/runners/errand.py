"""Work without a process: each errand has a thread of its own beside the command hooks, and the same end."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tray.engine.runners import command
from tray.engine.runners.command import Background, Gone, Job
from tray.engine.runners.process import CANCELLED, CLOSED, May, always, nobody
from tray.engine.runners.span import Span
from tray.errors import HooktrayError
from tray.model.decision import Result

GRACE = 0.05  # seconds that a thread gets to notice its end, before it is left alone

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One request or question. `ask` blocks for at most its Span, and raises HooktrayError when it failed."""

    ask: Callable[[Span], Result]
    timeout: float = 20.0  # seconds
    over: Callable[[], None] = nobody  # told once, when its turn is over
    may: May = always  # whether it may start


Work = Job | Errand


class Sent:
    """One errand on its way."""

    def __init__(self, errand: Errand, deadline: float, came: Callable[[], None]) -> None:
        self.span = Span(errand.timeout, deadline)
        self._errand, self._came = errand, came
        self._result: Result | None = None
        self._done = False
        self._thread = threading.Thread(target=self._run, name="errand", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> bool:
        return not self._done and not self.span.cause

    def result(self) -> Result:
        """What came of it; a thread that hangs where nothing can cut it (a name's look-up) is left alone."""
        self._thread.join(GRACE if self.span.cause else None)
        self.span.close()
        if self._result is not None:
            return self._result
        return Result(cause=self.span.cause, timed_out=self.span.timed_out, ms=self.span.ms)

    def _run(self) -> None:
        try:
            result = self._asked()
            if not self.span.cause:
                self._result = result
        finally:
            self._errand.over()
            self._done = True
            self._came()

    def _asked(self) -> Result:
        with self._errand.may() as open_:
            if not open_:
                return Result(cause=CLOSED)
        try:
            said = self._errand.ask(self.span)
        except HooktrayError as error:
            return Result(cause=error.message, ms=self.span.ms)
        except Exception as error:  # the hook's turn
            if not self.span.cause:
                log.exception("an errand failed")
            return Result(cause=f"internal error: {type(error).__name__}", ms=self.span.ms)
        return Result(code=said.code, stdout=said.stdout, cause=said.cause, ms=self.span.ms)


def run(
    work: Sequence[Work], deadline: float, gone: Gone | None, *, background: Background | None = None
) -> tuple[Result, ...]:
    """Start everything together; one Result for each, in their order, by `deadline` (time.monotonic())."""
    try:
        return _run(work, deadline, gone, background)
    except (OSError, RuntimeError) as error:  # no descriptor or no thread left: that takes nobody else's verdict away
        log.warning("hooks could not be run: %s", error)
        return tuple(Result(cause=f"could not be run: {error}") for _ in work)


def _run(
    work: Sequence[Work], deadline: float, gone: Gone | None, background: Background | None
) -> tuple[Result, ...]:
    jobs = [one for one in work if isinstance(one, Job)]
    errands = [one for one in work if isinstance(one, Errand)]
    if not errands:
        return command.run(jobs, deadline, gone, background=background)
    bell, ear = socket.socketpair()
    sent: list[Sent] = []
    with bell, ear:
        try:
            for errand in errands:
                sent.append(Sent(errand, deadline, lambda: _ring(bell)))
            ran = iter(command.run(jobs, deadline, gone, background=background) if jobs else ())
            _wait(sent, ear, gone)
        finally:
            for one in sent:
                one.span.end(CANCELLED)
            came = iter([one.result() for one in sent])
    return tuple(next(ran if isinstance(one, Job) else came) for one in work)


def _wait(sent: Sequence[Sent], ear: socket.socket, gone: Gone | None) -> None:
    """Until every errand is done or over its limit, or the agent has stopped waiting."""
    with selectors.DefaultSelector() as selector:
        selector.register(ear, selectors.EVENT_READ)
        if gone is not None:
            if gone.fileno() < 0:
                return
            selector.register(gone, selectors.EVENT_READ)
        while waiting := [one for one in sent if one.waiting]:
            ready = [key.fileobj for key, _ in selector.select(min(one.span.left for one in waiting))]
            if gone in ready:
                return
            if ear in ready:
                ear.recv(4096)


def _ring(bell: socket.socket) -> None:
    try:
        bell.send(b"\0")
    except OSError:  # nobody waits any more
        return
