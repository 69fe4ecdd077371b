"""Things that work once and only for a while: the pass of a link, the slip of a confirmation."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

BITS = 256
KEPT = 64  # the oldest makes room for a new one

T = TypeVar("T")


class Void(Enum):
    """Why a word gives no value."""

    USED = "used"
    OLD = "old"
    UNKNOWN = "unknown"


class Passes(Generic[T]):
    """Hands out a random word for a value and gives the value back for it, once, within `life` seconds."""

    def __init__(self, life: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._life = life
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, T]] = {}
        self._void: dict[str, Void] = {}

    def mint(self, value: T) -> str:
        word = secret()
        with self._lock:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[word] = (self._clock() + self._life, value)
        return word

    def take(self, word: str) -> T | Void:
        """The value; or why there is none."""
        with self._lock:
            if word not in self._kept:
                return self._void.get(word, Void.UNKNOWN)
            until, value = self._kept.pop(word)
            in_time = self._clock() < until
            while len(self._void) >= KEPT:
                self._void.pop(next(iter(self._void)))
            self._void[word] = Void.USED if in_time else Void.OLD
        return value if in_time else Void.OLD


def secret() -> str:
    return secrets.token_urlsafe(BITS // 8)
