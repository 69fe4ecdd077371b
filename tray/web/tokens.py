"""Tokens that work once and only for a while: of a link, of a confirmation."""

from __future__ import annotations

import secrets
import threading
import time
from typing import Generic, TypeVar

from tray.clock import Clock

TOKEN_BITS = 256
MAX_TOKENS = 64  # the oldest makes room for a new one

T = TypeVar("T")


class OneTimeTokens(Generic[T]):
    """Issues a random token for a value; `redeem` returns the value once, within the token's lifetime."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._values: dict[str, tuple[float, T]] = {}

    def issue(self, value: T, lifetime: float) -> str:
        token = random_token()
        with self._lock:
            while len(self._values) >= MAX_TOKENS:
                self._values.pop(next(iter(self._values)))
            self._values[token] = self._clock.monotonic() + lifetime, value
        return token

    def redeem(self, token: str) -> T | None:
        """Returns the value; None for a token that was used, is too old, or was never issued."""
        with self._lock:
            until, value = self._values.pop(token, (0.0, None))
        return value if self._clock.monotonic() < until else None


def random_token() -> str:
    return secrets.token_urlsafe(TOKEN_BITS // 8)
