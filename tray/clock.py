"""The clock that parts read: the `time` module, or in a test one that the test sets."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """`time` is in seconds since the epoch; `monotonic` is in seconds and never goes back. The `time` module is one."""

    def time(self) -> float: ...
    def monotonic(self) -> float: ...
