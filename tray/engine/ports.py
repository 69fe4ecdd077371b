"""The ports of the engine: the listener to its events, the sink of its records, and who runs deferred work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.model.decision import Decision, Record
from tray.model.event import Event, EventKind

# Events of every step of an agent: announced only when a hook objects. Any other event may lead to an alert.
FREQUENT_KINDS = frozenset({
    EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER, EventKind.TOOL_RESULT, EventKind.MODEL_BEFORE, EventKind.MODEL_AFTER,
    EventKind.MESSAGE_DISPLAY,
})  # fmt: skip

Spawn = Callable[[Callable[[], object]], bool]


class Defer(Protocol):
    """Runs work once the answer has left; `soon` = it may announce something."""

    def __call__(self, work: Callable[[], object], /, *, soon: bool = False) -> object: ...


def run_now(work: Callable[[], object], /, *, soon: bool = False) -> object:
    """The Defer for callers that have nobody waiting for the answer."""
    return work()


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
