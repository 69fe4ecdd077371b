"""Stands before the announcer: lets through what the pace allows, and tells the rest when its time has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.alerts.alert import Alert
from tray.alerts.pace import Held, Pace

HELD = "held"


class Announces(Protocol):
    """What it needs of an Announcer."""

    def announce(self, alerts: tuple[Alert, ...], *records: str) -> None: ...
    def withdraw(self, keys: tuple[str, ...]) -> None: ...


class Pacing:
    """Used by one thread; `later(seconds, work)` brings work back to that thread, the latest call alone counts."""

    def __init__(
        self,
        pace: Pace,
        announcer: Announces,
        later: Callable[[float, Callable[[], None]], None],
        heard: Callable[[tuple[str, ...], str], None],
    ) -> None:
        self._pace = pace
        self._announcer = announcer
        self._later = later
        self._heard = heard
        self._waiting: list[str] = []  # records whose alert is held back

    @property
    def held(self) -> tuple[Held, ...]:
        return self._pace.held

    @property
    def count(self) -> int:
        return self._pace.count

    @property
    def snoozed_until(self) -> float | None:
        self._pace.quiet_until()  # forgets one that is over
        return self._pace.snoozed

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        shown = self._pace.offer(alerts)
        if shown:
            self._announcer.announce(shown, record)
        elif record and alerts:
            self._waiting.append(record)
            self._heard((record,), HELD)
        self._wait()

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self._announcer.withdraw(keys)

    def snooze(self, seconds: float | None) -> None:
        """Hold back what is not critical, for so many seconds; None ends that."""
        self._pace.snooze(seconds)
        self._release()

    def look(self) -> None:
        """How things stand has changed: tell what may be told now."""
        self._release()

    def _release(self) -> None:
        if told := self._pace.release():
            records, self._waiting = self._waiting, []
            self._announcer.announce(told, *records)
        self._wait()

    def _wait(self) -> None:
        due = self._pace.due()
        if due is not None:
            self._later(due, self._release)
