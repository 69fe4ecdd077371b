"""Streams that are polled, not waited for: one poll for all processes of an event, moved by the calling thread."""

from __future__ import annotations

import math
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from typing import IO

from tray.execution.process import CHUNK, STDERR_LIMIT, STDOUT_LIMIT

assert sys.platform != "win32"

MAX_WAIT = 3600.0  # seconds in one poll
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR


class Poll:
    """select.poll with one action for each descriptor."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._actions: dict[int, Callable[[], None]] = {}

    def add(self, fd: int, mask: int, action: Callable[[], None]) -> None:
        self._actions[fd] = action
        self._poll.register(fd, mask)

    def drop(self, fd: int) -> None:
        if self._actions.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def wait(self, until: float) -> None:
        """Wait until the moment `until` (time.monotonic()) at most, and act on what came."""
        seconds = min(max(until - time.monotonic(), 0.0), MAX_WAIT)
        for fd, _ in self._poll.poll(math.ceil(seconds * 1000)):
            action = self._actions.get(fd)  # an earlier action of this round may have dropped it
            if action is not None:
                action()


class PollPipes:
    """The streams of one process, moved as far as they go without waiting."""

    complete = True  # whoever polls has read all that was there

    def __init__(self, child: subprocess.Popen[bytes], stdin: bytes, poll: Poll) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._poll = poll
        self._rest = memoryview(stdin)
        self._out, self._err = bytearray(), bytearray()
        for file in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(file.fileno(), False)

    def start(self, on_overflow: Callable[[], None]) -> None:
        """Begin; `on_overflow` is called when stdout is too long."""
        self._on_overflow = on_overflow
        self._poll.add(self._stdout.fileno(), READABLE, self._read_stdout)
        self._poll.add(self._stderr.fileno(), READABLE, self._read_stderr)
        self._feed()
        if not self._stdin.closed:
            self._poll.add(self._stdin.fileno(), select.POLLOUT | select.POLLERR, self._feed)

    @property
    def overflowed(self) -> bool:
        return len(self._out) > STDOUT_LIMIT

    def take(self) -> tuple[bytes, bytes]:
        """What is in the pipes now, in one read each: a grandchild that holds them must not delay us."""
        if not self._stdout.closed:
            self._out += read(self._stdout, STDOUT_LIMIT + 1 - len(self._out)) or b""
        if not self._stderr.closed:
            self._err += read(self._stderr, STDERR_LIMIT - len(self._err)) or b""
        for file in (self._stdin, self._stdout, self._stderr):
            self._close(file)
        return bytes(self._out[:STDOUT_LIMIT]), bytes(self._err)

    def _feed(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._stdin.fileno(), self._rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # EPIPE: it does not read, and need not
        self._close(self._stdin)

    def _read_stdout(self) -> None:
        chunk = read(self._stdout, CHUNK)
        if chunk is None:
            return
        self._out += chunk
        if self.overflowed:
            self._close(self._stdout)
            self._on_overflow()
        elif not chunk:
            self._close(self._stdout)

    def _read_stderr(self) -> None:
        chunk = read(self._stderr, CHUNK)
        if chunk is None:
            return
        self._err += chunk[: STDERR_LIMIT - len(self._err)]
        if not chunk:
            self._close(self._stderr)

    def _close(self, file: IO[bytes]) -> None:
        if not file.closed:
            self._poll.drop(file.fileno())
            file.close()


def read(file: IO[bytes], size: int) -> bytes | None:
    """Up to `size` bytes; empty at the end, None when there is nothing yet."""
    try:
        return os.read(file.fileno(), size)
    except BlockingIOError:
        return None
