"""Decides when an alert is shown: at once, in a summary, or only after its user has looked away.

`Throttle` defers alerts above the rate, in quiet hours and while they are snoozed. It always shows critical alerts
and replies to the user's own actions. Of the others it shows at most `RATE` in any minute, and announces the rest in
one summary with exact numbers: "4 turns ended: api, web · 2 blocked: api".

`AlertGate` holds the notification of a turn if its user watched the turn end. That needs proof: the session's pane is
visible, its window has the keyboard, and it was used a moment ago. Without proof, or if the desktop answers too late,
the gate holds nothing. It shows a held notification after all if the user looks away within `GLANCE` seconds, and
notes it as seen otherwise.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.clock import Clock
from tray.event_loop import Timer
from tray.language import count, say
from tray.notify.alert import (
    APP,
    BODY_LIMIT,
    COUNT_PHRASES,
    Alert,
    AlertClass,
    SettingsInForce,
    Urgency,
    quiet_until,
)
from tray.notify.notifier import DeliveryLog, Notifier
from tray.text import sanitise

RATE = 6  # notifications in any minute that are not critical
MINUTE = 60.0
BURST = 5  # of them that may follow each other at once; the others wait `SPACING`
SPACING = 10.0  # seconds
NAMED = 3  # projects that a summary names of each class
LIST_LIMIT = 50  # deferred alerts that can be listed
DEFERRED = "held"  # the journal's word for such a delivery

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
        push: Callable[[tuple[Alert, ...], str], None],
        timer: Timer,
        release_timer: Timer,
        clock: Clock = time,
    ) -> None:
        """`push` gets the alerts for push services. A new call of `release_timer` replaces the one before."""
        self._throttle = throttle
        self._notifier = notifier
        self._presence = presence
        self._settings = settings
        self._deliveries = deliveries
        self._push = push
        self._timer = timer
        self._release_timer = release_timer
        self._clock = clock
        self._summaries = itertools.count()
        self._first_looks: list[_Look] = []
        self._held: dict[str, _Look] = {}  # by the alerts' keys, with the next look at each
        self._while_away: list[Alert] = []
        self._waiting: list[str] = []  # records whose alert is deferred
        self._is_closed = False

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        """Shows the alerts on the desktop, now or later, and gives them to the push services."""
        due = tuple(one for one in alerts if one.notify or one.sound)
        if not due:
            return
        session = next((one for one in due if one.session), None)
        if session is None or self._is_closed or self._settings.current.while_looking == "show":
            self._show(due, record)
        else:
            look = _Look(due, record)
            self._first_looks.append(look)
            self._look(session, look)
        self._push(due, record)

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
        mode = self._settings.current.while_looking
        quiet = tuple(replace(one, sound="", sound_name="") for one in look.alerts)
        self._show(tuple(one for one in quiet if mode == "silent" or not _is_held(one)), look.record)
        for one in look.alerts:
            if mode == "hold" and _is_held(one):
                self._wait_for_look(_Look((one,), look.record, self._clock.monotonic()))
                if look.record:
                    self._deliveries.alerted((look.record,), SEEN)

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


def away_summary(alerts: Iterable[Alert], number: int) -> Alert:
    """One for all that came while the user was away."""
    groups: dict[AlertClass, _Group] = {}
    for one in alerts:
        groups.setdefault(one.cls, _Group()).add(one)
    text = say("While you were away: {what}", what=_groups_text(groups))
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


class DeferredAlert(msgspec.Struct, frozen=True):
    """One alert that waits for a summary."""

    at: float
    alert: Alert


class _Group(msgspec.Struct):
    count: int = 0
    projects: dict[str, None] = {}  # at most one more than a summary names

    def add(self, alert: Alert) -> None:
        self.count += 1
        name = alert.project or alert.title
        if name != APP and len(self.projects) <= NAMED:
            self.projects[name] = None


class Throttle:
    """`offer` an alert, `release` what waits when it is `due`. Used by one thread."""

    def __init__(self, settings: SettingsInForce, clock: Clock = time) -> None:
        self.snoozed_until: float | None = None
        self.quiet_hours_on = True  # whether the quiet hours of the settings count
        self._settings = settings
        self._clock = clock
        self._shown: deque[float] = deque(maxlen=RATE)
        self._groups: dict[AlertClass, _Group] = {}
        self._deferred: deque[DeferredAlert] = deque(maxlen=LIST_LIMIT)
        self._loudest: Alert | None = None
        self._apart: dict[str, Alert] = {}  # that wait beside the summary, the last of each key
        self._summaries = 0

    @property
    def deferred(self) -> tuple[DeferredAlert, ...]:
        """What waits, newest first; at most `LIST_LIMIT` of them."""
        return tuple(reversed(self._deferred))

    @property
    def count(self) -> int:
        """How many wait, exactly."""
        return sum(group.count for group in self._groups.values()) + len(self._apart)

    def snooze(self, seconds: float | None) -> None:
        """Defer everything that is not critical, for so long; None ends that."""
        self.snoozed_until = None if seconds is None else self._clock.time() + seconds

    def quiet_until(self) -> float | None:
        """Until when alerts are deferred; None when they are not."""
        now = self._clock.time()
        if self.snoozed_until is not None and self.snoozed_until <= now:
            self.snoozed_until = None
        hours = self._settings.current.quiet_hours if self.quiet_hours_on else None
        return max(filter(None, (quiet_until(hours, now), self.snoozed_until)), default=None)

    def offer(self, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
        """Those of them that are shown now."""
        now, quiet = self._clock.time(), self.quiet_until()
        return tuple(shown for alert in alerts if (shown := self._offer(alert, now, quiet)) is not None)

    def withdraw(self, keys: Collection[str]) -> None:
        """Remove what waits under these keys; what the list has dropped stays counted."""
        gone = [one for one in self._deferred if one.alert.key in keys]
        for one in gone:
            self._deferred.remove(one)
            if one.alert.apart:
                self._apart.pop(one.alert.key, None)
                continue
            self._groups[one.alert.cls].count -= 1
            if not self._groups[one.alert.cls].count:
                del self._groups[one.alert.cls]

    def due(self) -> float | None:
        """Seconds until what waits may be announced; None when nothing waits."""
        if not self._groups and not self._apart:
            return None
        now = self._clock.time()
        return max((self.quiet_until() or now) - now, self._next_slot(now) - now, 0.0)

    def release(self) -> tuple[Alert, ...]:
        """The summary of what waits, if it may be announced now."""
        if self.due() != 0:
            return ()
        now, deferred, apart = self._clock.time(), self._deferred, tuple(self._apart.values())
        summed = self.count - len(apart)
        last = next((one.alert for one in reversed(deferred) if not one.alert.apart), None)
        summary = () if last is None or not summed else (last if summed == 1 else self._summary(),)
        self._groups, self._deferred, self._loudest, self._apart = {}, deque(maxlen=LIST_LIMIT), None, {}
        self._shown.append(now)
        return (*apart, *summary)

    def _offer(self, alert: Alert, now: float, quiet: float | None) -> Alert | None:
        if alert.urgency is Urgency.CRITICAL or alert.reply or not alert.notify:  # only a sound takes no slot
            silent = replace(alert, sound="", sound_name="") if quiet is not None else alert
            return silent if silent.notify or silent.sound else None
        if quiet is None and not self._groups and not self._apart and self._next_slot(now) <= now:
            self._shown.append(now)
            return alert
        self._defer(alert, now)
        return None

    def _next_slot(self, now: float) -> float:
        """When the next one may be shown."""
        recent = [at for at in self._shown if now - at < MINUTE]
        if len(recent) < BURST:
            return now
        full = recent[0] + MINUTE if len(recent) >= RATE else now
        return max(full, recent[-1] + SPACING)

    def _defer(self, alert: Alert, now: float) -> None:
        self._deferred.append(DeferredAlert(now, alert))
        if alert.apart:
            self._apart[alert.key] = alert
            return
        self._groups.setdefault(alert.cls, _Group()).add(alert)
        if alert.sound and (self._loudest is None or alert.urgency > self._loudest.urgency):
            self._loudest = alert

    def _summary(self) -> Alert:
        """Each has a key of its own: a later one must not take an earlier one's counts off the screen."""
        self._summaries += 1
        loud = self._loudest
        most = max((one for one in self._deferred if not one.alert.apart), key=attrgetter("alert.urgency")).alert
        return Alert(
            cls=most.cls,
            title=f"{APP} · " + count("{n} alert", "{n} alerts", self.count - len(self._apart)),
            body=sanitise(_groups_text(self._groups), BODY_LIMIT),
            urgency=most.urgency,
            sound=loud.sound if loud else "",
            sound_name=loud.sound_name if loud else "",
            category=loud.category if loud else "",
            notify=True,
            key=f"{APP}|summary|{self._summaries}",
        )


def _groups_text(groups: Mapping[AlertClass, _Group]) -> str:
    """`4 turns ended: api, web … · 2 blocked: api`."""
    parts = []
    for cls, group in groups.items():
        names = ", ".join(sanitise(name, 30) for name in list(group.projects)[:NAMED])
        more = " …" if len(group.projects) > NAMED else ""
        parts.append(count(*COUNT_PHRASES[cls], group.count) + (f": {names}{more}" if names else ""))
    return " · ".join(parts)
