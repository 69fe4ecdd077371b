"""Makes each start of a thread fail."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

TOO_LARGE = 1 << 47  # bytes of a thread's stack: more than the free address space of a process


@contextlib.contextmanager
def no_thread_left() -> Iterator[None]:
    """Inside the block, no thread can start, because its stack does not fit. Windows does not accept such a size."""
    usual = threading.stack_size(TOO_LARGE)
    try:
        yield
    finally:
        threading.stack_size(usual)
