"""Checks that work takes time in proportion to its input, by a ratio within one run: no machine is too slow."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 12  # the factor of the input; quadratic work takes 144 times as long


def is_in_proportion(work: Callable[[str], object], part: str, size: int = 4_000) -> bool:
    """Compares `part` repeated up to `size` characters with TIMES as many."""
    small, large = (_seconds(work, part * (count // len(part))) for count in (size, size * TIMES))
    return large < 4 * TIMES * small + 0.05


def _seconds(work: Callable[[str], object], text: str) -> float:
    def once() -> float:
        start, turns, taken = time.process_time(), 0, 0.0
        while not taken:  # the clock of Windows has ticks of 16 ms
            work(text)
            turns, taken = turns + 1, time.process_time() - start
        return taken / turns

    return min(once() for _ in range(2))
