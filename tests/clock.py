"""A clock that the test sets. Stand-in for the `time` module."""

from __future__ import annotations


class Clock:
    """Both times are `now`, which the test changes."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now
