"""Pure: what is announced once: an end for which an agent has several events, and what two lines of ours report."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence

import msgspec

from tray.agents import tools
from tray.agents.protocol import goes_on
from tray.clock import Clock
from tray.model.decision import Decision
from tray.model.event import Event, EventKind
from tray.notify.alert import Alert

SESSIONS = 256  # that are remembered; beyond it the end of a turn may be announced twice
WINDOW = 5.0  # seconds between two reports of one event
TURN_KINDS = frozenset({EventKind.COMPLETION_CLAIM, EventKind.PROMPT, EventKind.SESSION_END, EventKind.TURN_END})
EVENTS = 64  # that are remembered; beyond it one may be announced twice


class TurnDedup:
    """Whether an end is still to be announced: a completion claim and the stop after it are one end.

    Some agents report the end of a session up to three times.

    One thread calls it, once for each event whose kind is in TURN_KINDS or whose session is in `ended`.
    """

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._claimed: dict[tuple[str, str], None] = {}
        self._began: dict[tuple[str, str], float] = {}
        self.ended: dict[tuple[str, str], None] = {}  # until they go on; by agent and session

    def is_new(self, event: Event, decision: Decision) -> bool:
        """False when the event's alert of an end must not be raised: announced already, or not an end."""
        session = (event.agent, event.session or event.cwd)
        if event.kind is EventKind.PROMPT:
            self._remember(session)
        if event.kind is EventKind.SESSION_END:
            return self._is_first_end(session)
        self.ended.pop(session, None)
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
        is_first = session not in self.ended
        self.ended[session] = None
        if len(self.ended) > SESSIONS:
            self.ended.pop(next(iter(self.ended)))
        return is_first

    def is_short(self, event: Event, least: float) -> bool:
        """Whether this turn took less than `least` seconds; one without a known begin is long enough."""
        began = self._began.get((event.agent, event.session or event.cwd))
        return began is not None and self._clock.time() - began < least

    def _remember(self, session: tuple[str, str]) -> None:
        self._began.pop(session, None)
        self._began[session] = self._clock.time()
        if len(self._began) > SESSIONS:
            self._began.pop(next(iter(self._began)))


class Announced(msgspec.Struct, frozen=True):
    """One event with what was announced for it."""

    id: str
    line: str  # the agent in the command
    at: float
    alerts: frozenset[tuple[str, str, str]]


class ReportDedup:
    """Used by one thread. An event counts as the same only when another line of ours reports it."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._announced: dict[str, Announced] = {}

    def fresh(self, event: Event, alerts: Sequence[Alert]) -> list[Alert]:
        """Those of the event's alerts that were not announced for the same event of another line."""
        if not alerts:
            return []
        digest = _digest(event)
        before = self._announced.get(digest)
        if before is not None and self._is_repeat(event, before):
            return [alert for alert in alerts if _content(alert) not in before.alerts]
        self._remember(digest, event, alerts)
        return list(alerts)

    def _is_repeat(self, event: Event, before: Announced) -> bool:
        is_other = before.id != event.id and before.line != event.via_agent
        return is_other and self._clock.time() - before.at < WINDOW

    def _remember(self, digest: str, event: Event, alerts: Sequence[Alert]) -> None:
        before = self._announced.pop(digest, None)
        known = before.alerts if before is not None and before.id == event.id else frozenset()
        contents = known | {_content(alert) for alert in alerts}
        self._announced[digest] = Announced(event.id, event.via_agent, self._clock.time(), contents)
        if len(self._announced) > EVENTS:
            self._announced.pop(next(iter(self._announced)))


def _content(alert: Alert) -> tuple[str, str, str]:
    return (alert.cls.value, alert.title, alert.body)


def _digest(event: Event) -> str:
    """What happened, without what differs between two reports of it: their forms, times and ids."""
    call = event.tool and tools.canonical_call(event.agent, event.tool)
    what = (event.agent, event.session or event.cwd, event.kind.value, event.topic, event.prompt, event.message, call)
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
