"""What all users of dbus-fast share: its errors, and a connection that waits while its socket is full.

The library would drop that connection: its writer takes EAGAIN for the end of it (python-dbus-next issue 153,
inherited), and the pictures of a tray icon are large enough to fill a socket. After a send that
reports 0 bytes the writer tries again by itself.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus


class MessageWriter(Protocol):
    """The library's private writer."""

    sock: socket.socket | WaitingSocket


def bus_errors() -> tuple[type[Exception], ...]:
    """What dbus-fast raises when it connects or calls; a broken address or reply is a ValueError."""
    try:
        from dbus_fast.errors import DBusFastError
    except ImportError:  # a system without D-Bus
        return EOFError, OSError, ValueError
    return DBusFastError, EOFError, OSError, ValueError


class WaitingSocket:
    """The socket as the writer sees it: a full one takes no byte, and is not an error."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def send(self, data: memoryview) -> int:
        try:
            return self._sock.send(data)
        except BlockingIOError:
            return 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._sock, name)


def wait_when_full(bus: MessageBus) -> MessageBus:
    """The same connected bus, with a writer that waits; doing it twice does no harm."""
    writer: MessageWriter | None = getattr(bus, "_writer", None)
    if writer is not None and not isinstance(writer.sock, WaitingSocket):
        writer.sock = WaitingSocket(writer.sock)
    return bus
