"""The command's side of a question that the tray asks at its terminal. The command neither asks nor reads itself."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Protocol

from tray.ipc import frames


class CommandTerminal(Protocol):
    """`questions` are the kinds of message that it serves."""

    questions: frozenset[bytes]

    def serve(self, connection: socket.socket, question: bytes) -> None: ...


class OwnTerminal:
    """Handed over to the tray, which writes and reads there."""

    questions = frozenset({frames.TERMINAL_WANTED})

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def serve(self, connection: socket.socket, question: bytes) -> None:
        if sys.platform != "win32":
            socket.send_fds(connection, [frames.TERMINAL_HERE], [self._descriptor])


class Console:
    """Where no terminal can be handed over, the command shows what the tray writes and sends what is typed."""

    questions = frozenset({frames.TERMINAL_WRITE, frames.TERMINAL_LINE, frames.TERMINAL_SECRET})

    def serve(self, connection: socket.socket, question: bytes) -> None:
        if question == frames.TERMINAL_WRITE:
            (size,) = struct.unpack(">I", _exactly(connection, 4))
            sys.stderr.write(_exactly(connection, size).decode("utf-8", "replace"))
            sys.stderr.flush()
            return
        connection.sendall(f"{self._line(question)}\n".encode())

    def _line(self, question: bytes) -> str:
        if question == frames.TERMINAL_SECRET:
            import getpass

            return getpass.getpass("")
        return sys.stdin.readline().rstrip("\r\n")


if sys.platform == "win32":

    @contextlib.contextmanager
    def own_terminal() -> Iterator[CommandTerminal | None]:
        """The console, if a person may sit at it."""
        yield Console() if sys.stdin is not None and sys.stdin.isatty() else None

else:
    import termios

    @contextlib.contextmanager
    def own_terminal() -> Iterator[CommandTerminal | None]:
        """Our controlling terminal if we are in its foreground. It echoes again afterwards, also if the tray ends."""
        try:
            descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            yield None
            return
        try:
            is_foreground = os.tcgetpgrp(descriptor) == os.getpgrp()
            before = termios.tcgetattr(descriptor) if is_foreground else None
            try:
                yield OwnTerminal(descriptor) if is_foreground else None
            finally:
                if before is not None and os.tcgetpgrp(descriptor) == os.getpgrp():
                    with contextlib.suppress(termios.error):
                        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        finally:
            os.close(descriptor)


def _exactly(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise ConnectionError("the connection was closed")
        received += part
    return received
