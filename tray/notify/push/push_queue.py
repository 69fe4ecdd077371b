"""Which alerts are pushed where and when: once an event and target, again only where nothing can have arrived."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from tray.clock import Clock
from tray.event_loop import Timer
from tray.notify.alert import Alert, SettingsInForce, Urgency
from tray.notify.alert_gate import Attention, Presence, Throttle
from tray.notify.push import message
from tray.notify.push.message import RETRIED, PushMessage, PushResult, PushStatus
from tray.notify.push.sender import SendRequest
from tray.notify.push.sender_process import PushProcesses
from tray.recent import Recent
from tray.settings import PushTarget
from tray.text import push_urls
from tray.threads import Workers

RETRIES = (2.0, 10.0, 60.0, 300.0)  # seconds after which it is sent again
RATE = 20  # messages to one target in any minute; more are counted in one
MINUTE = 60.0
MEMORY_LIMIT = 512  # events that were pushed
WAITING_LIMIT = 64  # messages under way
UNEXPECTED = PushResult(PushStatus.UNKNOWN, "an unexpected error, see the log: it may have arrived")

log = logging.getLogger(__name__)


class _Delivery(msgspec.Struct):
    """A message on its way to its service: sent in a thread of its own, and again when its service asks for it."""

    message: PushMessage
    tries: int = 0
    result: PushResult = UNEXPECTED


class PushQueue:
    """Sends alerts to push services; the desktop gets the same alerts first.

    One thread calls it, on which `presence` and `timer` run what they are given.
    """

    def __init__(
        self,
        settings: SettingsInForce,
        *,
        presence: Presence,
        throttle: Throttle,
        timer: Timer,
        workers: Workers,
        folder: Path,
        processes: PushProcesses,
        clock: Clock = time,
    ) -> None:
        """`folder` is where URLs are kept without a keyring."""
        self._settings = settings
        self._presence = presence
        self._throttle = throttle
        self._timer = timer
        self._workers = workers
        self._folder = folder
        self._processes = processes
        self._clock = clock
        self._pushed: Recent[tuple[str, str], None] = Recent(MEMORY_LIMIT)  # (event, target)
        self._recent: dict[str, deque[float]] = {}  # when each target got one
        self._surplus: dict[str, int] = {}
        self._under_way = 0
        self._kept: set[str] = set()
        self._problems: dict[str, str] = {}  # of each target whose last message failed

    @property
    def problem(self) -> str:
        """What went wrong last with each target, for the doctor; "" when nothing did."""
        return "; ".join(self._problems.values())

    def close(self) -> None:
        """Messages under way have a moment."""
        self._processes.close()

    def push(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        """What left the machine cannot be taken back."""
        settings = self._settings.current
        if not settings.push:
            return
        due = alerts
        if self._throttle.quiet_until() is not None:
            due = tuple(one for one in alerts if one.urgency is Urgency.CRITICAL)
        always, away = ([one for one in settings.push if one.when == when] for when in ("always", "away"))
        self._push(always, due, record)
        if any(message.wanted(one, due) for one in away):
            self._presence.look("", "", partial(self._push_if_away, away, due, record))

    def refresh(self) -> None:
        """The settings may be others. Their URLs are kept, so that the next edit, which waits, takes none away."""
        targets = self._settings.current.push
        self._problems = {one.url: self._problems[one.url] for one in targets if one.url in self._problems}
        fresh = [one.url for one in targets if push_urls.reference(one.url) != one.url and one.url not in self._kept]
        if fresh:
            self._kept.update(fresh)
            self._workers.spawn(partial(self._processes.run, SendRequest(folder=str(self._folder), keep=fresh)))

    def _push_if_away(
        self, targets: Sequence[PushTarget], alerts: tuple[Alert, ...], record: str, found: Attention
    ) -> None:
        if found.is_away:
            self._push(targets, alerts, record)

    def _push(self, targets: Sequence[PushTarget], alerts: tuple[Alert, ...], record: str) -> None:
        show_input = self._settings.current.show_input
        for target in targets:
            alert = message.wanted(target, alerts)
            if alert is None or not self._is_first(target, alert, record):
                continue
            if self._has_room(target.url):
                self._begin(_Delivery(message.message(target, alert, show_input=show_input)))
            else:
                self._count(target.url)

    def _is_first(self, target: PushTarget, alert: Alert, record: str) -> bool:
        """At most one message an event and target, also when its question and its decision are announced."""
        known = (alert.event or record, target.url)
        if not known[0]:
            return True
        if known in self._pushed:
            return False
        self._pushed[known] = None
        return True

    def _has_room(self, url: str) -> bool:
        now = self._clock.monotonic()
        recent = self._recent.setdefault(url, deque(maxlen=RATE))
        if len(recent) == RATE and now - recent[0] < MINUTE:
            return False
        recent.append(now)
        return True

    def _count(self, url: str) -> None:
        begins = url not in self._surplus
        self._surplus[url] = self._surplus.get(url, 0) + 1
        if begins:
            self._timer.after(MINUTE, lambda: self._begin(_Delivery(message.summary(url, self._surplus.pop(url)))))

    # ---- one message

    def _begin(self, one: _Delivery) -> None:
        if self._under_way >= WAITING_LIMIT:
            one.tries, one.result = len(RETRIES), PushResult(PushStatus.UNREACHED, "too many others wait")
            self._record(one)
            return
        self._under_way += 1
        one.result = UNEXPECTED
        if not self._workers.spawn(partial(self._send, one)):
            one.result = PushResult(PushStatus.UNREACHED, "no thread could be started for it")
            self._end(one)

    def _send(self, one: _Delivery) -> None:
        """Send it, in a thread of its own."""
        request = SendRequest(folder=str(self._folder), message=one.message)
        try:
            one.result = self._processes.run(request).result or PushResult(PushStatus.UNKNOWN)
        finally:
            self._timer.after(0, partial(self._end, one))

    def _end(self, one: _Delivery) -> None:
        """Record the result, and send the message again if it cannot have arrived."""
        self._under_way -= 1
        self._record(one)

    def _record(self, one: _Delivery) -> None:
        url, result = one.message.url, one.result
        if result.status is PushStatus.SENT:
            self._problems.pop(url, None)
            return
        self._problems[url] = text = message.sentence(url, result)
        if result.status in RETRIED and one.tries < len(RETRIES):
            one.tries += 1
            self._timer.after(RETRIES[one.tries - 1], partial(self._begin, one))
        else:
            log.warning("push: %s", text)
