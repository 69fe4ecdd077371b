"""Runs what is due once answers have left: in batches and late, so that the next request need not wait for it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from tray.threads import run_logged

BATCH_DELAY = 0.1  # seconds: work that is done together takes a third of the time
URGENT_DELAY = 0.002  # seconds for what alerts a person
IDLE_TIME = 0.003  # seconds without an answer: then no client waits
MAX_DELAY = 0.3  # seconds beyond its time that anything waits, however much goes on
URGENT_SIZE = 500  # waiting entries from which the work is urgent
MAX_SIZE = 2000  # waiting entries from which each caller runs its own
FAILED = "deferred work failed"

Work = Callable[[], object]


class DeferredWork:
    """One thread, asleep while there is nothing to do; it runs the work in the order in which it came."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._due = 0.0
        self._last = 0.0  # when the last answer left
        self._closing = False
        self._thread = threading.Thread(
            target=run_logged, args=(self._due_work(), FAILED), name="ipc deferred", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def put(self, work: Work, soon: bool = False) -> None:
        """From any thread, once the answer has left."""
        now = time.monotonic()
        with self._change:
            self._last = now
            number = len(self._waiting)
            if not self._closing and number < MAX_SIZE:
                self._waiting.append(work)
                due = now + (URGENT_DELAY if soon or number >= URGENT_SIZE else BATCH_DELAY)
                if number == 0 or due < self._due:
                    self._due = due
                    self._change.notify()
                return
        run_logged((work,), FAILED)

    def close(self, until: float) -> None:
        """Do what is left, without a pause."""
        with self._change:
            self._closing = True
            self._change.notify()
        if self._thread.is_alive():
            self._thread.join(max(0.0, until - time.monotonic()))

    def _due_work(self) -> Iterator[Work]:
        """Yield each piece of work when it is due, without a reference to it: it may hold large values."""
        while batch := self._next_batch():
            while batch:
                # Events that come in close succession go first.
                end = self._due + MAX_DELAY
                while not self._closing and (left := min(self._last + IDLE_TIME, end) - time.monotonic()) > 0:
                    time.sleep(left)
                yield batch.popleft()

    def _next_batch(self) -> deque[Work]:
        """Empty at the end."""
        with self._change:
            while not self._waiting and not self._closing:
                self._change.wait()
            while not self._closing and (left := self._due - time.monotonic()) > 0:
                self._change.wait(left)
            batch, self._waiting = self._waiting, deque()
            return batch
