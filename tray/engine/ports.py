"""The interfaces of the engine: its options, its listener, the caller that waits for an answer, an Execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from tray.engine.own_answers import LostApprovals, SlashCommands, WithoutTray
from tray.engine.user_questions import EngineResponse, UserQuestions
from tray.model.decision import Decision, Record
from tray.model.event import Event, EventKind
from tray.protection.self_protection import PageAddress
from tray.threads import ShutdownState, failures_logged

if TYPE_CHECKING:
    from tray.execution.command import BackgroundProcesses, Hangup
    from tray.settings import Llm


# Events of every step of an agent: announced only when a hook objects. Any other event may lead to an alert.
FREQUENT_KINDS = frozenset({
    EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER, EventKind.TOOL_RESULT, EventKind.MODEL_BEFORE, EventKind.MODEL_AFTER,
    EventKind.MESSAGE_DISPLAY,
})  # fmt: skip


class EventCaller(Protocol):
    """Whoever sent an event and waits for its answer: in the tray the connection of the relay."""

    def defer(self, work: Callable[[], object], /, *, soon: bool = False) -> None:
        """Run the work once the answer has left, and log its failure; `soon` = it may announce something."""

    def acknowledge(self) -> None:
        """Tell the relay to wait, before anything that takes more than a moment."""


class NoCaller:
    """In the place of a caller where no agent waits for the answer: runs deferred work at once."""

    def defer(self, work: Callable[[], object], /, *, soon: bool = False) -> None:
        with failures_logged("work after an answer could not be written down or started"):
            work()

    def acknowledge(self) -> None: ...


NO_CALLER = NoCaller()


class Execution(msgspec.Struct, frozen=True):
    """What is left to do for an answer, and may take long: hooks to run, or another report to wait for."""

    def run(self, hangup: Hangup | None) -> EngineResponse:
        """Returns the answer. The hooks are cancelled once `hangup` is readable."""
        raise NotImplementedError


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


class EngineSettings(Protocol):
    """What a person confirmed of the settings."""

    @property
    def exceptions(self) -> Sequence[str]:
        """Of the self-protection."""

    def llm(self) -> Llm | None:
        """Returns the model that prompt hooks ask, as the file has it at this moment."""


class NoSettings(msgspec.Struct, frozen=True):
    """The settings of an engine without any."""

    exceptions: tuple[str, ...] = ()

    def llm(self) -> None:
        return None


class EventNotes(Protocol):
    """Returns a text for the user, which is shown beside the answer; "" for most events."""

    def note(self, event: Event) -> str: ...


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the tray, the one-shot engine and a trial."""

    settings: EngineSettings = NoSettings()
    background: BackgroundProcesses | None = None  # None: children that a hook leaves end with it
    stop_signal: Hangup | None = None  # readable once the tray ends: hooks that no agent waits for are then cancelled
    shutdown_state: ShutdownState = msgspec.field(default_factory=ShutdownState)  # for events whose agent waits
    offline: bool = False
    notes: EventNotes | None = None  # only the one-shot engine has them
    questions: UserQuestions = msgspec.field(default_factory=UserQuestions)
    slash_commands: SlashCommands = WithoutTray()
    page: PageAddress = msgspec.field(default_factory=PageAddress)
    lost: LostApprovals = msgspec.field(default_factory=LostApprovals)
