"""Which alerts are shown now and which are deferred, so that no storm is loud and nothing is lost.

Critical alerts are always shown, and so are replies to the user's own actions. Of the others at most `RATE` are shown
in any minute; what exceeds that, and what comes in quiet hours, is counted exactly and announced in one summary:
"4 turns ended: api, web · 2 blocked: api". `AlertGate` passes on what `Throttle` allows.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from tray.clock import Clock
from tray.language import count
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
from tray.text import sanitise

RATE = 6  # notifications in any minute that are not critical
MINUTE = 60.0
BURST = 5  # of them that may follow each other at once; the others wait `SPACING`
SPACING = 10.0  # seconds
NAMED = 3  # projects that a summary names of each class
LIST_LIMIT = 50  # deferred alerts that can be listed
DEFERRED = "held"  # the journal's word for such a delivery


class DeferredAlert(msgspec.Struct, frozen=True):
    """One alert that waits for a summary."""

    at: float
    alert: Alert


class _Group(msgspec.Struct):
    count: int = 0
    projects: dict[str, None] | None = None

    def add(self, alert: Alert) -> None:
        self.count += 1
        name = alert.project or alert.title
        if self.projects is not None and name != APP and len(self.projects) <= NAMED:
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
        self._groups.setdefault(alert.cls, _Group(projects={})).add(alert)
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


def summary_text(alerts: Iterable[Alert]) -> str:
    """`4 turns ended: api, web · 2 blocked: api`."""
    groups: dict[AlertClass, _Group] = {}
    for one in alerts:
        groups.setdefault(one.cls, _Group(projects={})).add(one)
    return _groups_text(groups)


def _groups_text(groups: Mapping[AlertClass, _Group]) -> str:
    return " · ".join(_summary_part(cls, group) for cls, group in groups.items())


def _summary_part(cls: AlertClass, group: _Group) -> str:
    """`4 turns ended: api, web …`"""
    names = list(group.projects or ())
    more = " …" if len(names) > NAMED else ""
    of = f": {', '.join(sanitise(name, 30) for name in names[:NAMED])}{more}" if names else ""
    return f"{count(*COUNT_PHRASES[cls], group.count)}{of}"
