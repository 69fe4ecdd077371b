"""One client's connection: identifies the client, reads its frame in pieces, acknowledges it and sends the answer."""

from __future__ import annotations

import contextlib
import hmac
import io
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from tray.ipc import frames
from tray.ipc.deferred import DeferredWork
from tray.ipc.frames import FrameHeader, FramePrefix
from tray.ipc.sockets import CREDENTIALS
from tray.model.decision import EMPTY_ANSWER, Answer
from tray.model.event import PAYLOAD_LIMIT, RelayRequest

CHUNK = 64 * 1024  # bytes of one read: room for more than 128 KB comes from the system each time, which costs more
FIRST_READ = 32 * 1024  # bytes that are read at first: most frames fit, and room for more costs the system more
STALL_TIMEOUT = 10.0  # seconds without progress until a caller is given up
FRAME_TIMEOUT = 60.0  # seconds that a whole frame may take, however steadily it drips in
CONTROL_TIMEOUT = 5.0  # seconds that a command may wait for its answer
LINE_LIMIT = 1024  # bytes of a line that is typed at a command's terminal


if sys.platform == "linux":
    PEER_CLOSED = select.POLLRDHUP  # the other end is closed
else:
    PEER_CLOSED = 0


class ClientDisconnected(Exception):  # noqa: N818  not an error: relays go when their agent ends them
    """The caller has closed its end before it was answered."""


class PeerCredentials(NamedTuple):
    """The process at the other end, from the kernel. A loopback port has no pid (0); its token shows the owner."""

    pid: int
    uid: int


def peer_credentials(connection: socket.socket) -> PeerCredentials:
    """The process that connected, from the kernel."""
    if sys.platform == "win32":
        return PeerCredentials(0, 0)
    if connection.family != socket.AF_UNIX:
        return PeerCredentials(0, os.getuid())
    if sys.platform == "linux":
        pid, uid, _ = CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return PeerCredentials(pid, uid)
    # SOL_LOCAL, LOCAL_PEERCRED (struct xucred: version, uid, …), LOCAL_PEERPID
    local, credentials, peer_pid = 0, 1, 2
    _, uid = struct.unpack_from("2I", connection.getsockopt(local, credentials, 76))
    return PeerCredentials(connection.getsockopt(local, peer_pid), uid)


class CallerTerminal:
    """The terminal of a command, which shows a question there and sends what the user types."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def ask(self, text: str, timeout: float) -> str:
        """Returns the line that was typed; "" if no whole line came in time or the command has ended."""
        until, typed = time.monotonic() + timeout, b""
        with contextlib.suppress(OSError):
            self._connection.settimeout(timeout)
            self._connection.sendall(frames.encode_question(text))
            while not typed.endswith(b"\n") and len(typed) < LINE_LIMIT and (left := until - time.monotonic()) > 0:
                self._connection.settimeout(left)
                if not (part := self._connection.recv(LINE_LIMIT)):
                    break
                typed += part
        return typed.decode("utf-8", "replace").rstrip("\r\n") if typed.endswith(b"\n") else ""


class ClientConnection:
    """Reads one frame and sends its answer; the server decides which thread waits for the frame.

    `timeout` returns how many seconds the relay may wait for the answer to an event of an agent. The header of the
    frame must have the token, unless that is "". `deferred` gets the deferred work after the answer was sent. A
    connection is its own `Hangup`: `is_set` once the relay has closed its end.
    """

    def __init__(
        self,
        connection: socket.socket,
        peer: PeerCredentials,
        timeout: Callable[[str, str], float],
        deferred: DeferredWork,
        token: str = "",
    ) -> None:
        self._connection = connection
        self.fileno = connection.fileno
        self.peer = peer
        self._timeout = timeout
        self._queue = deferred
        self._token = token
        self._unread: bytes | bytearray = b""  # the first piece as it came: of most frames it is all
        self._body = io.BytesIO()  # from which the whole is taken without a copy
        self._has_room = False  # whether `_body` has room for all of it
        self._received = 0  # bytes of the body, kept or not
        self._until = time.monotonic() + FRAME_TIMEOUT
        self._was_open = False  # whether the other end was open when what has arrived was read
        self._pending_ack = b""  # the acknowledgement, until something is sent
        self._deferred: list[tuple[Callable[[], object], bool]] = []
        self.prefix: FramePrefix | None = None
        self.header: FrameHeader | None = None

    def is_set(self) -> bool:
        # After its frame a relay sends nothing: what can be read is its end, or a caller that is not a relay.
        return self.fileno() < 0 or _readable(self._connection)

    def identify(self) -> PeerCredentials:
        """Who asks; on a loopback port that takes a look at every connection of the machine."""
        if not self.peer.pid and self._connection.family == socket.AF_INET:
            return PeerCredentials(_loopback_pid(self._connection), self.peer.uid)
        return self.peer

    @property
    def terminal(self) -> CallerTerminal:
        return CallerTerminal(self._connection)

    @property
    def is_complete(self) -> bool:
        """Whether the frame is all there."""
        return self.header is not None and self.prefix is not None and self._received == self.prefix.body_size

    def read(self, timeout: float, *, extend: bool = False) -> bool:
        """True when the whole frame is there, False when the time is over; progress may renew the time."""
        until = time.monotonic() + timeout
        if self._read_first(timeout) and extend:
            until = min(time.monotonic() + timeout, self._until)
        while not self._parse_available():
            self._was_open = False
            self.acknowledge()
            left = until - time.monotonic()
            if left <= 0:  # also for a caller that sends without a pause
                return False
            self._connection.settimeout(left)
            try:
                received = self._receive()
            except TimeoutError:
                return False
            except OSError as error:
                raise ClientDisconnected from error
            if not received:
                raise ClientDisconnected
            if extend:
                until = min(time.monotonic() + timeout, self._until)
        return True

    def relay_request(self) -> RelayRequest:
        """The request in an event's frame. A body over the limit is not cut short: it is left out."""
        assert self.prefix is not None
        assert self.header is not None
        fields, limit, size = self.header.fields, PAYLOAD_LIMIT, self.prefix.body_size
        parent = fields.get("parent", "")
        return RelayRequest(
            agent=fields.get("agent", ""),
            event=fields.get("event", ""),
            id=fields["id"],
            body=self.body(),
            cwd=fields.get("cwd", ""),
            environment=self.header.environment,
            pid=self.peer.pid,
            parent=int(parent) if parent.isascii() and parent.isdigit() and len(parent) < 10 else 0,
            problem=f"payload of {size} bytes is over the limit of {limit}" if size > limit else "",
        )

    def body(self) -> bytes:
        return self._body.getvalue()

    def send_answer(self, answer: Answer) -> None:
        """Best effort: a caller that does not take its answer has gone."""
        encoded = frames.ENCODED_SILENCE if answer is EMPTY_ANSWER else frames.encode_answer(answer)
        data, sent = self._pending_ack + encoded, 0
        with contextlib.suppress(OSError):
            if sys.platform != "win32" and self._connection.gettimeout() is None:
                # The socket's buffer takes all but long answers at once; those leave as they are read.
                with contextlib.suppress(BlockingIOError):
                    sent = self._connection.send(data, socket.MSG_DONTWAIT)
            if sent < len(data):
                self._connection.settimeout(STALL_TIMEOUT)
                self._connection.sendall(memoryview(data)[sent:])

    def acknowledge(self) -> None:
        """Tell the relay to wait: sent before whatever takes time, else with the answer, to wake it only once."""
        ack, self._pending_ack = self._pending_ack, b""
        if not ack:
            return
        try:
            self._connection.sendall(ack)  # the first bytes that are sent here: the socket's buffer is empty
        except OSError as error:
            raise ClientDisconnected from error

    def defer(self, work: Callable[[], object], /, *, soon: bool = False) -> None:
        """Run `work` once the answer has left."""
        self._deferred.append((work, soon))

    def cancel(self) -> None:
        """Sets the Hangup for the thread that works for this caller; the server can still send an answer."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        self._connection.close()
        while self._deferred:
            self._queue.put(*self._deferred.pop(0))

    def _read_first(self, seconds: float) -> bool:
        """Read the first bytes, which are all of most frames, unless a time-out is set; returns whether any came.

        A relay sends after it has connected, so a read without waiting is mostly too early; and to set a time-out
        would cost each caller four more system calls.
        """
        if sys.platform == "win32" or self._connection.gettimeout() is not None:
            return False
        poll = select.poll()
        poll.register(self._connection, select.POLLIN | PEER_CLOSED)
        ready = poll.poll(seconds * 1000)
        if not ready:
            return False
        if ready[0][1] & PEER_CLOSED:
            raise ClientDisconnected
        self._was_open = bool(PEER_CLOSED)
        try:
            received = self._connection.recv(FIRST_READ)
        except OSError as error:
            raise ClientDisconnected from error
        self._unread += received
        return bool(received)  # if none came, the thread that waits meets the end

    def _receive(self) -> int:
        """Read what has come, and return its size. Most of a body that is kept is put where it stays."""
        if self.header is None or self.prefix is None or self.prefix.body_size > PAYLOAD_LIMIT:
            received = self._connection.recv(CHUNK)
            if self.header is not None:
                self._unread = received
            else:
                self._unread = bytearray(self._unread) if isinstance(self._unread, bytes) else self._unread
                self._unread += received
            return len(received)
        size = self.prefix.body_size
        if not self._has_room:
            self._has_room = True
            self._body.seek(size)
            self._body.write(b"\0")  # room for one byte more, which shows that something follows the frame
        with self._body.getbuffer() as room:
            count = self._connection.recv_into(room[self._received :])
        self._received += count
        if self._received == size:
            self._body.truncate(size)
        return count

    def _parse_available(self) -> bool:
        """Whether the frame is whole. Past the payload limit the body is counted and thrown away."""
        unread = self._unread
        if self.prefix is None:
            if len(unread) < frames.PREFIX_SIZE:
                return False
            self.prefix = frames.decode_prefix(bytes(unread[: frames.PREFIX_SIZE]))
            self._unread = unread = unread[frames.PREFIX_SIZE :]
        if self.header is None:
            size = self.prefix.header_size
            if len(unread) < size:
                return False
            self.header = frames.decode_header(bytes(unread[:size]), self.prefix.kind)
            self._unread = unread = unread[size:]
            seconds = self._check_header(self.prefix, self.header)
            if not self._was_open and _is_peer_closed(self._connection):
                raise ClientDisconnected  # it went to the one-shot engine while this tray was hung
            self._pending_ack = frames.encode_ack(int(seconds * 1000))
        size = self.prefix.body_size
        if unread:
            self._received += len(unread)
            if size <= PAYLOAD_LIMIT:
                self._body.write(unread)
            self._unread = b""
        if self._received > size:
            raise frames.FrameError("more bytes follow the frame")
        return self._received == size

    def _check_header(self, prefix: FramePrefix, header: FrameHeader) -> float:
        """Returns how many seconds the caller may wait. Raises FrameError if its token is wrong."""
        if self._token:
            given = header.fields.get("token", "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, self._token.encode()):
                raise frames.FrameError("the token is wrong")
        if prefix.kind == frames.CONTROL:
            return CONTROL_TIMEOUT
        return self._timeout(header.fields.get("agent", ""), header.fields.get("event", ""))


def _loopback_pid(connection: socket.socket) -> int:
    """The process at the other end of a loopback connection; 0 if the system does not show it."""
    import psutil

    here, there = connection.getsockname(), connection.getpeername()
    with contextlib.suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp4"):
            if tuple(one.laddr) == there and tuple(one.raddr) == here:
                return one.pid or 0
    return 0


if sys.platform == "win32":

    def _readable(connection: socket.socket) -> bool:
        return bool(select.select([connection], [], [], 0)[0])

else:

    def _readable(connection: socket.socket) -> bool:
        return bool(_events(connection, select.POLLIN))

    def _events(connection: socket.socket, wanted: int) -> int:
        """What happened at this end; select() would refuse descriptors above 1023."""
        poll = select.poll()
        poll.register(connection, wanted)
        ready = poll.poll(0)
        return ready[0][1] if ready else 0


def _is_peer_closed(connection: socket.socket) -> bool:
    """Whether the other end is closed, with or without bytes still to be read (only Linux sees past those)."""
    if sys.platform == "linux":
        return bool(_events(connection, PEER_CLOSED))
    return _readable(connection) and connection.recv(1, socket.MSG_PEEK) == b""
