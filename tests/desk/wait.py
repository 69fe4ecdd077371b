"""Waiting for a condition with a deadline: the only way these tests ever wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
DEADLINE = 60.0  # seconds; only a busy machine needs them, and a test that fails
PAUSE, LONGEST = 0.01, 0.1  # seconds between two looks: longer the longer it takes, as looking takes time from others


class Overdue(AssertionError):  # noqa: N818 - it says what happened
    """What was waited for did not happen in time."""


def wait(condition: Callable[[], T | None], deadline: float = DEADLINE, what: str = "the condition") -> T:
    """The condition's first true value; raises Overdue, naming `what`, after `deadline` seconds."""
    begun = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        elapsed = time.monotonic() - begun
        if elapsed > deadline:
            raise Overdue(f"{what}: not within {deadline:g} s (last value: {value!r})")
        time.sleep(min(max(PAUSE, elapsed / 20), LONGEST))
