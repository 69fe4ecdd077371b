"""The time that one request job has. At its limit, or when it is ended, its open connections are cut."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from tray.threads import start_thread


class Deadline:
    """Ends once. A thread that waits for a tracked connection wakes up then, however slowly its peer sends."""

    def __init__(self, timeout: float, until: float = float("inf")) -> None:
        now = time.monotonic()
        self._started = now
        self._own_limit = now + timeout <= until
        self._timeout = timeout
        self.limit = min(now + timeout, until)
        self.cause = ""  # why it is over before its work was done; "" while it is not
        self.timed_out = False
        self._lock = threading.Lock()
        self._tracked: set[socket.socket] = set()
        self._timer = threading.Timer(min(max(self.limit - now, 0.0), threading.TIMEOUT_MAX), self._expire)
        self._timer.name, self._timer.daemon = "hook-deadline", True
        start_thread(self._timer)

    @property
    def left(self) -> float:
        """Seconds until the limit, never quite none: zero means "do not wait" to a socket."""
        return max(self.limit - time.monotonic(), 0.001)

    @property
    def ms(self) -> float:
        return (time.monotonic() - self._started) * 1000

    @contextlib.contextmanager
    def tracking(self) -> Iterator[None]:
        """Forget the connections that were tracked inside."""
        try:
            yield
        finally:
            with self._lock:
                tracked, self._tracked = self._tracked, set()
            for connection in tracked:
                connection.close()

    def track(self, connection: socket.socket) -> None:
        """Cut this connection when the time is over; by a handle of our own, as TLS wraps up the first one."""
        handle = connection.dup()
        with self._lock:
            self._tracked.add(handle)
            if self.cause:
                _cut(handle)

    def end(self, cause: str, *, timed_out: bool = False) -> None:
        """No more waiting. The first cause stays."""
        with self._lock:
            if self.cause:
                return
            self.cause, self.timed_out = cause, timed_out
            for connection in self._tracked:
                _cut(connection)

    def close(self) -> None:
        self._timer.cancel()
        self._timer.join()

    def _expire(self) -> None:
        limit = f"{self._timeout:g} s" if self._own_limit else f"{self.ms / 1000:.2g} s: the agent waits no longer"
        self.end(f"timed out after {limit}", timed_out=True)


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
