"""The types of running a process: the Job, its pipes and its process tree; and results that need no process."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import msgspec

from tray.model.decision import Result
from tray.model.hook import DEFAULT_TIMEOUT

STDOUT_LIMIT = 1024 * 1024  # bytes; more is a failure, because a verdict is never read from half an answer
STDERR_LIMIT = 64 * 1024  # bytes; what comes later is thrown away
CHUNK = 64 * 1024  # bytes moved at once: what a pipe holds
GRACE = 0.1  # seconds between SIGTERM and SIGKILL
REAP = 1.0  # seconds that a killed process may take to vanish before we stop looking
CLOSED = "switched off before it could start"
CANCELLED = "cancelled"
RUN_VARIABLE = "HOOKTRAY_RUN"  # in a hook's environment; finds descendants that left its group and its parent
OPENED_VARIABLE = "HOOKTRAY_OPENED"  # in that of whatever else we start: a browser is not ours to end

log = logging.getLogger(__name__)


class HookTurn:
    """Decides whether a job may start, and takes note of its process. This one permits every start."""

    def starting(self) -> AbstractContextManager[bool]:
        """Yields whether the job may start. It is held until the job has started."""
        return nullcontext(True)

    def started(self, pid: int) -> None:
        """Called with the job's process, while `starting` is held."""

    def exited(self, pid: int, *, has_left: bool) -> None:
        """Called when the process has ended; `has_left` is True if it left others in the background."""


FREE_TURN = HookTurn()


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One process to run. `argv` is what starts, unchanged: the words already point at the approved copy."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str] = {}
    stdin: bytes = b""
    timeout: float = DEFAULT_TIMEOUT  # seconds
    background: float = 600.0  # seconds that descendants may live on after a clean exit; 0 = none
    on_end: Callable[[], None] | None = None  # called once its process has ended
    turn: HookTurn = FREE_TURN


class Hangup(Protocol):
    """The agent's end of the connection: readable or hung up means that the agent has stopped waiting."""

    def fileno(self) -> int: ...


class Pipes(Protocol):
    """The three streams of one process. `take` is called once, after the exit, and never waits for a grandchild.

    Then `overflowed` means that stdout is too long, `complete` that it is all that the process wrote there.
    """

    @property
    def overflowed(self) -> bool: ...
    @property
    def complete(self) -> bool: ...
    def take(self) -> tuple[bytes, bytes]: ...


class ProcessTree(Protocol):
    """A process with everything that came out of it."""

    @property
    def pid(self) -> int: ...
    @property
    def has_orphans(self) -> bool:
        """Whether the last look at this tree found an orphan of any hook."""

    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def sweep(self) -> None: ...
    def has_survivors(self) -> bool: ...
    def is_alive(self) -> bool: ...


def killed_by(number: int) -> str:
    """The cause for a process that a signal has ended."""
    try:
        return f"killed by signal {number} ({signal.Signals(number).name})"
    except (ValueError, ImportError, OSError):  # unknown, or the names cannot be loaded: no file can be opened
        return f"killed by signal {number}"


def not_run(jobs: Sequence[object], error: BaseException) -> tuple[Result, ...]:
    """The results of jobs for which the system had no descriptor or thread left; other hooks keep their verdicts."""
    log.warning("hooks could not be run: %s", error)
    return tuple(Result(cause=f"could not be run: {error}") for _ in jobs)
