"""An agent that runs real relays, a real server for them, and impostors that behave badly in its place."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tray import relay_program
from tray.engine.ports import EventCaller, Execution
from tray.execution.process import Hangup
from tray.ipc import frames
from tray.ipc.connection import CallerTerminal, ClientConnection
from tray.ipc.frames import PREFIX_SIZE
from tray.ipc.server import IpcServer, PeerCredentials
from tray.model.decision import Answer
from tray.model.event import RelayRequest

PORTABLE = relay_program.portable()
LONG = 60.0  # seconds; every wait below ends far earlier unless something is broken

Said = tuple[bytes, bytes, int]  # on stdout, on stderr, and the exit code
Judge = Callable[[bytes, Sequence[str], bytes], Said]  # takes a table, the words and the payload
Act = Callable[[socket.socket], object]  # what an impostor does with the connection of a relay
ACK = frames.encode_ack(20_000)
ANSWER = frames.encode_answer(Answer(stdout=b"out", stderr=b"err", code=2))

ONCE = """
import json, os, sys
record, code = sys.argv[1], int(sys.argv[2])
with open(record, "w") as file:
    json.dump({"argv": sys.argv[3:], "stdin": sys.stdin.buffer.read().hex(), "cwd": os.getcwd()}, file)
sys.stderr.write("for nobody's eyes")
os.write(1, b"R" + bytes([code, 0, 0, 0, 8, 0, 0, 0, 8]) + b"once outonce err")
"""


class RecordedWork(Execution, frozen=True, kw_only=True):
    """What takes long, by the name of its event."""

    recorder: Recorder
    event: str

    def run(self, hangup: Hangup | None) -> Answer:
        assert isinstance(hangup, ClientConnection)
        return self.recorder.slow(hangup) if self.event == "slow" else self.recorder.until_gone(hangup)


class Recorder:
    """A service that records its requests; the event's name says how it answers."""

    def __init__(self) -> None:
        self.requests: list[RelayRequest] = []
        self.started = threading.Event()
        self.gone = threading.Event()

    def timeout(self, agent: str, event: str) -> float:
        return 20.0

    def handle(self, request: RelayRequest, caller: EventCaller) -> Answer | Execution:
        self.requests.append(request)
        if request.event in ("slow", "until-gone"):
            return RecordedWork(recorder=self, event=request.event)
        if request.event == "echo":
            return Answer(stdout=request.body)
        return Answer(stdout=b"out\0\xff", stderr=b"err", code=2)

    def slow(self, gone: ClientConnection) -> Answer:
        """Longer than a relay waits for the acknowledgement."""
        select.select([gone], [], [], 0.5)
        return Answer(stdout=b"late")

    def until_gone(self, gone: ClientConnection) -> Answer:
        self.started.set()
        select.select([gone], [], [], LONG)
        if gone.is_set():
            self.gone.set()
        return Answer()

    def busy_answer(self, request: RelayRequest) -> Answer:
        return Answer(stdout=b"busy")

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        return Answer(stdout=b"neutral")

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, Any]:
        return {}


class Agent:
    """Runs relays in a home of its own, without a tray until one is opened."""

    def __init__(self, home: Path, relay: Sequence[str] = PORTABLE) -> None:
        self.home = home
        self.words = list(relay)
        self.state = home / "state"
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.record = home / "once.json"

    def command(self, *words: str) -> list[str]:
        return [*self.words, "--home", str(self.home), *words]

    def relay(
        self, *words: str, payload: bytes = b"{}", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return run(self.command(*words), payload, env)

    def without_tray(self, *, code: int = 0, mode: str = "once", command: list[str] | None = None) -> None:
        script = self.home / "once.py"
        script.write_text(ONCE)
        once = command or [sys.executable, "-I", "-S", str(script), str(self.record), str(code)]
        (self.state / "relay.conf").write_text(f"without_tray={mode}\nonce={chr(0x1F).join(once)}\n")

    def once(self) -> tuple[list[str], bytes] | None:
        """What `once` was given, if it ran."""
        if not self.record.exists():
            return None
        found = json.loads(self.record.read_text())
        return found["argv"], bytes.fromhex(found["stdin"])


def run(
    command: list[str], payload: bytes = b"{}", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    whole = {**os.environ, **(env or {})}
    return subprocess.run(command, input=payload, capture_output=True, timeout=LONG, check=False, env=whole)


def said(done: subprocess.CompletedProcess[bytes]) -> Said:
    return done.stdout, done.stderr, done.returncode


def copied(relay: Sequence[str], folder: Path) -> list[str]:
    """The same relay as a file in this folder, with no table beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*relay[:-1], str(shutil.copy(relay[-1], folder))]


@contextlib.contextmanager
def opened(agent: Agent, *, loopback: bool = False) -> Iterator[Recorder]:
    if sys.platform == "win32" and not loopback:
        pytest.skip("Unix sockets")
    service = Recorder()
    listener = IpcServer(agent.state / "tray.sock", service, loopback=loopback)
    listener.start()
    yield service
    listener.close()


class Impostor:
    """A daemon on the tray's socket that behaves badly: it takes one connection and does `act` with it."""

    def __init__(self, path: Path, act: Act) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()
        self._act = act
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            self._act(connection)

    def close(self) -> None:
        self._thread.join(LONG)
        self._socket.close()


def frame_of(connection: socket.socket) -> bytes:
    """Read one whole frame."""
    received = b""
    while len(received) < PREFIX_SIZE or len(received) < size_of(received):
        part = connection.recv(65536)
        if not part:
            raise EOFError("the relay has gone in the middle of its frame")
        received += part
    return received


def size_of(received: bytes) -> int:
    lead = frames.decode_prefix(received[:PREFIX_SIZE])
    return PREFIX_SIZE + lead.header_size + lead.body_size


def replies(data: bytes) -> Act:
    def act(connection: socket.socket) -> None:
        frame_of(connection)
        connection.sendall(data)

    return act


def hangs_after(data: bytes) -> Act:
    def act(connection: socket.socket) -> None:
        frame_of(connection)
        connection.sendall(data)
        connection.recv(1)  # until the relay gives up

    return act


def never_reads(connection: socket.socket) -> None:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    poll.poll(LONG * 1000)


CHILD = """
import sys, threading
from pathlib import Path
from tray.ipc.server import IpcServer
from tray.model.decision import Answer

class Service:
    def timeout(self, agent, event): return 60.0
    def handle(self, request, caller):
        print(request.event, flush=True)
        return Answer(stdout=request.event.encode())

listener = IpcServer(Path(sys.argv[1]), Service(), loopback=sys.argv[2] == "True")
listener.start()
print("open", file=sys.stderr, flush=True)
threading.Event().wait()
"""


def child_listener(path: Path, loopback: bool = False) -> subprocess.Popen[bytes]:
    """A listener in a process of its own, which can be stopped; it prints the events that reached its service."""
    command = [sys.executable, "-c", CHILD, str(path), str(loopback)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stderr is not None
    assert child.stderr.readline() == b"open\n"
    return child
