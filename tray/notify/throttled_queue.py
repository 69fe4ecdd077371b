"""In front of the notification queue: passes on what the throttle allows now, and the rest later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.notify.alert import Alert
from tray.notify.throttle import DeferredAlert, Throttle

DEFERRED = "held"


class NotificationSink(Protocol):
    """What it needs of a NotificationQueue."""

    def announce(self, alerts: tuple[Alert, ...], *records: str) -> None: ...
    def withdraw(self, keys: tuple[str, ...]) -> None: ...


class ThrottledQueue:
    """Used by one thread; `later(seconds, work)` runs work on that thread; only the latest call counts."""

    def __init__(
        self,
        throttle: Throttle,
        queue: NotificationSink,
        later: Callable[[float, Callable[[], None]], None],
        on_delivery: Callable[[tuple[str, ...], str], None],
    ) -> None:
        self._throttle = throttle
        self._queue = queue
        self._later = later
        self._on_delivery = on_delivery
        self._waiting: list[str] = []  # records whose alert is deferred

    @property
    def deferred(self) -> tuple[DeferredAlert, ...]:
        return self._throttle.deferred

    @property
    def count(self) -> int:
        return self._throttle.count

    @property
    def snoozed_until(self) -> float | None:
        self._throttle.quiet_until()  # forgets one that is over
        return self._throttle.snoozed_until

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        shown = self._throttle.offer(alerts)
        if shown:
            self._queue.announce(shown, record)
        elif record and alerts:
            self._waiting.append(record)
            self._on_delivery((record,), DEFERRED)
        self._wait()

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self._queue.withdraw(keys)

    def snooze(self, seconds: float | None) -> None:
        """Defer what is not critical, for so many seconds; None ends that."""
        self._throttle.snooze(seconds)
        self._release()

    def recheck(self) -> None:
        """Quiet hours have changed: announce what may be announced now."""
        self._release()

    def _release(self) -> None:
        if summary := self._throttle.release():
            records, self._waiting = self._waiting, []
            self._queue.announce(summary, *records)
        self._wait()

    def _wait(self) -> None:
        due = self._throttle.due()
        if due is not None:
            self._later(due, self._release)
