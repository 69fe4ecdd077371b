"""Makes a dbus-fast connection wait while its socket is full, where the library would drop the connection.

Its writer takes EAGAIN for the end of the connection (python-dbus-next issue 153, inherited), and the pictures of a
tray icon are large enough to fill a socket. After a send that "sent nothing" it goes on by itself.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    from dbus_fast.aio import MessageBus

    class MessageWriter(Protocol):
        """The library's private writer."""

        sock: socket.socket | WaitingSocket


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
