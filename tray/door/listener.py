"""Answers knocks: a few blocking acceptors, a thread of its own for whatever takes time, nothing that polls."""

from __future__ import annotations

import hmac
import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tray.door import address, frames
from tray.door.address import Address, Peer
from tray.door.caller import Caller, Gone, HungUp
from tray.door.frames import FrameError, Head, Lead
from tray.door.rooms import Rooms, join
from tray.errors import HooktrayError
from tray.model.decision import Answer
from tray.model.event import Knock

__all__ = ["Gone", "Listener", "Peer", "Service"]

ACCEPTORS = 4
AT_ONCE = 0.02  # seconds that an acceptor waits for a whole frame
ROOMS = 256  # threads for events
SPARE_ROOMS = 32  # threads for the user's own requests and for slow callers while all rooms are taken
CONTROL_PATIENCE = 5.0
INLINE_SIZE = 64 * 1024  # an answer that fits the socket's buffer cannot hold up an acceptor

_log = logging.getLogger(__name__)


class Service(Protocol):
    """What stands behind the door. Everything here is called from the door's threads."""

    def patience(self, agent: str, event: str) -> float:
        """Seconds the relay may wait for its answer in all."""

    def answer(self, knock: Knock) -> Answer | Callable[[Gone], Answer]:
        """The answer at once, or the work that finds it; the work gets a thread of its own."""

    def busy(self, knock: Knock) -> Answer:
        """The answer when no thread is free."""

    def neutral(self, agent: str, event: str, body: bytes) -> Answer:
        """The answer after our own failure."""

    def control(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        """A request of the CLI; a HooktrayError travels back to it."""


class Listener:
    """The open door. The caller of `start` holds the single-instance lock."""

    def __init__(self, path: Path, service: Service, *, loopback: bool = sys.platform == "win32") -> None:
        self._path = path
        self._service = service
        self._loopback = loopback
        self._closing = threading.Event()
        self._rooms = Rooms(ROOMS, "door event")
        self._spare = Rooms(SPARE_ROOMS, "door control")
        self._acceptors: list[threading.Thread] = []
        self._address: Address | None = None

    def start(self) -> None:
        self._address = address.listen(self._path, loopback=self._loopback)
        for number in range(1, ACCEPTORS + 1):
            thread = threading.Thread(target=self._accept, args=(self._address,), name=f"door {number}", daemon=True)
            self._acceptors.append(thread)
            thread.start()

    def close(self, timeout: float = 10.0) -> None:
        """No new callers; those inside are cancelled, answered and seen off, at most `timeout` seconds long."""
        if self._address is None:
            return
        until = time.monotonic() + timeout
        self._closing.set()
        self._address.remove()
        self._wake(self._address)
        join(self._acceptors, until)
        self._address.socket.close()
        self._rooms.clear(until)
        self._spare.clear(until)
        self._address = None

    def _wake(self, door: Address) -> None:
        try:
            door.socket.shutdown(socket.SHUT_RDWR)  # on Linux this ends every accept() at once
        except OSError:
            for _ in self._acceptors:
                door.nudge()

    def _accept(self, door: Address) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = door.socket.accept()
            except OSError:
                self._closing.wait(0.05)  # out of descriptors: they come back when callers leave
                continue
            if not self._admit(connection, door.token):
                connection.close()

    def _admit(self, connection: socket.socket, token: str) -> bool:
        """True when the connection now belongs to a thread of its own."""
        try:
            if connection.family == socket.AF_INET:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = address.peer(connection)
        except OSError:
            return False
        if not address.is_owner(peer):
            _log.warning("a process of user %d knocked and was sent away", peer.uid)
            return False
        caller = Caller(connection, peer, lambda lead, head: self._greet(lead, head, token))
        return self._turn(caller, lambda: self._welcome(caller))

    def _greet(self, lead: Lead, head: Head, token: str) -> float:
        shown = head.fields.get("token", "").encode("utf-8", "surrogateescape")
        if token and not hmac.compare_digest(shown, token.encode()):
            raise FrameError("the token is wrong")
        if lead.kind == frames.CONTROL:
            return CONTROL_PATIENCE
        frames.event_id(head)
        return self._service.patience(head.fields.get("agent", ""), head.fields.get("event", ""))

    def _turn(self, caller: Caller, part: Callable[[], bool]) -> bool:
        """One part of a caller's stay; no failure passes this line, and ours gives the agent its neutral answer."""
        try:
            return part()
        except HungUp:
            return False
        except Exception as error:  # noqa: BLE001  the connection is one of the three places
            if isinstance(error, FrameError) and not caller.whole:
                _log.warning("a caller (pid %d) was sent away: %s", caller.peer.pid, error)
                return False
            _log.exception("the door failed a caller (pid %d)", caller.peer.pid)
        try:
            self._console(caller)
        except Exception:  # noqa: BLE001  the last resort has failed too: closing is left
            _log.exception("no neutral answer for a caller (pid %d)", caller.peer.pid)
        return False

    def _console(self, caller: Caller) -> None:
        """Without a whole frame there is no answer: closing sends the relay to its own fall-back."""
        if not caller.whole or caller.head is None:
            return
        if caller.control:
            caller.answer(_said({"error": "the tray failed at this request", "hint": "its log says why"}, 3))
            return
        fields = caller.head.fields
        caller.answer(self._service.neutral(fields.get("agent", ""), fields.get("event", ""), caller.body()))

    def _welcome(self, caller: Caller) -> bool:
        """The acceptor's part: whoever is not done at once gets a thread."""
        if caller.read(AT_ONCE):
            return self._lodge(self._spare, caller, self._control) if caller.control else self._answer(caller)
        return self._lodge(self._rooms, caller, self._wait) or self._lodge(self._spare, caller, self._wait_outside)

    def _answer(self, caller: Caller) -> bool:
        """An event that is all there: an answer leaves inline, work goes into a room."""
        knock = caller.knock()
        if not self._rooms.take():
            return self._reply(caller, self._service.busy(knock))
        work: Callable[[Gone], Answer] | None = None
        try:
            found = self._service.answer(knock)
            if isinstance(found, Answer):
                return self._reply(caller, found)
            work = found
        finally:
            if work is None:
                self._rooms.back()
        if self._rooms.start(caller, self._guarded(caller, lambda _: caller.answer(work(caller.gone)))):
            return True
        return self._reply(caller, self._service.busy(knock))

    def _reply(self, caller: Caller, answer: Answer) -> bool:
        if len(answer.stdout) + len(answer.stderr) > INLINE_SIZE:
            return self._lodge(self._spare, caller, lambda _: caller.answer(answer))
        caller.answer(answer)
        return False

    def _wait(self, caller: Caller) -> None:
        """A slow caller's stay in a room of its own."""
        caller.wait()
        if caller.control:
            return self._control(caller)
        found = self._service.answer(caller.knock())
        return caller.answer(found if isinstance(found, Answer) else found(caller.gone))

    def _wait_outside(self, caller: Caller) -> None:
        """A slow caller's stay while every room is taken."""
        caller.wait()
        if caller.control:
            return self._control(caller)
        return caller.answer(self._service.busy(caller.knock()))

    def _control(self, caller: Caller) -> None:
        try:
            reply = _said(self._service.control(frames.decode_request(caller.body()), caller.peer), 0)
        except HooktrayError as error:
            reply = _said({"error": error.message, "hint": error.hint}, 1)
        caller.answer(reply)

    def _lodge(self, rooms: Rooms, caller: Caller, stay: Callable[[Caller], None]) -> bool:
        return rooms.take() and rooms.start(caller, self._guarded(caller, stay))

    def _guarded(self, caller: Caller, stay: Callable[[Caller], None]) -> Callable[[], None]:
        def part() -> bool:
            stay(caller)
            return True

        def run() -> None:
            self._turn(caller, part)

        return run


def _said(reply: Mapping[str, Any], code: int) -> Answer:
    return Answer(stdout=json.dumps(dict(reply)).encode(), code=code)
