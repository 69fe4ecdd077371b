"""What the engine needs of those around it: who hears its news, where its rows go, who runs what is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.model.decision import Decision, Record
from tray.model.event import Event, EventKind

# Of what comes with every step of an agent nobody is told unless somebody objects; all else may lead to an alert.
FREQUENT_KINDS = frozenset({
    EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER, EventKind.TOOL_RESULT, EventKind.MODEL_BEFORE, EventKind.MODEL_AFTER,
    EventKind.MESSAGE_DISPLAY,
})  # fmt: skip

Spawn = Callable[[Callable[[], object]], bool]


class Defer(Protocol):
    """Takes what is to be done once the answer has left; `soon` = somebody is to be told of it."""

    def __call__(self, work: Callable[[], object], /, *, soon: bool = False) -> object: ...


def run_now(work: Callable[[], object], /, *, soon: bool = False) -> object:
    """For those who have nobody waiting for the answer."""
    return work()


class EngineListener(Protocol):
    """Who hears the news: `arrived` at once, and whether it is answered already; `decided` after its hooks' turns.

    While `awaits_turn_end` is false, `arrived` is not told of events on the fast path: none of them is waited for.
    `status_shown` and `status_hidden` frame the turn of a hook that wants a text shown meanwhile.
    """

    @property
    def awaits_turn_end(self) -> bool: ...
    def arrived(self, event: Event, *, answered: bool) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


class RecordSink(Protocol):
    """Where accounts go. With `commit` the answer waits a moment for its row; it never waits longer (law 7)."""

    def append(self, record: Record, *, commit: bool) -> object: ...
