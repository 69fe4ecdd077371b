"""When an alert is shown: at once, in a summary, or not until its user looks away.

The throttle defers what is too much at once, what comes in quiet hours, and what is snoozed. The notification of a
turn that its user watched end is held; what is not certainly seen is shown. Looking needs proof: the session's pane
is visible, its window has the keyboard, and it was used a moment ago. Without a proof, or when the question takes too
long, nothing is held. What is held is shown after all when the attention leaves within `GLANCE` seconds, and noted as
seen when it stays.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.clock import Clock
from tray.event_loop import Timer
from tray.language import say
from tray.notify.alert import APP, BODY_LIMIT, Alert, AlertClass, SettingsInForce, Urgency
from tray.notify.notifier import DeliveryLog, Notifier
from tray.notify.throttle import DEFERRED, DeferredAlert, Throttle, summary_text
from tray.text import sanitise

GLANCE = 10.0  # seconds for which the attention must stay
LOOK_INTERVAL = 1.0  # seconds between two looks at a session whose notification is held
ANSWER_TIMEOUT = 1.0  # seconds that the first look may take
RETURN_INTERVAL = 10.0  # seconds between two checks whether the user is back
HELD_CLASSES = frozenset({AlertClass.TURN_END})  # nothing else is ever held (RULINGS 39)
SEEN = "seen"
MAX_AWAY = 200  # alerts of one absence that its summary counts


class Attention(msgspec.Struct, frozen=True):
    """What is proved: that the user looks at the session, and that the user is away."""

    is_looking: bool = False
    is_away: bool = False


NOTHING_PROVED = Attention()


class Presence(Protocol):
    """Finds out whether the user looks at a session or, with an agent of "", only whether the user is there.

    It calls `answer` once, later and on the thread of the alerts, or never.
    """

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None: ...


class _Look(msgspec.Struct, eq=False):
    """Asks once whether the user looks at the session of alerts that wait. Only the first answer counts."""

    alerts: tuple[Alert, ...]  # after the first look one, which is held
    record: str
    since: float = 0.0  # when it was held


class AlertGate:
    """Used by one thread, on which `presence` and both timers run what they are given."""

    def __init__(
        self,
        throttle: Throttle,
        notifier: Notifier,
        presence: Presence,
        settings: SettingsInForce,
        deliveries: DeliveryLog,
        *,
        timer: Timer,
        release_timer: Timer,
        clock: Clock = time,
    ) -> None:
        """Of `release_timer` only the latest call counts."""
        self._throttle = throttle
        self._notifier = notifier
        self._presence = presence
        self._settings = settings
        self._deliveries = deliveries
        self._timer = timer
        self._release_timer = release_timer
        self._clock = clock
        self._summaries = itertools.count()
        self._first_looks: list[_Look] = []
        self._held: dict[str, _Look] = {}  # by the alerts' keys, with the next look at each
        self._while_away: list[Alert] = []
        self._waiting: list[str] = []  # records whose alert is deferred
        self._is_closed = False

    @property
    def deferred(self) -> tuple[DeferredAlert, ...]:
        """What waits for its summary, newest first."""
        return self._throttle.deferred

    @property
    def count(self) -> int:
        """How many alerts wait for their summary."""
        return self._throttle.count

    @property
    def snoozed_until(self) -> float | None:
        self._throttle.quiet_until()  # forgets one that is over
        return self._throttle.snoozed_until

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        session = next((one for one in alerts if one.session), None)
        if session is None or self._is_closed or self._mode == "show":
            self._show(alerts, record)
            return
        look = _Look(alerts, record)
        self._first_looks.append(look)
        self._look(session, look)

    def withdraw(self, keys: tuple[str, ...]) -> None:
        """Also what was not shown yet."""
        for key in keys:
            self._held.pop(key, None)
        for look in self._first_looks:
            look.alerts = tuple(one for one in look.alerts if one.key not in keys)
        self._throttle.withdraw(keys)
        self._notifier.withdraw(keys)

    def snooze(self, seconds: float | None) -> None:
        """Defer what is not critical, for so many seconds; None ends that."""
        self._throttle.snooze(seconds)
        self.recheck()

    def recheck(self) -> None:
        """Announce what may be announced now: the time has come, or quiet hours have changed."""
        if summary := self._throttle.release():
            records, self._waiting = self._waiting, []
            self._notifier.announce(summary, *records)
        self._wait()

    def close(self) -> None:
        """Show what the user has not certainly seen, as if they had looked away."""
        self._is_closed = True
        for look in list(self._first_looks):
            self._looked(look, NOTHING_PROVED)
        for key in list(self._held):
            self._release(key)

    # ---- looks

    @property
    def _mode(self) -> str:
        return self._settings.current.while_looking

    def _look(self, one: Alert, look: _Look) -> None:
        self._timer.after(ANSWER_TIMEOUT, partial(self._looked, look, NOTHING_PROVED))
        self._presence.look(one.agent, one.session, partial(self._looked, look))

    def _looked(self, look: _Look, found: Attention) -> None:
        """Use the first answer of a look, and ignore any later one."""
        if look in self._first_looks:
            self._first_looks.remove(look)
            if look.alerts:
                self._after_first_look(look, found)
        elif look in self._held.values():
            self._after_next_look(look, found)

    def _after_first_look(self, look: _Look, found: Attention) -> None:
        if found.is_away:
            self._count_away(look.alerts)
        if not found.is_looking or self._is_closed:
            self._show(look.alerts, look.record)
            return
        quiet = tuple(replace(one, sound="", sound_name="") for one in look.alerts)
        held = quiet if self._mode == "silent" else tuple(one for one in quiet if not _is_held(one))
        self._show(held, look.record)
        for one in look.alerts:
            if self._mode == "hold" and _is_held(one):
                self._hold(one, look.record)

    def _show(self, alerts: tuple[Alert, ...], record: str) -> None:
        for one in alerts:
            self._held.pop(one.key, None)  # a newer one takes its place
        shown = tuple(one for one in alerts if one.notify or one.sound)
        if shown:
            self._offer(shown, record)

    def _offer(self, alerts: tuple[Alert, ...], record: str) -> None:
        """Announce what the throttle allows now, and the rest later."""
        shown = self._throttle.offer(alerts)
        if shown:
            self._notifier.announce(shown, record)
        elif record:
            self._waiting.append(record)
            self._deliveries.alerted((record,), DEFERRED)
        self._wait()

    def _wait(self) -> None:
        due = self._throttle.due()
        if due is not None:
            self._release_timer.after(due, self.recheck)

    # ---- while it is held

    def _hold(self, alert: Alert, record: str) -> None:
        self._wait_for_look(_Look((alert,), record, self._clock.monotonic()))
        if record:
            self._deliveries.alerted((record,), SEEN)

    def _wait_for_look(self, look: _Look) -> None:
        self._held[look.alerts[0].key] = look
        self._timer.after(LOOK_INTERVAL, partial(self._look_again, look))

    def _look_again(self, look: _Look) -> None:
        """Begin a look that is due, if its alert is still held."""
        if look in self._held.values():
            self._look(look.alerts[0], look)

    def _after_next_look(self, look: _Look, found: Attention) -> None:
        key = look.alerts[0].key
        if not found.is_looking:
            self._release(key)
        elif self._clock.monotonic() - look.since >= GLANCE:
            del self._held[key]
        else:
            self._wait_for_look(replace(look))  # whatever still answers this one comes too late

    def _release(self, key: str) -> None:
        look = self._held.pop(key)
        self._offer(look.alerts, look.record)

    # ---- while the user is away

    def _count_away(self, alerts: tuple[Alert, ...]) -> None:
        begins = not self._while_away
        self._while_away += [one for one in alerts if one.notify][: MAX_AWAY - len(self._while_away)]
        if begins and self._while_away:
            self._timer.after(RETURN_INTERVAL, self._look_for_return)

    def _look_for_return(self) -> None:
        if self._while_away and not self._is_closed:
            self._presence.look("", "", self._on_return_look)

    def _on_return_look(self, found: Attention) -> None:
        if not self._while_away or self._is_closed:
            return
        if found.is_away:
            self._timer.after(RETURN_INTERVAL, self._look_for_return)
            return
        away, self._while_away = self._while_away, []
        self._offer((away_summary(away, next(self._summaries)),), "")


def away_summary(alerts: list[Alert], number: int) -> Alert:
    """One for all that came while the user was away."""
    text = say("While you were away: {what}", what=summary_text(alerts))
    return Alert(
        cls=AlertClass.INFORMATION,
        title=APP,
        body=sanitise(text, BODY_LIMIT),
        urgency=Urgency.NORMAL,
        sound="",
        notify=True,
        key=f"{APP}|away|{number}",
        reply=True,
    )


def _is_held(alert: Alert) -> bool:
    return alert.cls in HELD_CLASSES and alert.urgency is not Urgency.CRITICAL
