"""A clock that the test sets. Stand-in for the `time` module."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class Clock:
    """Both times are `now`, which the test changes."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now


class Timeline(Clock):
    """A clock that advances when the test waits, and runs the timers that are due."""

    def __init__(self, now: float = 1000.0) -> None:
        super().__init__(now)
        self._numbers = itertools.count()
        self._timers: list[tuple[float, int, Callable[[], object]]] = []

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        heapq.heappush(self._timers, (self.now + seconds, next(self._numbers), work))

    def wait(self, seconds: float = 1.0) -> None:
        until = self.now + seconds
        while self._timers and self._timers[0][0] <= until:
            self.now, _, work = heapq.heappop(self._timers)
            work()
        self.now = until
