"""Tokens that work once and only for a while: of a link, of a confirmation."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

TOKEN_BITS = 256
MAX_TOKENS = 64  # the oldest makes room for a new one

T = TypeVar("T")


class TokenError(Enum):
    """Why a token gives no value."""

    USED = "used"
    EXPIRED = "old"
    UNKNOWN = "unknown"


class OneTimeTokens(Generic[T]):
    """Issues a random token for a value and gives the value back for it, once, within its seconds.

    `lifetime` is how long a token counts that is issued without a time of its own.
    """

    def __init__(self, lifetime: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._lock = threading.Lock()
        self._values: dict[str, tuple[float, T]] = {}
        self._errors: dict[str, TokenError] = {}

    def issue(self, value: T, lifetime: float | None = None) -> str:
        token = random_token()
        with self._lock:
            while len(self._values) >= MAX_TOKENS:
                self._values.pop(next(iter(self._values)))
            self._values[token] = (self._clock() + (self._lifetime if lifetime is None else lifetime), value)
        return token

    def redeem(self, token: str) -> T | TokenError:
        """The value; or why there is none."""
        with self._lock:
            if token not in self._values:
                return self._errors.get(token, TokenError.UNKNOWN)
            until, value = self._values.pop(token)
            in_time = self._clock() < until
            while len(self._errors) >= MAX_TOKENS:
                self._errors.pop(next(iter(self._errors)))
            self._errors[token] = TokenError.USED if in_time else TokenError.EXPIRED
        return value if in_time else TokenError.EXPIRED


def random_token() -> str:
    return secrets.token_urlsafe(TOKEN_BITS // 8)
