"""What the engine tells in the tray: handed to the icon, the page, the alerts and the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.engine.turns import Turns
from tray.model.decision import Decision, Record
from tray.model.event import Event

KEPT = 1000  # alerts that are out before their events have rows


class Rows(Protocol):
    """Where an alert's fate is written down."""

    def alerted(self, ids: tuple[str, ...], word: str) -> object: ...


class Screen(Protocol):
    """What the icon and its menu show."""

    def add(self, record: Record) -> None: ...
    def running(self, turn: str, text: str) -> None: ...
    def ended(self, turn: str) -> None: ...


class News:
    """The engine's ears. From any thread, some of it before the answer leaves: all of it only hands over (law 7).

    `told` hears of an event that was answered already, `judged` of one with its decision, both in the thread of `do`;
    they and `screen` are put in before the door opens.
    """

    def __init__(self, do: Callable[[Callable[[], None]], None], rows: Rows, turns: Turns) -> None:
        self._do = do
        self._rows = rows
        self._turns = turns
        self._words: dict[str, str] = {}
        self.screen: Screen
        self.told: Callable[[Event], None]
        self.judged: Callable[[Event, Decision, Record], None]

    @property
    def awaits(self) -> bool:
        """Whether a round may yet turn out not to have been its turn's last."""
        return self._turns.waiting

    def arrived(self, event: Event, *, answered: bool) -> None:
        """Rounds and what follows them are counted from here, not from the end of their hooks."""
        self._turns.heard(event)
        if answered:
            self._do(lambda: self.told(event))

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if word := self._words.pop(event.id, ""):
            self._rows.alerted((event.id,), word)
        self._do(lambda: self._show(event, decision, record))

    def running(self, turn: str, text: str) -> None:
        """A hook wants this shown while it runs."""
        self._do(lambda: self.screen.running(turn, text))

    def ended(self, turn: str) -> None:
        self._do(lambda: self.screen.ended(turn))

    def alerted(self, ids: tuple[str, ...], word: str) -> None:
        """An alert may be out before its event has a row: hooks that nobody waits for may still run."""
        if len(self._words) > KEPT:
            self._words.clear()
        self._words.update(dict.fromkeys(ids, word))
        self._rows.alerted(ids, word)

    def _show(self, event: Event, decision: Decision, record: Record) -> None:
        self.screen.add(record)
        self.judged(event, decision, record)
