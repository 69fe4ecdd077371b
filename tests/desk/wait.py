"""Waiting for a condition with a deadline: the only way these tests ever wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PAUSE = 0.01  # seconds between two looks


class Overdue(AssertionError):  # noqa: N818 - it says what happened
    """What was waited for did not happen in time."""


def wait(condition: Callable[[], T | None], deadline: float = 30.0, what: str = "the condition") -> T:
    """The condition's first true value; raises Overdue, naming `what`, after `deadline` seconds."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Overdue(f"{what}: not within {deadline:g} s (last value: {value!r})")
        time.sleep(PAUSE)
