"""Listens to the engine and the user's hand, and has told what deserves it. One thread calls it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from tray.alerts.policy import (
    Alert,
    AlertClass,
    Rules,
    alerts,
    changed,
    config_broken,
    information,
    pending,
    source_problems,
    switched,
)
from tray.alerts.turns import Turns
from tray.engine.roster import Standing
from tray.model.decision import Decision, Record
from tray.model.event import Event
from tray.model.hook import State

# What an event says by itself, before any hook had its turn.
OWN = frozenset({AlertClass.TURN_END, AlertClass.SESSION_END, AlertClass.NEEDS_YOU, AlertClass.INFORMATION})
NEEDING = frozenset({AlertClass.NEEDS_YOU, AlertClass.ASKED})
WAITING = 512  # events whose hooks still run and whose own alert is already out


class Announces(Protocol):
    """What the herald needs of an Announcer."""

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None: ...
    def withdraw(self, keys: tuple[str, ...]) -> None: ...


class Herald:
    """Turns what happened into alerts, by the user's rules."""

    def __init__(self, announcer: Announces, rules: Callable[[], Rules]) -> None:
        self._announcer = announcer
        self._rules = rules
        self._turns = Turns()
        self._early: dict[str, None] = {}
        self._needing: dict[tuple[str, str], tuple[str, ...]] = {}  # sessions that need the user -> their alerts
        self._warned: frozenset[str] = frozenset()
        self._waiting: dict[str, str] = {}  # hooks that wait for the user's word -> their alert

    def arrived(self, event: Event) -> None:
        """An event that waits for no answer is told at once, however long its hooks will take."""
        self._early[event.id] = None
        if len(self._early) > WAITING:
            self._early.pop(next(iter(self._early)))
        made = self._made(event, Decision())
        self._about(event, [alert for alert in made if alert.cls in OWN], event.id)

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        if event.id not in self._early and not event.told:
            self._about(event, self._made(event, decision), record.id)
            return
        self._early.pop(event.id, None)
        made = alerts(event, decision, self._rules())
        self._announce([alert for alert in made if alert.cls not in OWN], record.id)

    def waiting(self, standing: Standing) -> None:
        """A hook newly waits for the user's word."""
        hook = standing.hook
        if standing.state is State.CHANGED:
            alert = changed(hook.name, self._rules())
        else:
            alert = pending(hook.name, hook.match.event, standing.digest, self._rules())
        self._waiting[standing.key] = alert.key
        self._announce([alert])

    def settled(self, waiting: Collection[str]) -> None:
        """Only the hooks with these keys still wait: what was said of the others is taken back."""
        stale = [key for key in self._waiting if key not in waiting]
        if stale:
            self._announcer.withdraw(tuple(self._waiting.pop(key) for key in stale))

    def switched(self, what: str, way: str) -> None:
        self._announce([switched(what, way, self._rules())])

    def broken(self, problem: str) -> None:
        self._announce([config_broken(problem.split("\n")[0], self._rules())])

    def warned(self, warnings: Sequence[str]) -> None:
        """What is wrong in the sources, as it stands now; what was told once is not told again."""
        fresh = [warning for warning in warnings if warning not in self._warned]
        self._warned = frozenset(warnings)
        if fresh:
            self._announce([source_problems(fresh, self._rules())])

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

    def _about(self, event: Event, made: Sequence[Alert], record: str) -> None:
        """Tell it; and whatever a session does next, it does not need the user for what it needed before."""
        session = (event.agent, event.session)
        stale = self._needing.pop(session, ())
        needs = tuple(alert.key for alert in made if alert.cls in NEEDING)
        if needs:
            self._needing[session] = needs
        elif stale:
            self._announcer.withdraw(stale)
        self._announce(made, record)

    def _announce(self, made: Sequence[Alert], record: str = "") -> None:
        if made:
            self._announcer.announce(tuple(made), record)
