"""Takes work and does none of it. Stand-in for the WorkerPool where a test is about the answer only."""

from __future__ import annotations

from collections.abc import Callable


class IdleWorkers:
    """Workers that take everything; with `full` they take nothing."""

    def __init__(self, *, full: bool = False) -> None:
        self.full = full

    def spawn(self, work: Callable[[], object]) -> bool:
        return not self.full
