"""Pure: what an agent reports by two lines of ours is announced once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence

from tray.agents import tools
from tray.lazy_dataclass import dataclass
from tray.model.event import Event
from tray.notify.alert import Alert

WINDOW = 5.0  # seconds between the two reports
EVENTS = 64  # that are remembered; beyond it one may be announced twice


@dataclass(frozen=True, slots=True)
class Announced:
    """One event with what was announced for it."""

    id: str
    line: str  # the agent in the command
    at: float
    alerts: frozenset[tuple[str, str, str]]


class ReportDedup:
    """Used by one thread. An event counts as the same only when another line of ours reports it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
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
        return is_other and self._clock() - before.at < WINDOW

    def _remember(self, digest: str, event: Event, alerts: Sequence[Alert]) -> None:
        before = self._announced.pop(digest, None)
        known = before.alerts if before is not None and before.id == event.id else frozenset()
        contents = known | {_content(alert) for alert in alerts}
        self._announced[digest] = Announced(event.id, event.via_agent, self._clock(), contents)
        if len(self._announced) > EVENTS:
            self._announced.pop(next(iter(self._announced)))


def _content(alert: Alert) -> tuple[str, str, str]:
    return (alert.cls.value, alert.title, alert.body)


def _digest(event: Event) -> str:
    """What happened, without what differs between two reports of it: their forms, times and ids."""
    call = event.tool and tools.canonical_call(event.agent, event.tool)
    what = (event.agent, event.session or event.cwd, event.kind.value, event.topic, event.prompt, event.message, call)
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()
