"""What the engine is given: its state, its options, the listener to its events, and who runs deferred work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from tray.engine.own_answers import LostApprovals, TypedCommandAnswer, no_tray
from tray.engine.user_questions import UserQuestions
from tray.execution.hook_runs import HookRuns
from tray.model.decision import Decision, Record
from tray.model.event import Event, EventKind
from tray.protection.protected_paths import ProtectedPaths
from tray.protection.self_protection import PageAddress
from tray.store.copies import Copies
from tray.store.ledger import Ledger
from tray.store.sessions import Sessions
from tray.store.switch import Switch
from tray.threads import ShutdownState, run_logged

if TYPE_CHECKING:
    from tray.execution.command import BackgroundProcesses, Hangup
    from tray.settings import Llm


# Events of every step of an agent: announced only when a hook objects. Any other event may lead to an alert.
FREQUENT_KINDS = frozenset({
    EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER, EventKind.TOOL_RESULT, EventKind.MODEL_BEFORE, EventKind.MODEL_AFTER,
    EventKind.MESSAGE_DISPLAY,
})  # fmt: skip

Spawn = Callable[[Callable[[], object]], bool]


class Defer(Protocol):
    """Runs work once the answer has left, and logs its failure; `soon` = it may announce something."""

    def __call__(self, work: Callable[[], object], /, *, soon: bool = False) -> object: ...


def run_now(work: Callable[[], object], /, *, soon: bool = False) -> None:
    """The Defer for callers where no agent waits for the answer."""
    run_logged((work,), "work after an answer could not be written down or started")


class EngineListener(Protocol):
    """Is called for each event: `arrived` at once, and whether it is answered already; `decided` after its hooks.

    `status_shown` and `status_hidden` frame the turn of a hook that wants a text shown meanwhile.
    """

    def arrived(self, event: Event, *, answered: bool) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


class RecordSink(Protocol):
    """Where records go. With `commit` the answer waits a moment for its row; it never waits longer (law 7)."""

    def append(self, record: Record, *, commit: bool) -> object: ...


class EngineState(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine judges by, and where it records."""

    ledger: Ledger
    copies: Copies
    switch: Switch
    sessions: Sessions
    runs: HookRuns
    protected_paths: ProtectedPaths
    records: RecordSink


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the tray, the one-shot engine and a trial."""

    llm: Callable[[], Llm | None] = lambda: None  # the model that a person confirmed
    background: BackgroundProcesses | None = None  # None: children that a hook leaves end with it
    stop_signal: Hangup | None = None  # readable once the tray ends: hooks that no agent waits for are then cancelled
    shutdown_state: ShutdownState = msgspec.field(default_factory=ShutdownState)  # for events whose agent waits
    offline: bool = False
    # For the user, beside the answer; only the one-shot engine has one.
    note: Callable[[Event], str] = lambda event: ""
    questions: UserQuestions = msgspec.field(default_factory=UserQuestions)
    command_answers: TypedCommandAnswer = no_tray
    exceptions: Callable[[], Sequence[str]] = tuple  # of the self-protection
    page: PageAddress = msgspec.field(default_factory=PageAddress)
    lost: LostApprovals = msgspec.field(default_factory=LostApprovals)
