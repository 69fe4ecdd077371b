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
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from tray.language import say
from tray.notify.alert import APP, BODY_LIMIT, Alert, AlertClass, Urgency
from tray.notify.throttle import DEFERRED, DeferredAlert, Throttle, summary_text
from tray.text import sanitise

GLANCE = 10.0  # seconds for which the attention must stay
LOOK_INTERVAL = 1.0  # seconds between two looks at a session whose notification is held
ANSWER_TIMEOUT = 1.0  # seconds that the first look may take
RETURN_INTERVAL = 10.0  # seconds between two checks whether the user is back
HELD_CLASSES = frozenset({AlertClass.TURN_END})  # nothing else is ever held (RULINGS 39)
SEEN = "seen"
MAX_AWAY = 200  # alerts of one absence that its summary counts

Mode = Literal["hold", "silent", "show"]


class Attention(msgspec.Struct, frozen=True):
    """What is proved: that the user looks at the session, and that the user is away."""

    is_looking: bool = False
    is_away: bool = False


Look = Callable[[str, str, Callable[[Attention], None]], object]


def prove_nothing(agent: str, session: str, answer: Callable[[Attention], None]) -> None:
    """The Look of a desktop that cannot find out whether the user looks."""
    answer(Attention())


class NotificationSink(Protocol):
    """What the gate needs of a Notifier."""

    def announce(self, alerts: tuple[Alert, ...], *records: str) -> None: ...
    def withdraw(self, keys: tuple[str, ...]) -> None: ...


class _Asked(msgspec.Struct):
    """Alerts that wait for the answer of the first look."""

    alerts: tuple[Alert, ...]
    record: str


class _Held(msgspec.Struct):
    """An alert that was not shown, since its user looks."""

    alert: Alert
    record: str
    since: float


class AlertGate:
    """Used by one thread. `look(agent, session, answer)` calls `answer` once, later and on that thread, or never;
    `later(seconds, work)` runs work on it. With an agent of "" it finds out only whether the user is there.
    """

    def __init__(
        self,
        throttle: Throttle,
        notifier: NotificationSink,
        look: Look,
        later: Callable[[float, Callable[[], None]], None],
        *,
        at_release: Callable[[float, Callable[[], None]], None],
        mode: Callable[[], Mode],
        on_delivery: Callable[[tuple[str, ...], str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`at_release` is like `later`, but only its latest call counts."""
        self._throttle = throttle
        self._notifier = notifier
        self._look = look
        self._later = later
        self._at_release = at_release
        self._mode = mode
        self._on_delivery = on_delivery
        self._clock = clock
        self._numbers = itertools.count()
        self._asked: dict[int, _Asked] = {}
        self._held: dict[str, _Held] = {}  # by the alerts' keys
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
        if session is None or self._is_closed or self._mode() == "show":
            self._show(alerts, record)
            return
        number = next(self._numbers)
        self._asked[number] = _Asked(alerts, record)
        self._later(ANSWER_TIMEOUT, lambda: self._answered(number, Attention()))
        self._look(session.agent, session.session, lambda found: self._answered(number, found))

    def withdraw(self, keys: tuple[str, ...]) -> None:
        """Also what was not shown yet."""
        for key in keys:
            self._held.pop(key, None)
        for asked in self._asked.values():
            asked.alerts = tuple(one for one in asked.alerts if one.key not in keys)
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
        for number in list(self._asked):
            self._answered(number, Attention())
        for key in list(self._held):
            self._release(key)

    # ---- the first look

    def _answered(self, number: int, found: Attention) -> None:
        """The first answer counts; without one in time the user counts as not looking."""
        asked = self._asked.pop(number, None)
        if asked is None or not asked.alerts:
            return
        if found.is_away:
            self._count_away(asked.alerts)
        if not found.is_looking or self._is_closed:
            self._show(asked.alerts, asked.record)
            return
        quiet = tuple(replace(one, sound="", sound_name="") for one in asked.alerts)
        held = quiet if self._mode() == "silent" else tuple(one for one in quiet if not _is_held(one))
        self._show(held, asked.record)
        for one in asked.alerts:
            if self._mode() == "hold" and _is_held(one):
                self._hold(one, asked.record)

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
            self._on_delivery((record,), DEFERRED)
        self._wait()

    def _wait(self) -> None:
        due = self._throttle.due()
        if due is not None:
            self._at_release(due, self.recheck)

    # ---- while it is held

    def _hold(self, alert: Alert, record: str) -> None:
        self._held[alert.key] = _Held(alert, record, self._clock())
        if record:
            self._on_delivery((record,), SEEN)
        self._later(LOOK_INTERVAL, lambda: self._look_again(alert.key, record))

    def _look_again(self, key: str, record: str) -> None:
        held = self._held.get(key)
        if held is None or held.record != record:
            return
        answered = False

        def answer(found: Attention) -> None:
            nonlocal answered
            if answered or self._held.get(key) is not held:
                return
            answered = True
            if not found.is_looking:
                self._release(key)
            elif self._clock() - held.since >= GLANCE:
                del self._held[key]
            else:
                self._later(LOOK_INTERVAL, lambda: self._look_again(key, record))

        self._later(ANSWER_TIMEOUT, lambda: answer(Attention()))
        self._look(held.alert.agent, held.alert.session, answer)

    def _release(self, key: str) -> None:
        held = self._held.pop(key)
        self._offer((held.alert,), held.record)

    # ---- while the user is away

    def _count_away(self, alerts: tuple[Alert, ...]) -> None:
        begins = not self._while_away
        self._while_away += [one for one in alerts if one.notify][: MAX_AWAY - len(self._while_away)]
        if begins and self._while_away:
            self._later(RETURN_INTERVAL, self._look_for_return)

    def _look_for_return(self) -> None:
        if self._while_away and not self._is_closed:
            self._look("", "", self._on_return_look)

    def _on_return_look(self, found: Attention) -> None:
        if not self._while_away or self._is_closed:
            return
        if found.is_away:
            self._later(RETURN_INTERVAL, self._look_for_return)
            return
        away, self._while_away = self._while_away, []
        self._offer((away_summary(away, next(self._numbers)),), "")


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
