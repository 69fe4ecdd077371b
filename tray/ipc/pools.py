"""A bounded number of threads for callers that take time; at the end each is cancelled and closed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tray.ipc.connection import ClientConnection
from tray.threads import CheckedThread


class ConnectionPool:
    """`reserve` a slot, then `start` a caller in it or `release` it; a slot is free again when its thread ends."""

    def __init__(self, limit: int, name: str) -> None:
        self._name = name
        self._limit = self._free = limit
        self._lock = threading.Lock()
        self._running: dict[threading.Thread, ClientConnection] = {}

    def reserve(self) -> bool:
        with self._lock:
            if self._free == 0:
                return False
            self._free -= 1
            return True

    def release(self) -> None:
        with self._lock:
            self._free += 1

    def start(self, caller: ClientConnection, work: Callable[[], bool]) -> bool:
        """Run `work` in the reserved slot; False when the system has no thread left.

        `work` returns True when the caller has moved on to another pool; otherwise it is closed.
        """
        thread = CheckedThread(target=self._run, args=(caller, work), name=self._name, daemon=True)
        with self._lock:
            self._running[thread] = caller
        try:
            thread.start()
        except RuntimeError:
            self._remove(thread)
            return False
        return True

    def run_inline(self, caller: ClientConnection, work: Callable[[], bool]) -> None:
        """Run `work` in the calling thread instead of a new one."""
        with self._lock:
            self._running[threading.current_thread()] = caller
        self._run(caller, work)

    @property
    def is_busy(self) -> bool:
        """Whether a slot is reserved."""
        with self._lock:
            return self._free < self._limit

    def cancel(self) -> None:
        """Cancel every caller that is in the pool now."""
        for caller in self._snapshot().values():
            caller.cancel()

    def close(self, until: float) -> None:
        """Cancel every caller in the pool and wait for them until that moment of the monotonic clock."""
        while (running := self._snapshot()) and time.monotonic() < until:
            self.cancel()
            join_all(list(running), until)

    def _snapshot(self) -> dict[threading.Thread, ClientConnection]:
        with self._lock:
            return dict(self._running)

    def _run(self, caller: ClientConnection, work: Callable[[], bool]) -> None:
        moved = False
        try:
            moved = work()
        finally:
            if not moved:
                caller.close()
            self._remove(threading.current_thread())

    def _remove(self, thread: threading.Thread) -> None:
        with self._lock:
            del self._running[thread]
            self._free += 1


def join_all(threads: list[threading.Thread], until: float) -> None:
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
