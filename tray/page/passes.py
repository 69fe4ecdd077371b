"""Things that work once and only for a while: the pass of a link, the slip of a confirmation."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

BITS = 256
KEPT = 64  # the oldest makes room for a new one

T = TypeVar("T")


class Passes(Generic[T]):
    """Hands out a random word for a value and gives the value back for it, once, within `life` seconds."""

    def __init__(self, life: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._life = life
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, T]] = {}

    def mint(self, value: T) -> str:
        word = secret()
        with self._lock:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[word] = (self._clock() + self._life, value)
        return word

    def take(self, word: str) -> T | None:
        """The value, if the word is one of ours, was never taken and is not too old."""
        with self._lock:
            until, value = self._kept.pop(word, (0.0, None))
        return value if self._clock() < until else None


def secret() -> str:
    return secrets.token_urlsafe(BITS // 8)
