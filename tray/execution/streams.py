"""Streams that cannot be polled: each is moved by a thread of its own, which ends with its pipe."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import IO

from tray.execution.process import CHUNK, STDERR_LIMIT, STDOUT_LIMIT
from tray.threads import Queue, start_thread

SENTINEL_SIZE = 16  # random bytes, which cannot be guessed
DRAIN_TIMEOUT = 5.0  # seconds that a thread may have to wait for its turn


class PipeReader(threading.Thread):
    """Keeps the first `limit` bytes of a pipe until a sentinel of our own, after which we do not listen.

    What comes behind it is thrown away, for as long as another process holds the pipe. How long it was silent does
    not count: on a busy machine that may be a thread that has not had its turn. As the sentinel may have begun,
    `on_overflow` is called for up to 15 bytes too many only when the output is taken.
    """

    def __init__(self, limit: int, on_overflow: Callable[[], object] | None = None) -> None:
        super().__init__(name="hook-stream", daemon=True)
        reader, writer = os.pipe()
        self._file = os.fdopen(reader, "rb", buffering=0)
        self.end: IO[bytes] = os.fdopen(writer, "wb", buffering=0)  # the process's, and ours for the sentinel
        self._limit, self._on_overflow = limit, on_overflow
        self._sentinel = os.urandom(SENTINEL_SIZE)
        self._done = threading.Event()
        self._buffer = bytearray()
        self.complete = False  # the sentinel was read, or the end of the pipe

    def run(self) -> None:
        with self._file, contextlib.suppress(OSError, ValueError):
            try:
                self._read_all()
                self.complete = True
            finally:
                self._done.set()
            while self._file.read(CHUNK):
                pass

    def take(self, until: float) -> bytes:
        """What came until now, or by the moment `until` (time.monotonic()); asked once, after the exit."""
        if self.is_alive():
            write_all(self.end, self._sentinel)  # and close it: without the sentinel, the pipe may still end
            self._done.wait(max(0.0, until - time.monotonic()))
        else:
            self.close()
        return bytes(self._buffer)

    def close(self) -> None:
        """Where nothing was started."""
        self._file.close()
        self.end.close()

    def _read_all(self) -> None:
        rest = b""  # may be the beginning of the sentinel
        while chunk := self._file.read(CHUNK):
            data, sentinel, _ = (rest + chunk).partition(self._sentinel)
            if sentinel:
                self._keep(data)
                return
            self._keep(data[: 1 - SENTINEL_SIZE])
            rest = data[1 - SENTINEL_SIZE :]
        self._keep(rest)

    def _keep(self, data: bytes) -> None:
        room = self._limit - len(self._buffer)
        self._buffer += data[:room]
        if len(data) > room and self._on_overflow is not None:
            self._on_overflow()


class ThreadPipes:
    """The streams of one process; `stdout` and `stderr` are made before it, as it is started with their ends.

    An overflow of stdout is reported in `queue`. Raises OSError when no descriptor is left.
    """

    def __init__(self, queue: Queue) -> None:
        self.overflowed = False
        self._queue = queue
        self._on_overflow: Callable[[], object] | None = None
        self.stdout = PipeReader(STDOUT_LIMIT, self._overflow)
        try:
            self.stderr = PipeReader(STDERR_LIMIT)
        except OSError:
            self.stdout.close()
            raise

    def start(self, stdin: IO[bytes], data: bytes, on_overflow: Callable[[], object]) -> None:
        """Begin; `on_overflow` is called when stdout is too long."""
        self._on_overflow = on_overflow
        feeder = threading.Thread(target=write_all, args=(stdin, data), name="hook-stdin", daemon=True)
        for thread in (self.stdout, self.stderr, feeder):
            start_thread(thread)

    @property
    def complete(self) -> bool:
        return self.stdout.complete

    def take(self) -> tuple[bytes, bytes]:
        until = time.monotonic() + DRAIN_TIMEOUT
        try:
            stdout = self.stdout.take(until)
        finally:
            stderr = self.stderr.take(until)
        return stdout, stderr

    def close(self) -> None:
        """Where no process was started."""
        self.stdout.close()
        self.stderr.close()

    def _overflow(self) -> None:
        if not self.overflowed:
            self.overflowed = True
            if self._on_overflow is not None:
                self._queue.post(self._on_overflow)


def write_all(file: IO[bytes], stdin: bytes) -> None:
    """Write all of it; a process that does not read is not an error."""
    rest = memoryview(stdin)
    with contextlib.suppress(OSError, ValueError), file:
        while rest:
            rest = rest[file.write(rest[:CHUNK]) :]
