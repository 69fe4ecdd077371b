"""Which alerts are pushed where and when: once an event and target, again only where nothing can have arrived."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from tray.notify.alert import Alert, Urgency
from tray.notify.push import message
from tray.notify.push.message import RETRIED, PushMessage, PushResult, PushStatus
from tray.notify.push.sender import SendRequest
from tray.notify.push.sender_process import PushProcesses
from tray.settings import PushTarget, Settings
from tray.text import push_urls

RETRIES = (2.0, 10.0, 60.0, 300.0)  # seconds after which it is sent again
RATE = 20  # messages to one target in any minute; more are counted in one
MINUTE = 60.0
MEMORY_LIMIT = 512  # events that were pushed
WAITING_LIMIT = 64  # messages under way
UNEXPECTED = PushResult(PushStatus.UNKNOWN, "an unexpected error, see the log: it may have arrived")

Later = Callable[[float, Callable[[], None]], None]
IsAway = Callable[[Callable[[bool], None]], object]

log = logging.getLogger(__name__)


class PushQueue:
    """Sends alerts to push services; the desktop gets the same alerts first. One thread calls it.

    `is_away(answer)` calls `answer` on that thread with whether the user is away; `later(seconds, work)` runs
    work on it; `spawn` runs work on another one.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        *,
        is_away: IsAway,
        is_quiet: Callable[[], bool],
        later: Later,
        spawn: Callable[[Callable[[], object]], bool],
        folder: Path,
        processes: PushProcesses,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`folder` is where URLs are kept without a keyring."""
        self._settings = settings
        self._is_away = is_away
        self._is_quiet = is_quiet
        self._later = later
        self._spawn = spawn
        self._folder = folder
        self._processes = processes
        self._clock = clock
        self._pushed: dict[tuple[str, str], None] = {}  # events with their target
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
        settings = self._settings()
        if not settings.push:
            return
        due = alerts
        if self._is_quiet():
            due = tuple(one for one in alerts if one.urgency is Urgency.CRITICAL)
        always, away = ([one for one in settings.push if one.when == when] for when in ("always", "away"))
        self._push(always, due, record)
        if any(message.wanted(one, due) for one in away):
            self._is_away(lambda found: self._push(away, due, record) if found else None)

    def refresh(self) -> None:
        """The settings may be others. Their URLs are kept, so that the next edit, which waits, takes none away."""
        targets = self._settings().push
        self._problems = {one.url: self._problems[one.url] for one in targets if one.url in self._problems}
        fresh = [one.url for one in targets if push_urls.reference(one.url) != one.url and one.url not in self._kept]
        if fresh:
            self._kept.update(fresh)
            self._spawn(lambda: self._processes.run(SendRequest(folder=str(self._folder), keep=fresh)))

    def _push(self, targets: Sequence[PushTarget], alerts: tuple[Alert, ...], record: str) -> None:
        show_input = self._settings().show_input
        for target in targets:
            alert = message.wanted(target, alerts)
            if alert is None or not self._is_first(target, alert, record):
                continue
            if self._has_room(target.url):
                self._send(message.message(target, alert, show_input=show_input))
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
        if len(self._pushed) > MEMORY_LIMIT:
            self._pushed.pop(next(iter(self._pushed)))
        return True

    def _has_room(self, url: str) -> bool:
        now = self._clock()
        recent = self._recent.setdefault(url, deque(maxlen=RATE))
        if len(recent) == RATE and now - recent[0] < MINUTE:
            return False
        recent.append(now)
        return True

    def _count(self, url: str) -> None:
        begins = url not in self._surplus
        self._surplus[url] = self._surplus.get(url, 0) + 1
        if begins:
            self._later(MINUTE, lambda: self._send(message.summary(url, self._surplus.pop(url))))

    # ---- one message

    def _send(self, one: PushMessage, tries: int = 0) -> None:
        if self._under_way >= WAITING_LIMIT:
            self._ended(one, PushResult(PushStatus.UNREACHED, "too many others wait"), len(RETRIES))
            return
        self._under_way += 1
        request = SendRequest(folder=str(self._folder), message=one)

        def work() -> None:
            result: PushResult | None = UNEXPECTED
            try:
                result = self._processes.run(request).result
            finally:
                self._later(0, lambda: self._came_back(one, result, tries))

        if not self._spawn(work):
            self._came_back(one, PushResult(PushStatus.UNREACHED, "no thread could be started for it"), tries)

    def _came_back(self, one: PushMessage, result: PushResult | None, tries: int) -> None:
        self._under_way -= 1
        self._ended(one, result or PushResult(PushStatus.UNKNOWN), tries)

    def _ended(self, one: PushMessage, result: PushResult, tries: int) -> None:
        if result.status is PushStatus.SENT:
            self._problems.pop(one.url, None)
            return
        self._problems[one.url] = text = message.sentence(one.url, result)
        if result.status in RETRIED and tries < len(RETRIES):
            self._later(RETRIES[tries], lambda: self._send(one, tries + 1))
        else:
            log.warning("push: %s", text)
