"""A recording alert service, with the events and rows for its tests."""

from __future__ import annotations

import time
from typing import Any

from agents.recordings import built
from notify import samples

from tray.clock import Clock
from tray.model.decision import NO_OPINION, Decision, Outcome, Record, Status, Verdict
from tray.model.event import Event, EventKind
from tray.notify.alert import Alert, AlertClass, FixedSettings
from tray.settings import Settings

FAILED = Decision(outcomes=(Outcome(hook="h", status=Status.FAILED, cause="exit 1"),))
HOSTILE = [
    *("-u critical", "\x1b]0;owned\x07\x1b[31mred", "\u202egnp.exe", "a\u200bb\u2066c", "\x00\x07\x9b1m", "\ud800"),
    *("one\r\ntwo\vthree\u2028four", "x" * 100_000, "e\u0301" * 5_000),
]


class Announced:
    """A service that records its announcements."""

    def __init__(
        self, settings: Settings | None = None, around: samples.Surroundings | None = None, clock: Clock = time
    ) -> None:
        self.settings = FixedSettings(settings or Settings())
        self.service = samples.service(self, self.settings, around, clock)
        self.alerts: list[Alert] = []
        self.withdrawn: list[str] = []

    def decide(self, event: Event, decision: Decision = NO_OPINION, **row: Any) -> None:
        """Passes an event, its decision and its row to the service."""
        self.service.decided(event, decision, record(event, **row))

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        self.alerts += alerts

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self.withdrawn += keys

    @property
    def classes(self) -> list[AlertClass]:
        return [alert.cls for alert in self.alerts]

    @property
    def bodies(self) -> list[str]:
        return [alert.body for alert in self.alerts]


def event(kind: EventKind, id: str = "1", **more: Any) -> Event:
    fields: dict[str, Any] = {"agent": "claude-code", "name": kind.value, "session": "s", "cwd": "/p"}
    return built(id=id, kind=kind, **{**fields, **more})


def record(event: Event, **more: Any) -> Record:
    fields: dict[str, Any] = {"at": 0.0, "project": "p", "reason": "", "ms": 1.0, "verdict": Verdict.ABSTAIN}
    return Record(
        id=event.id, agent=event.agent, session=event.session, event=event.name, kind=event.kind, **{**fields, **more}
    )


def assert_fit_for_the_screen(alert: Alert) -> None:
    assert alert.title
    assert len(alert.title) <= 63
    assert len(alert.body) <= 200
    assert (alert.title + alert.body).isprintable()
    assert not alert.title.startswith("-")
