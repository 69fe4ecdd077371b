"""The clock that parts read: the `time` module, or in a test one that the test sets."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """`time` is seconds since the epoch; `monotonic` is seconds that never go back. The module `time` is one."""

    def time(self) -> float: ...
    def monotonic(self) -> float: ...
