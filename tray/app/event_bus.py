"""The engine's events in the tray: passed on to the icon, the page, the alerts and the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.engine.turn_end import TurnEndDetector
from tray.model.decision import Decision, Record
from tray.model.event import Event

MEMORY_LIMIT = 1000  # alerts that were sent before their events have rows


class AlertLog(Protocol):
    """Where the delivery of an alert is recorded."""

    def set_alerted(self, ids: tuple[str, ...], word: str) -> object: ...


class DecisionView(Protocol):
    """What the icon and its menu show."""

    def add(self, record: Record) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...


class EventBus:
    """The engine's listener. Called from any thread, partly before the answer leaves: it only hands over (law 7).

    `on_arrival` gets an event that was answered already, `on_decision` one with its decision, both in the thread of
    `post`. They and `view` are set before the server starts.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], rows: AlertLog, turns: TurnEndDetector) -> None:
        self._post = post
        self._rows = rows
        self._turns = turns
        self._deliveries: dict[str, str] = {}
        self.view: DecisionView
        self.on_arrival: Callable[[Event], None]
        self.on_decision: Callable[[Event, Decision, Record], None]

    def arrived(self, event: Event, *, answered: bool) -> None:
        """Rounds and what follows them are counted from here, not from the end of their hooks."""
        self._turns.observe(event)
        if answered:
            self._post(lambda: self.on_arrival(event))

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if word := self._deliveries.pop(event.id, ""):
            self._rows.set_alerted((event.id,), word)
        self._post(lambda: self._publish(event, decision, record))

    def status_shown(self, turn: str, text: str) -> None:
        """A hook wants this shown while it runs."""
        self._post(lambda: self.view.status_shown(turn, text))

    def status_hidden(self, turn: str) -> None:
        self._post(lambda: self.view.status_hidden(turn))

    def alerted(self, ids: tuple[str, ...], word: str) -> None:
        """An alert may be sent before its event has a row: hooks without a waiting agent may still run."""
        if len(self._deliveries) > MEMORY_LIMIT:
            self._deliveries.clear()
        self._deliveries.update(dict.fromkeys(ids, word))
        self._rows.set_alerted(ids, word)

    def _publish(self, event: Event, decision: Decision, record: Record) -> None:
        self.view.add(record)
        self.on_decision(event, decision, record)
