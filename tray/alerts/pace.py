"""Pure: which alerts are shown now and which are held back, so that no storm is loud and nothing is lost.

Critical alerts are always shown, and so is what answers the user's own hand. Of the others at most `RATE` are shown
in any minute; what is more, and what comes while it is quiet, is counted exactly and told in one summary:
"4 turns ended: api, web · 2 blocked: api".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tray.alerts.alert import APP, BODY_LIMIT, WORDS, Alert, AlertClass, Urgency
from tray.language import count
from tray.text import sanitise

RATE = 6  # notifications in any minute that are not critical
MINUTE = 60.0
AT_ONCE = 5  # of them that may follow each other at once; the others keep `APART`
APART = 10.0  # seconds
NAMED = 3  # projects that a summary names of each class
LISTED = 50  # alerts that were held back and can be listed


@dataclass(frozen=True, slots=True)
class Held:
    """One alert that waits for a summary."""

    at: float
    alert: Alert


@dataclass(slots=True)
class _Pile:
    count: int = 0
    projects: dict[str, None] | None = None


class Pace:
    """`offer` an alert, `release` what waits when `due` says so. One thread uses it; `quiet` says until when."""

    def __init__(self, clock: Callable[[], float], quiet: Callable[[float], float | None]) -> None:
        self.snoozed: float | None = None
        self._clock = clock
        self._quiet = quiet
        self._shown: deque[float] = deque(maxlen=RATE)
        self._piles: dict[AlertClass, _Pile] = {}
        self._held: deque[Held] = deque(maxlen=LISTED)
        self._sounding: Alert | None = None
        self._summaries = 0

    @property
    def held(self) -> tuple[Held, ...]:
        """What waits, newest first; at most `LISTED` of them."""
        return tuple(reversed(self._held))

    @property
    def count(self) -> int:
        """How many wait, exactly."""
        return sum(pile.count for pile in self._piles.values())

    def snooze(self, seconds: float | None) -> None:
        """Hold everything back that is not critical, for so long; None ends that."""
        self.snoozed = None if seconds is None else self._clock() + seconds

    def quiet_until(self) -> float | None:
        """Until when alerts are held back; None when they are not."""
        now = self._clock()
        if self.snoozed is not None and self.snoozed <= now:
            self.snoozed = None
        return max(filter(None, (self._quiet(now), self.snoozed)), default=None)

    def offer(self, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
        """Those of them that are shown now."""
        now, quiet = self._clock(), self.quiet_until()
        return tuple(shown for alert in alerts if (shown := self._offer(alert, now, quiet)) is not None)

    def due(self) -> float | None:
        """Seconds until what waits may be told; None when nothing waits."""
        if not self._piles:
            return None
        now = self._clock()
        return max((self.quiet_until() or now) - now, self._room(now) - now, 0.0)

    def release(self) -> tuple[Alert, ...]:
        """The summary of what waits, if it may be told now."""
        if self.due() != 0:
            return ()
        now, held = self._clock(), self._held
        said = held[-1].alert if self.count == 1 else self._summary()
        self._piles, self._held, self._sounding = {}, deque(maxlen=LISTED), None
        self._shown.append(now)
        return (said,)

    def _offer(self, alert: Alert, now: float, quiet: float | None) -> Alert | None:
        if alert.urgency is Urgency.CRITICAL or alert.reply or not alert.notify:  # what is only heard takes no room
            silent = replace(alert, sound="", sound_name="") if quiet is not None else alert
            return silent if silent.notify or silent.sound else None
        if quiet is None and not self._piles and self._room(now) <= now:
            self._shown.append(now)
            return alert
        self._hold(alert, now)
        return None

    def _room(self, now: float) -> float:
        """When the next one may be shown."""
        recent = [at for at in self._shown if now - at < MINUTE]
        if len(recent) < AT_ONCE:
            return now
        full = recent[0] + MINUTE if len(recent) >= RATE else now
        return max(full, recent[-1] + APART)

    def _hold(self, alert: Alert, now: float) -> None:
        pile = self._piles.setdefault(alert.cls, _Pile(projects={}))
        pile.count += 1
        name = alert.project or alert.title
        if pile.projects is not None and name != APP and len(pile.projects) <= NAMED:
            pile.projects[name] = None
        self._held.append(Held(now, alert))
        if alert.sound and (self._sounding is None or alert.urgency > self._sounding.urgency):
            self._sounding = alert

    def _summary(self) -> Alert:
        """Each has a key of its own: a later one must not take an earlier one's counts off the screen."""
        self._summaries += 1
        loud = self._sounding
        most = max(self._held, key=lambda held: held.alert.urgency).alert
        return Alert(
            cls=most.cls,
            title=f"{APP} · {count('{n} alert', '{n} alerts', self.count)}",
            body=sanitise(" · ".join(_told(cls, pile) for cls, pile in self._piles.items()), BODY_LIMIT),
            urgency=most.urgency,
            sound=loud.sound if loud else "",
            sound_name=loud.sound_name if loud else "",
            notify=True,
            key=f"{APP}|summary|{self._summaries}",
        )


def _told(cls: AlertClass, pile: _Pile) -> str:
    """`4 turns ended: api, web …`"""
    names = list(pile.projects or ())
    more = " …" if len(names) > NAMED else ""
    of = f": {', '.join(sanitise(name, 30) for name in names[:NAMED])}{more}" if names else ""
    return f"{count(*WORDS[cls], pile.count)}{of}"
