"""Listens to the engine and the user's hand, and has told what deserves it. One thread calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tray.alerts.announcer import Announcer
from tray.alerts.policy import (
    Alert,
    AlertClass,
    Rules,
    alerts,
    changed,
    config_broken,
    information,
    pending,
    switched,
)
from tray.alerts.turns import Turns
from tray.engine.roster import Standing
from tray.model.decision import Decision, Record
from tray.model.event import Event
from tray.model.hook import State

# What an event says by itself, before any hook had its turn.
OWN = frozenset({AlertClass.TURN_END, AlertClass.SESSION_END, AlertClass.NEEDS_YOU, AlertClass.INFORMATION})
WAITING = 512  # events whose hooks still run and whose own alert is already out


class Herald:
    """Turns what happened into alerts, by the user's rules."""

    def __init__(self, announcer: Announcer, rules: Callable[[], Rules]) -> None:
        self._announcer = announcer
        self._rules = rules
        self._turns = Turns()
        self._early: dict[str, None] = {}

    def arrived(self, event: Event) -> None:
        """An event that waits for no answer is told at once, however long its hooks will take."""
        self._early[event.id] = None
        if len(self._early) > WAITING:
            self._early.pop(next(iter(self._early)))
        made = self._made(event, Decision())
        self._announce([alert for alert in made if alert.cls in OWN], event.id)

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if event.id not in self._early:
            self._announce(self._made(event, decision), record.id)
            return
        del self._early[event.id]
        made = alerts(event, decision, self._rules())
        self._announce([alert for alert in made if alert.cls not in OWN], record.id)

    def waiting(self, standing: Standing) -> None:
        """A hook newly waits for the user's word."""
        if standing.state is State.CHANGED:
            self._announce([changed(standing.hook.name, self._rules())])
        elif standing.digest:
            hook = standing.hook
            self._announce([pending(hook.name, hook.match.event, standing.digest, self._rules())])

    def switched(self, what: str, way: str) -> None:
        self._announce([switched(what, way, self._rules())])

    def broken(self, problem: str) -> None:
        self._announce([config_broken(problem.split("\n")[0], self._rules())])

    def offline(self, rows: Sequence[Record]) -> None:
        """What the one-shot engine decided while the tray was not running, summed up."""
        if rows:
            denied = sum(record.verdict.word == "deny" for record in rows)
            self.tell("", f"{len(rows)} events were answered while the tray was not running, {denied} denied")

    def tell(self, title: str, text: str) -> None:
        self._announce([information(f"{title} · {text}" if title and text else title or text, self._rules())])

    def _made(self, event: Event, decision: Decision) -> list[Alert]:
        """The event's alerts, without an end of turn that was told already."""
        made = alerts(event, decision, self._rules())
        if self._turns.once(event, decision):
            return list(made)
        return [alert for alert in made if alert.cls is not AlertClass.TURN_END]

    def _announce(self, made: Sequence[Alert], record: str = "") -> None:
        if made:
            self._announcer.announce(tuple(made), record)
