"""Threads for the hooks of events whose agent already has its answer, and for other work in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tray.threads import run_logged, start_thread

THREAD_LIMIT = 256  # threads at the same time
JOIN_TIMEOUT = 5.0  # seconds that all threads have when the tray ends


class WorkerPool:
    def __init__(self) -> None:
        self._slots = threading.BoundedSemaphore(THREAD_LIMIT)
        self._threads: set[threading.Thread] = set()
        self._starting = threading.Lock()  # no thread is joined before it runs

    def spawn(self, work: Callable[[], object]) -> bool:
        """Run it in a thread; False when there are too many already, or the system has no thread left."""
        if not self._slots.acquire(blocking=False):
            return False

        def run() -> None:
            try:
                run_logged((work,), "an event could not be judged")
            finally:
                self._threads.discard(threading.current_thread())
                self._slots.release()

        thread = threading.Thread(target=run, name="observe", daemon=True)
        with self._starting:
            try:
                self._threads.add(thread)
                start_thread(thread)
            except RuntimeError:
                self._threads.discard(thread)
                self._slots.release()
                return False
        return True

    def join(self) -> None:
        until = time.monotonic() + JOIN_TIMEOUT
        with self._starting:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
