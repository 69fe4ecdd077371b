"""Work that the test does not put off. Stand-in for the queue and the workers."""

from __future__ import annotations

from collections.abc import Callable


class AtOnce:
    """Does all work at once, in the thread that hands it over."""

    def post(self, work: Callable[[], object]) -> None:
        work()

    def spawn(self, work: Callable[[], object]) -> bool:
        work()
        return True
