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
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tray.door import address, frames
from tray.door.address import Address, Peer
from tray.door.afterwards import Afterwards
from tray.door.caller import Caller, Gone, HungUp
from tray.door.frames import FrameError, Head, Lead
from tray.door.parking import Parked, Parking, Work
from tray.door.rooms import Rooms
from tray.engine.ears import After
from tray.errors import HooktrayError
from tray.model.decision import Answer
from tray.model.event import Knock

__all__ = ["Gone", "Listener", "Peer", "Service"]

ACCEPTORS = 8
WORKING = 4  # of them, at most, on events that take time: to start a thread for such a one takes time as well
AT_ONCE = 0.02  # seconds that an acceptor waits for a whole frame
ROOMS = 256  # threads for events; nobody gets one without a whole frame in hand
REQUEST_ROOMS = 32  # threads for the user's own requests, whole as well
SILENT_ROOMS = 32  # threads for callers that have not yet said who they are, nor shown their token
SLOW_ROOMS = 32  # threads for callers known by their head, whose body or long answer takes time
CONTROL_PATIENCE = 5.0
ENDING = 0.05  # seconds between two words to acceptors that are at work, when the door closes
INLINE_SIZE = 64 * 1024  # an answer that fits the socket's buffer cannot hold up an acceptor

_log = logging.getLogger(__name__)


class Service(Protocol):
    """What stands behind the door. Everything here is called from the door's threads."""

    def patience(self, agent: str, event: str) -> float:
        """Seconds the relay may wait for its answer in all."""

    def answer(
        self, knock: Knock, after: After, slow: Callable[[], object]
    ) -> Answer | Parked | Callable[[Gone], Answer | Parked | None] | None:
        """The answer at once, or the work that finds it; the work gets a thread of its own, what waits gets none.

        None closes the connection without an answer, so that the relay asks the one-shot engine.
        What is given to `after` is done once the answer has left; it may not raise. `slow` is called before anything
        that takes more than a moment.
        """

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
        self._owner = address.owner()
        self._service = service
        self._loopback = loopback
        self._closing = threading.Event()
        self._moving = threading.Lock()  # held while the path of the socket changes hands
        self._silent = Rooms(SILENT_ROOMS, "door silent")
        self._slow = Rooms(SLOW_ROOMS, "door slow")
        self._rooms = Rooms(ROOMS, "door event")
        self._requests = Rooms(REQUEST_ROOMS, "door control")
        self._parking = Parking(self._drive_off)
        self._afterwards = Afterwards()
        self._working = threading.Semaphore(WORKING)
        self._acceptors: list[threading.Thread] = []
        self._address: Address | None = None

    def start(self) -> None:
        self._address = address.listen(self._path, loopback=self._loopback)
        self._afterwards.start()
        self._start_acceptors(self._address)

    def _start_acceptors(self, place: Address) -> None:
        for number in range(1, ACCEPTORS + 1):
            thread = threading.Thread(target=self._accept, args=(place,), name=f"door {number}", daemon=True)
            self._acceptors.append(thread)
            thread.start()

    def rebind(self) -> None:
        """Listen at the path again, where the socket was deleted or replaced; callers that are inside stay."""
        with self._moving:
            old = self._address
            if old is None or self._closing.is_set():
                return
            self._address = address.listen(self._path, loopback=self._loopback)
            try:
                old.socket.shutdown(socket.SHUT_RDWR)
                self._acceptors = [one for one in self._acceptors if one.is_alive()]
            except OSError:  # only Linux wakes the old acceptors; elsewhere they wait on, unused
                self._acceptors = []
            old.socket.close()
            self._start_acceptors(self._address)

    @property
    def busy(self) -> bool:
        """Whether the answer of an event is being worked on."""
        return self._rooms.taken

    def shut(self, timeout: float = 3.0) -> None:
        """Take no new events; open questions are closed without an answer.

        A caller whose frame is whole stays until it is answered. A frame that becomes whole later is not answered.
        """
        with self._moving:
            if self._address is None or self._closing.is_set():
                return
            self._closing.set()
            self._address.remove()
            self._wake(self._address)
        self._parking.clear(time.monotonic() + timeout)

    def close(self, timeout: float = 10.0) -> None:
        """No new callers; those inside are cancelled, answered and seen off, at most `timeout` seconds long."""
        if self._address is None:
            return
        until = time.monotonic() + timeout
        self.shut(timeout)
        while (left := [one for one in self._acceptors if one.is_alive()]) and time.monotonic() < until:
            self._rooms.cancel()
            left[0].join(ENDING)
        self._address.socket.close()
        for rooms in (self._silent, self._slow, self._rooms, self._requests):  # callers move on in this order
            rooms.clear(until)
        self._afterwards.close(until)
        self._address = None

    def _wake(self, place: Address) -> None:
        try:
            place.socket.shutdown(socket.SHUT_RDWR)  # on Linux this ends every accept() at once
        except OSError:
            for _ in self._acceptors:
                place.nudge()

    def _accept(self, place: Address) -> None:
        greet = partial(self._greet, place.token)
        while not self._closing.is_set() and place is self._address:
            try:
                connection = address.accept(place)
            except OSError:
                self._closing.wait(0.05)  # out of descriptors: they come back when callers leave
                continue
            if self._closing.is_set():
                connection.close()
            else:
                self._admit(connection, place.family, greet)

    def _admit(self, connection: socket.socket, family: int, greet: Callable[[Lead, Head], float]) -> None:
        """Serve the caller, unless it moves on to another thread, which then sees it off."""
        try:
            if family == socket.AF_INET:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = address.peer(connection, family)
        except OSError:
            connection.close()
            return
        if peer.uid != self._owner:
            _log.warning("a process of user %d knocked and was sent away", peer.uid)
            connection.close()
            return
        caller = Caller(connection, peer, greet, self._afterwards.put)
        if not self._turn(caller, self._welcome):
            caller.close()

    def _greet(self, token: str, lead: Lead, head: Head) -> float:
        if token and not _shows(head, token):
            raise FrameError("the token is wrong")
        if lead.kind == frames.CONTROL:
            return CONTROL_PATIENCE
        frames.event_id(head)
        return self._service.patience(head.fields.get("agent", ""), head.fields.get("event", ""))

    def _turn(self, caller: Caller, part: Callable[[Caller], bool]) -> bool:
        """One part of a caller's stay; no failure passes this line, and ours gives the agent its neutral answer."""
        try:
            return part(caller)
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
        """The acceptor's part: who is slow waits apart, or is closed at once, so that its relay goes to `once`."""
        if caller.read(AT_ONCE):
            return self._serve(caller, here=True)
        return self._lodge(self._silent if caller.head is None else self._slow, caller, self._wait)

    def _wait(self, caller: Caller) -> bool:
        caller.wait()
        return self._serve(caller, here=False)

    def _serve(self, caller: Caller, *, here: bool) -> bool:
        """A frame that is all there. An answer leaves inline, work is done `here` or goes into a room."""
        if self._closing.is_set():
            return False
        if caller.control:
            return self._lodge(self._requests, caller, self._control)
        knock = caller.knock()
        if not self._rooms.take():
            return self._reply(caller, self._service.busy(knock))
        work: Callable[[Gone], Answer | Parked | None] | None = None
        try:
            found = self._service.answer(knock, caller.afterwards, caller.acknowledge)
            if isinstance(found, Answer):
                return self._reply(caller, found)
            if found is None:
                return False
            caller.acknowledge()
            if not callable(found):
                return self._park(caller, found)
            work = found
        finally:
            if work is None:
                self._rooms.back()
        part = self._part(caller, lambda _: self._said(caller, work(caller.gone)))
        if here and self._working.acquire(blocking=False):
            try:
                self._rooms.here(caller, part)
            finally:
                self._working.release()
            return True
        if self._rooms.start(caller, part):
            return True
        return self._reply(caller, self._service.busy(knock))

    def _said(self, caller: Caller, found: Answer | Parked | None) -> bool:
        return _see_off(caller, found) if found is None or isinstance(found, Answer) else self._park(caller, found)

    def _park(self, caller: Caller, parked: Parked) -> bool:
        return self._parking.take(caller, parked) or _see_off(caller, parked.unasked())

    def _drive_off(self, caller: Caller, work: Work) -> None:
        """From the parking place through a room, which a user's answer finds free, else right here."""
        part = self._part(caller, lambda _: _see_off(caller, work()))
        if not (self._rooms.take() and self._rooms.start(caller, part)):
            part()
            caller.close()

    def _reply(self, caller: Caller, answer: Answer) -> bool:
        if len(answer.stdout) + len(answer.stderr) > INLINE_SIZE:
            return self._lodge(self._slow, caller, lambda _: _see_off(caller, answer))
        caller.answer(answer)
        return False

    def _control(self, caller: Caller) -> bool:
        try:
            reply = _said(self._service.control(frames.decode_request(caller.body()), caller.peer), 0)
        except HooktrayError as error:
            reply = _said({"error": error.message, "hint": error.hint}, 1)
        return _see_off(caller, reply)

    def _lodge(self, rooms: Rooms, caller: Caller, part: Callable[[Caller], bool]) -> bool:
        caller.acknowledge()
        return rooms.take() and rooms.start(caller, self._part(caller, part))

    def _part(self, caller: Caller, part: Callable[[Caller], bool]) -> Callable[[], bool]:
        return partial(self._turn, caller, part)


def _shows(head: Head, token: str) -> bool:
    shown = head.fields.get("token", "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(shown, token.encode())


def _see_off(caller: Caller, answer: Answer | None) -> bool:
    """The end of a stay: the caller moves on to nobody else."""
    if answer is not None:
        caller.answer(answer)
    return False


def _said(reply: Mapping[str, Any], code: int) -> Answer:
    return Answer(stdout=json.dumps(dict(reply)).encode(), code=code)
