"""A process to which the system gives no further thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

TOO_LARGE = 1 << 47  # bytes of a stack: more than fits beside anything else that a process has


@contextlib.contextmanager
def no_thread_left() -> Iterator[None]:
    """Inside, each start of a thread fails, because there is no room for its stack. Windows refuses such a size."""
    usual = threading.stack_size(TOO_LARGE)
    try:
        yield
    finally:
        threading.stack_size(usual)
