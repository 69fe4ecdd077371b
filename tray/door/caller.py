"""One connection at the door: its frame arrives bit by bit, its acknowledgement early, its answer whole."""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import time
from collections.abc import Callable
from functools import cached_property

from tray.door import frames
from tray.door.address import Peer
from tray.door.frames import Head, Lead
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT, Knock

CHUNK = 256 * 1024
FIRST = 32 * 1024  # bytes that are read at first: most frames fit, and room for more costs the system more
STALL = 10.0  # seconds without progress until a caller is given up
PATIENCE = 60.0  # seconds that a whole frame may take, however steadily it drips in


if sys.platform == "linux":
    RDHUP = select.POLLRDHUP  # the other end is closed
else:
    RDHUP = 0


class HungUp(Exception):  # noqa: N818  it is no error: relays go when their agent ends them
    """The caller has closed its end before it was answered."""


class Gone:
    """Tells that the relay has closed its end: the agent ended it. `fileno` is readable from then on."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        return self._connection.fileno()

    def is_set(self) -> bool:
        # After its frame a relay sends nothing: what can be read is its end, or a caller that is no relay.
        return self.fileno() < 0 or _readable(self._connection)


class Caller:
    """Reads one frame, without a limit of its own on how many threads do so: the listener decides who waits where.

    `greet` is called once, as soon as the head is there: it checks the token and says how long the caller may wait.
    `later` is given, once the answer has left, what was left for `afterwards`.
    """

    def __init__(
        self,
        connection: socket.socket,
        peer: Peer,
        greet: Callable[[Lead, Head], float],
        later: Callable[[Callable[[], object], bool], object],
    ) -> None:
        self._connection = connection
        self.peer = peer
        self._greet = greet
        self._later = later
        self._unread: bytes | bytearray = b""  # the first piece as it came: of most frames it is all
        self._kept: list[bytes] = []
        self._received = 0  # bytes of the body, kept or not
        self._until = time.monotonic() + PATIENCE
        self._seen = False  # whether the other end was open when what has arrived was read
        self._owed = b""  # the acknowledgement, until something is sent
        self._afterwards: list[tuple[Callable[[], object], bool]] = []
        self.lead: Lead | None = None
        self.head: Head | None = None

    @cached_property
    def gone(self) -> Gone:
        return Gone(self._connection)

    @property
    def whole(self) -> bool:
        """Whether the frame is all there."""
        return self.head is not None and self.lead is not None and self._received == self.lead.body

    @property
    def control(self) -> bool:
        return self.lead is not None and self.lead.kind == frames.CONTROL

    def wait(self) -> None:
        """Read the rest of the frame, as long as it keeps coming."""
        if not self.read(STALL, renewed=True):
            raise HungUp

    def read(self, seconds: float, *, renewed: bool = False) -> bool:
        """True when the whole frame is there, False when the time is over; progress may renew the time."""
        until = time.monotonic() + seconds
        if self._take_first(seconds) and renewed:
            until = min(time.monotonic() + seconds, self._until)
        while not self._complete():
            self._seen = False
            self.acknowledge()
            left = until - time.monotonic()
            if left <= 0:  # also for a caller that sends without a pause
                return False
            self._connection.settimeout(left)
            try:
                received = self._connection.recv(CHUNK)
            except TimeoutError:
                return False
            except OSError as error:
                raise HungUp from error
            if not received:
                raise HungUp
            self._take(received)
            if renewed:
                until = min(time.monotonic() + seconds, self._until)
        return True

    def knock(self) -> Knock:
        """What an event's frame says. A body over the limit is not cut short: it is not there at all."""
        assert self.lead is not None
        assert self.head is not None
        fields, limit, size = self.head.fields, PAYLOAD_LIMIT, self.lead.body
        parent = fields.get("parent", "")
        return Knock(
            agent=fields.get("agent", ""),
            event=fields.get("event", ""),
            id=fields["id"],
            body=self.body(),
            cwd=fields.get("cwd", ""),
            environment=self.head.environment,
            pid=self.peer.pid,
            parent=int(parent) if parent.isascii() and parent.isdigit() and len(parent) < 10 else 0,
            problem=f"payload of {size} bytes is over the limit of {limit}" if size > limit else "",
        )

    def body(self) -> bytes:
        return b"".join(self._kept)

    def answer(self, answer: Answer) -> None:
        """Best effort: a caller that does not take its answer has gone."""
        data = self._owed + frames.encode_answer(answer)
        try:
            _send(self._connection, data)
        except OSError:
            return

    def acknowledge(self) -> None:
        """Have the relay wait: said before anything that takes time, else with the answer, to wake it only once."""
        owed, self._owed = self._owed, b""
        if not owed:
            return
        try:
            _send(self._connection, owed)
        except OSError as error:
            raise HungUp from error

    def afterwards(self, work: Callable[[], object], /, *, soon: bool = False) -> None:
        """Have this done once the answer has left."""
        self._afterwards.append((work, soon))

    def cancel(self) -> None:
        """Make `gone` true for whoever works for this caller; an answer can still be sent."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        self._connection.close()
        while self._afterwards:
            self._later(*self._afterwards.pop(0))

    def _take_first(self, seconds: float) -> bool:
        """All of most frames; whether something came. Only as long as no time-out is set, which is as a rule enough.

        A relay connects first and sends then, so a look without waiting is mostly too early; and to set a time-out
        would cost each caller four calls of the system more.
        """
        if sys.platform != "win32" and self._connection.gettimeout() is None:
            found = _events(self._connection, select.POLLIN | RDHUP, seconds)
            if found & RDHUP:
                raise HungUp
            if found:
                self._seen = bool(RDHUP)
                return self._receive_first()
        return False

    def _receive_first(self) -> bool:
        try:
            received = self._connection.recv(FIRST)
        except OSError as error:
            raise HungUp from error
        self._unread += received
        return bool(received)  # its end is met by whoever waits

    def _take(self, received: bytes) -> None:
        """Behind the head each piece is kept as it came: large payloads are joined once, and not copied before."""
        if self.lead is not None and self.head is not None:
            self._collect(received, self.lead.body)
            return
        if isinstance(self._unread, bytes):
            self._unread = bytearray(self._unread)  # a head may come in many pieces
        self._unread += received

    def _complete(self) -> bool:
        unread = self._unread
        if self.lead is None:
            if len(unread) < frames.LEAD_SIZE:
                return False
            self.lead = frames.decode_lead(bytes(unread[: frames.LEAD_SIZE]))
            self._unread = unread = unread[frames.LEAD_SIZE :]
        if self.head is None:
            size = self.lead.head
            if len(unread) < size:
                return False
            self.head = frames.decode_head(bytes(unread[:size]))
            self._unread = unread = unread[size:]
            self._admit(self._greet(self.lead, self.head))
        if unread:
            self._collect(bytes(unread), self.lead.body)
        return self._received == self.lead.body

    def _collect(self, arrived: bytes, size: int) -> None:
        """Move what has arrived into the body; past the payload limit it is counted and thrown away."""
        self._received += len(arrived)
        if self._received > size:
            raise frames.FrameError(f"{self._received - size} bytes follow the frame")
        if size <= PAYLOAD_LIMIT:
            self._kept.append(arrived)
        self._unread = b""

    def _admit(self, seconds: float) -> None:
        """Nothing is done for a relay that has gone elsewhere while this tray was hung."""
        if not self._seen and _hung_up(self._connection):
            raise HungUp
        self._owed = frames.encode_ack(int(seconds * 1000))


def _send(connection: socket.socket, data: bytes) -> None:
    """At once if the socket's buffer takes it, which it does with all but long answers; else as it is read."""
    sent = 0
    if sys.platform != "win32" and connection.gettimeout() is None:
        try:
            sent = connection.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            sent = 0
    if sent < len(data):
        connection.settimeout(STALL)
        connection.sendall(memoryview(data)[sent:])


if sys.platform == "win32":

    def _readable(connection: socket.socket) -> bool:
        return bool(select.select([connection], [], [], 0)[0])

else:

    def _readable(connection: socket.socket) -> bool:
        return bool(_events(connection, select.POLLIN))

    def _events(connection: socket.socket, wanted: int, seconds: float = 0.0) -> int:
        """What happened at this end within that time; select() would refuse descriptors above 1023."""
        poll = select.poll()
        poll.register(connection, wanted)
        found = poll.poll(seconds * 1000)
        return found[0][1] if found else 0


def _hung_up(connection: socket.socket) -> bool:
    """Whether the other end is closed, with or without bytes still to be read (only Linux sees past those)."""
    if sys.platform == "linux":
        return bool(_events(connection, RDHUP))
    return _readable(connection) and connection.recv(1, socket.MSG_PEEK) == b""
