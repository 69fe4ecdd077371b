"""The end of a turn on agents that only report the end of a round: a session that has gone quiet (decision 2)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from tray.lazy_dataclass import replace
from tray.model.event import Event, EventKind
from tray.threads import CheckedTimer

CONTINUES = frozenset({EventKind.TOOL_BEFORE, EventKind.PROMPT})


class TurnEndDetector:
    """Holds the last round of each session until the session was quiet for `turn_quiet_seconds`, or ended."""

    def __init__(self, quiet_seconds: Callable[[], float], on_turn_end: Callable[[Event], None]) -> None:
        self._quiet_seconds = quiet_seconds
        self._on_turn_end = on_turn_end
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str], tuple[Event, threading.Timer]] = {}

    @property
    def waiting(self) -> bool:
        return bool(self._waiting)

    def observe(self, event: Event) -> None:
        """Takes every event: a round's end starts the wait, more work cancels it, a session's end cuts it short."""
        if not self._waiting and event.kind is not EventKind.ROUND_END:
            return
        session = (event.agent, event.session)
        if event.kind is EventKind.ROUND_END:
            self._wait(session, event)
        elif event.kind in CONTINUES:
            self._cancel(session)
        elif event.kind is EventKind.SESSION_END:
            round_end = self._cancel(session)
            if round_end:
                self._on_turn_end(_turn(round_end))

    def close(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for _, timer in waiting.values():
            timer.cancel()
            timer.join()

    def _wait(self, session: tuple[str, str], event: Event) -> None:
        self._cancel(session)
        timer = CheckedTimer(self._quiet_seconds(), self._on_quiet, (session, event))
        timer.name = "turn-end"
        timer.daemon = True
        with self._lock:
            self._waiting[session] = (event, timer)
        timer.start()

    def _on_quiet(self, session: tuple[str, str], event: Event) -> None:
        with self._lock:
            waiting = self._waiting.get(session)
            if waiting is None or waiting[0] is not event:
                return
            del self._waiting[session]
        self._on_turn_end(_turn(event))

    def _cancel(self, session: tuple[str, str]) -> Event | None:
        with self._lock:
            waiting = self._waiting.pop(session, None)
        if waiting is None:
            return None
        waiting[1].cancel()
        return waiting[0]


def _turn(round_end: Event) -> Event:
    return replace(round_end, id=os.urandom(16).hex(), kind=EventKind.TURN_END)
