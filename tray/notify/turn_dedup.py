"""Pure: the end of a turn or of a session is announced once, also when an agent has several events for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from tray.agents.protocol import goes_on
from tray.model.decision import Decision
from tray.model.event import Event, EventKind

SESSIONS = 256  # that are remembered; beyond it the end of a turn may be announced twice


class TurnDedup:
    """Whether an end is still to be announced: a completion claim and the stop after it are one end.

    Some agents report the end of a session up to three times.

    It is called once per event, by one thread.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._claimed: dict[tuple[str, str], None] = {}
        self._began: dict[tuple[str, str], float] = {}
        self._ended: dict[tuple[str, str], None] = {}

    def is_new(self, event: Event, decision: Decision) -> bool:
        """False when the event's alert of an end must not be raised: announced already, or not an end."""
        session = (event.agent, event.session or event.cwd)
        if event.kind is EventKind.PROMPT:
            self._remember(session)
        if event.kind is EventKind.SESSION_END:
            return self._is_first_end(session)
        self._ended.pop(session, None)
        if event.kind not in (EventKind.COMPLETION_CLAIM, EventKind.TURN_END):
            return True
        was_claimed = session in self._claimed
        self._claimed.pop(session, None)
        if goes_on(event, decision):
            return False
        if event.kind is EventKind.TURN_END:
            return not was_claimed
        self._claimed[session] = None
        if len(self._claimed) > SESSIONS:
            self._claimed.pop(next(iter(self._claimed)))
        return True

    def _is_first_end(self, session: tuple[str, str]) -> bool:
        self._claimed.pop(session, None)
        is_first = session not in self._ended
        self._ended[session] = None
        if len(self._ended) > SESSIONS:
            self._ended.pop(next(iter(self._ended)))
        return is_first

    def is_short(self, event: Event, least: float) -> bool:
        """Whether this turn took less than `least` seconds; one without a known begin is long enough."""
        began = self._began.get((event.agent, event.session or event.cwd))
        return began is not None and self._clock() - began < least

    def _remember(self, session: tuple[str, str]) -> None:
        self._began.pop(session, None)
        self._began[session] = self._clock()
        if len(self._began) > SESSIONS:
            self._began.pop(next(iter(self._began)))
