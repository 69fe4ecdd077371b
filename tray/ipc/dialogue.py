"""Writes to a person's terminal and reads from it: at the terminal itself, or by way of the command that asks."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from tray.errors import HooktrayError
from tray.ipc import frames
from tray.language import say

POLL_INTERVAL = 0.2  # seconds between two looks at the caller, while a question is open
WRITE_TIMEOUT = 2.0  # seconds
LINE_LIMIT = 1024  # bytes of what is typed
DEVICE_NUMBER = 0x80045432  # TIOCGDEV: which terminal it is, whatever its name


class Dialogue(Protocol):
    """A person who can be asked. `place` names the terminal, for the limit of tries."""

    place: str

    def write(self, text: str) -> bool:
        """Whether all of it was taken."""

    def read(self, *, secret: bool = False) -> str:
        """The line that was typed, with its end; without one after the time, or when the person has left."""


class TerminalDialogue:
    """At the terminal itself. `is_there` returns whether the person still is; `wakes` is readable when not."""

    def __init__(
        self, terminal: int, is_there: Callable[[], bool], timeout: float, *, place: str, wakes: int | None = None
    ) -> None:
        self.place = place
        self._terminal = terminal
        self._is_there = is_there
        self._wakes = wakes
        self._timeout = timeout

    def write(self, text: str) -> bool:
        """A terminal that takes nothing for two seconds is not waited for."""
        data = text.replace("\n", "\r\n").encode()
        until = time.monotonic() + WRITE_TIMEOUT
        while data and time.monotonic() < until:
            try:
                data = data[os.write(self._terminal, data) :]
                until = time.monotonic() + WRITE_TIMEOUT
            except BlockingIOError:
                select.select([], [self._terminal], [], POLL_INTERVAL)
            except OSError:
                break
        return not data

    def read(self, *, secret: bool = False) -> str:
        """What was typed before does not count."""
        with _without_echo(self._terminal) if secret else contextlib.nullcontext():
            _discard_input(self._terminal)
            typed = self._read_line()
        if secret or not typed.endswith("\n"):
            self.write("\n")
        return typed

    def _read_line(self) -> str:
        until = time.monotonic() + self._timeout
        typed = b""
        while time.monotonic() < until and self._is_there():
            if not _readable(self._terminal, self._wakes, POLL_INTERVAL):
                continue
            try:
                part = os.read(self._terminal, 256)
            except BlockingIOError:
                continue
            except OSError:  # hung up
                break
            typed += part
            if not part or len(typed) > LINE_LIMIT or typed.endswith((b"\n", b"\r")):
                break
        return typed.decode("utf-8", "replace")


class RemoteDialogue:
    """By way of the command, where no terminal can be handed over: Windows."""

    def __init__(self, connection: socket.socket, timeout: float, place: str) -> None:
        self.place = place
        self._connection = connection
        self._connection.settimeout(timeout)

    def write(self, text: str) -> bool:
        data = text.encode()
        self._connection.sendall(frames.TERMINAL_WRITE + struct.pack(">I", len(data)) + data)
        return True

    def read(self, *, secret: bool = False) -> str:
        self._connection.sendall(frames.TERMINAL_SECRET if secret else frames.TERMINAL_LINE)
        typed = b""
        with contextlib.suppress(OSError):
            while not typed.endswith(b"\n") and len(typed) < LINE_LIMIT:
                part = self._connection.recv(256)
                if not part:
                    break
                typed += part
        return typed.decode("utf-8", "replace")


@contextlib.contextmanager
def open_terminal(path: str) -> Iterator[int]:
    if sys.platform == "win32":
        raise HooktrayError(say("there are no terminals to ask at here"), hint=say("use the tray's menu"))
    try:
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise HooktrayError(
            say("{place}: cannot ask there: {why}", place=path, why=error.strerror), hint=say("use another terminal")
        ) from error
    try:
        if not os.isatty(terminal):
            raise HooktrayError(say("{place}: is not a terminal", place=path), hint=say("use another terminal"))
        yield terminal
    finally:
        os.close(terminal)


if sys.platform == "win32":

    @contextlib.contextmanager
    def _without_echo(terminal: int) -> Iterator[None]:
        yield

    def device_number(terminal: int) -> int:
        """Which terminal this is; 0 where the system does not say."""
        return 0

    def _discard_input(terminal: int) -> None:
        return None

    def _readable(terminal: int, wakes: int | None, seconds: float) -> bool:
        return False

else:
    import fcntl
    import termios

    def device_number(terminal: int) -> int:
        """Which terminal this is, as the kernel numbers them; 0 where it does not say."""
        if sys.platform != "linux":
            return os.fstat(terminal).st_rdev
        try:
            return int(struct.unpack("I", fcntl.ioctl(terminal, DEVICE_NUMBER, bytes(4)))[0])
        except OSError:
            return 0

    @contextlib.contextmanager
    def _without_echo(terminal: int) -> Iterator[None]:
        """The terminal shows nothing of what is typed, and gives whole lines. Raises HooktrayError when it cannot."""
        try:
            before = termios.tcgetattr(terminal)
            now = list(before)
            now[3] = (now[3] & ~(termios.ECHO | termios.ECHONL)) | termios.ICANON | termios.ISIG
            termios.tcsetattr(terminal, termios.TCSAFLUSH, now)
        except termios.error as error:
            why = say("this terminal cannot hide what is typed")
            raise HooktrayError(why, hint=say("use another terminal")) from error
        try:
            yield
        finally:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _discard_input(terminal: int) -> None:
        with contextlib.suppress(termios.error):
            termios.tcflush(terminal, termios.TCIFLUSH)

    def _readable(terminal: int, wakes: int | None, seconds: float) -> bool:
        poll = select.poll()
        poll.register(terminal, select.POLLIN | select.POLLHUP)
        if wakes is not None:
            poll.register(wakes, select.POLLIN)
        return any(fd == terminal for fd, _ in poll.poll(seconds * 1000))
