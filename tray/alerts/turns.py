"""Pure: a turn's end is told once, also when an agent has two events for it."""

from __future__ import annotations

from tray.alerts.policy import refused
from tray.model.decision import Decision
from tray.model.event import Event, EventKind

SESSIONS = 256  # that are remembered; a session beyond it may be told twice that its turn ended


class Turns:
    """Whether a turn's end is still to be told: a completion claim and the stop after it are one end.

    It is asked once per event, by one thread.
    """

    def __init__(self) -> None:
        self._claimed: dict[tuple[str, str], None] = {}

    def once(self, event: Event, decision: Decision) -> bool:
        """False when the event's turn-end alert shall not be raised: told already, or not an end."""
        session = (event.agent, event.session or event.cwd)
        if event.kind is EventKind.SESSION_END:
            self._claimed.pop(session, None)
        if event.kind not in (EventKind.COMPLETION_CLAIM, EventKind.TURN_END):
            return True
        told = session in self._claimed
        self._claimed.pop(session, None)
        if refused(decision):
            return False
        if event.kind is EventKind.TURN_END:
            return not told
        self._claimed[session] = None
        if len(self._claimed) > SESSIONS:
            self._claimed.pop(next(iter(self._claimed)))
        return True
