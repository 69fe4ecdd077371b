"""Records the ends of turns. Stand-in for the part that a TurnEndDetector calls."""

from __future__ import annotations

import threading

from tray.model.event import Event


class EndedTurns:
    """The ends of turns, each after `turn_quiet_seconds` or with its session."""

    def __init__(self, turn_quiet_seconds: float = 60.0) -> None:
        self.turn_quiet_seconds = turn_quiet_seconds
        self.events: list[Event] = []
        self.first = threading.Event()

    def turn_ended(self, event: Event) -> None:
        self.events.append(event)
        self.first.set()
