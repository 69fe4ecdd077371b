"""Imports a library without what it can do without: modules that are installed for others, and that take memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Meanwhile these modules cannot be imported, as where they are not installed; what is imported already stays."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None is how Python marks what must fail
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
