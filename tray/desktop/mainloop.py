"""The main thread of an icon that needs no toolkit: it runs what others post, until it is stopped."""

from __future__ import annotations

import queue
from collections.abc import Callable


class MainLoop:
    """Blocks without waking up while there is nothing to do."""

    def __init__(self) -> None:
        self._posted: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def run(self) -> None:
        while (posted := self._posted.get()) is not None:
            posted()

    def post(self, fn: Callable[[], None]) -> None:
        self._posted.put(fn)

    def stop(self) -> None:
        """Everything posted before is still run."""
        self._posted.put(None)
