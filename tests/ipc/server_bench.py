"""A real server for the tests of this package: a service that records, and callers that speak the wire format."""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ipc.event_frames import encode_event

from tray.engine.ports import EventCaller, Execution
from tray.errors import HooktrayError
from tray.execution.process import Hangup
from tray.ipc import frames
from tray.ipc.connection import CallerTerminal, ClientConnection
from tray.ipc.pending import PendingAnswer, PendingAnswers
from tray.ipc.server import IpcServer, PeerCredentials
from tray.model.decision import Answer
from tray.model.event import RelayRequest

LONG = 60.0  # seconds; every wait below ends far earlier unless something is broken


class Work(Execution, frozen=True, kw_only=True):
    """What an event leads to, by its name; `pending` is the question that comes out of it."""

    service: Recorder
    request: RelayRequest
    pending: PendingAnswer | None = None

    def run(self, hangup: Hangup | None) -> Any:
        if self.pending is not None:
            return self.pending
        if self.request.event == "deny":
            return Answer(stderr=b"no", code=2)
        assert isinstance(hangup, ClientConnection)
        return self.service.work(self.request, hangup)


class Recorder:
    """A service that records its requests; the event's name says how it answers."""

    def __init__(self) -> None:
        self.requests: list[RelayRequest] = []
        self.threads: list[str] = []
        self.peers: list[PeerCredentials] = []
        # For `pending`: the answer, and whether it comes out of work.
        self.pending: list[tuple[PendingAnswer, bool]] = []
        self.gone = threading.Event()
        self.release = threading.Event()
        self.started = threading.Semaphore(0)

    def timeout(self, agent: str, event: str) -> float:
        return 1.5 if event != "impatient" else 1 / 0

    def handle(self, request: RelayRequest, caller: EventCaller) -> Answer | PendingAnswer | Execution:
        self.requests.append(request)
        self.threads.append(threading.current_thread().name)
        if request.event == "fails":
            raise RuntimeError("the service is broken")
        if request.event == "pending":
            question, worked = self.pending.pop(0)
            return Work(service=self, request=request, pending=question) if worked else question
        if request.event == "code":
            return Answer(code=-9)
        if request.event == "deferred":
            caller.defer(self._deferred)
        if request.event == "large":
            return Answer(stdout=b"x" * 3_000_000)
        if request.event in ("deny", "work", "fails-later", "until-gone"):
            return Work(service=self, request=request)
        return Answer(stdout=b"inline", stderr=b"err", code=2)

    def _deferred(self) -> None:
        self.release.wait(LONG)
        self.gone.set()

    def work(self, request: RelayRequest, gone: ClientConnection) -> Answer:
        self.threads.append(threading.current_thread().name)
        assert not gone.is_set()
        self.started.release()
        if request.event == "fails-later":
            raise RuntimeError("the work is broken")
        if request.event == "until-gone":
            select.select([gone], [], [], LONG)
            if gone.is_set():
                self.gone.set()
            return Answer(stdout=b"cancelled")
        assert self.release.wait(LONG)
        return Answer(stdout=b"worked")

    def busy_answer(self, request: RelayRequest) -> Answer:
        return Answer(stdout=b"busy")

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        return Answer(stdout=b"neutral for " + body)

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, Any]:
        self.peers.append(peer)
        if request.get("op") == "refuse":
            raise HooktrayError("no such hook", hint="look at `hooktray list`")
        if request.get("op") == "break":
            raise RuntimeError("the service is broken")
        return {"echo": request}


class OpenQuestion:
    """A pending question like the engine's, which the test answers."""

    def __init__(self, timeout: float = LONG, full: bool = False) -> None:
        self.timeout = timeout
        self.full = full
        self.said: list[str] = []
        self.waiter: PendingAnswers | None = None
        self._answer: Answer | None = Answer(stdout=b"unasked")
        self._lock = threading.Lock()

    def open(self, waiter: PendingAnswers) -> None:
        if self.full:
            waiter.resume(self)
        else:
            self.waiter = waiter

    def answer(self) -> Answer | None:
        return self._answer

    def end(self, how: str) -> None:
        self._end(Answer(stdout=how.encode()), how)

    def _end(self, answer: Answer | None, *said: str) -> None:
        with self._lock:
            waiter, self.waiter = self.waiter, None
        if waiter is not None:
            self._answer = answer
            self.said += said
            waiter.resume(self)

    def client_disconnected(self) -> None:
        self.end("gone")

    def expired(self) -> None:
        self.end("late")

    def shut_down(self) -> None:
        self._end(None)


class ServerBench:
    """A listener in a folder of its own, and callers that come to it."""

    def __init__(self, folder: Path, *, loopback: bool = False) -> None:
        if sys.platform == "win32" and not loopback:
            pytest.skip("Unix sockets")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / "tray.sock"
        self.service = Recorder()
        self.listener = IpcServer(self.path, self.service, loopback=loopback)

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(LONG)
        connection.connect(str(self.path))
        return connection

    def either(self, event: str) -> socket.socket:
        """Send a whole event to whichever socket is open."""
        file = self.path.with_name("tray.addr")
        return by_port(self, frame(event, token=file.read_text().split()[1])) if file.exists() else self.send(event)

    def send(self, event: str = "", body: bytes = b"payload") -> socket.socket:
        connection = self.connect()
        connection.sendall(frame(event, body))
        return connection


def frame(event: str = "", body: bytes = b"payload", **fields: str) -> bytes:
    named = {"agent": "shelley", "event": event, "id": "ab12", "cwd": "/w", "parent": "7"} | fields
    return encode_event(named, {"HOME": "/h", "ODD": "\udcff"}, body)


def exactly(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise EOFError(received)
        received += part
    return received


def answer(connection: socket.socket) -> Answer:
    frames.decode_ack(exactly(connection, frames.ACK_SIZE))
    start = exactly(connection, frames.REPLY_SIZE)
    return frames.decode_answer(start + exactly(connection, frames.answer_size(start) - frames.REPLY_SIZE))


def is_sent_away(connection: socket.socket) -> bool:
    """Closed without a byte."""
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > end:
            return False
        select.select([], [], [], 0.005)
    return True


def inside(pool: str) -> int:
    """How many threads of that name there are."""
    return [thread.name for thread in threading.enumerate()].count(pool)


def is_open(connection: socket.socket) -> bool:
    return select.select([connection], [], [], 0)[0] == []


@contextlib.contextmanager
def opened(folder: Path, *, loopback: bool = False) -> Iterator[ServerBench]:
    """An open server that leaves no thread and no file behind."""
    made = ServerBench(folder / "state", loopback=loopback)
    before = set(threading.enumerate())
    made.listener.start()
    yield made
    made.service.release.set()
    made.listener.close()
    assert until(lambda: set(threading.enumerate()) <= before)  # who has left may still be on the origin out
    assert list(made.path.parent.iterdir()) == []


def by_port(bench: ServerBench, data: bytes) -> socket.socket:
    port = int(bench.path.with_name("tray.addr").read_text().split()[0])
    connection = socket.create_connection(("127.0.0.1", port), LONG)
    connection.sendall(data)
    return connection
