"""The door on real sockets: who gets in, who is answered how, and what is left when it closes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tray.door import frames
from tray.door.control import ask
from tray.door.listener import ROOMS, Gone, Listener, Peer
from tray.errors import DoorError, HooktrayError
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT, Knock

LONG = 20.0  # seconds; every wait below ends far earlier unless something is broken


class Recorder:
    """A service that writes down its knocks; the event's name says how it answers."""

    def __init__(self) -> None:
        self.knocks: list[Knock] = []
        self.threads: list[str] = []
        self.peers: list[Peer] = []
        self.gone = threading.Event()
        self.release = threading.Event()
        self.started = threading.Semaphore(0)

    def patience(self, agent: str, event: str) -> float:
        return 1.5 if event != "impatient" else 1 / 0

    def answer(self, knock: Knock) -> Answer | Callable[[Gone], Answer]:
        self.knocks.append(knock)
        self.threads.append(threading.current_thread().name)
        if knock.event == "fails":
            raise RuntimeError("the service is broken")
        if knock.event == "code":
            return Answer(code=-9)
        if knock.event == "large":
            return Answer(stdout=b"x" * 3_000_000)
        if knock.event in ("work", "fails-later", "until-gone"):
            return lambda gone: self._work(knock, gone)
        return Answer(stdout=b"inline", stderr=b"err", code=2)

    def _work(self, knock: Knock, gone: Gone) -> Answer:
        self.threads.append(threading.current_thread().name)
        self.started.release()
        if knock.event == "fails-later":
            raise RuntimeError("the work is broken")
        if knock.event == "until-gone":
            assert not gone.is_set()
            select.select([gone], [], [], LONG)
            if gone.is_set():
                self.gone.set()
            return Answer(stdout=b"cancelled")
        assert self.release.wait(LONG)
        return Answer(stdout=b"worked")

    def busy(self, knock: Knock) -> Answer:
        return Answer(stdout=b"busy")

    def neutral(self, agent: str, event: str, body: bytes) -> Answer:
        return Answer(stdout=b"neutral for " + body)

    def control(self, request: Mapping[str, Any], peer: Peer) -> Mapping[str, Any]:
        self.peers.append(peer)
        if request.get("op") == "refuse":
            raise HooktrayError("no such hook", hint="look at `hooktray list`")
        if request.get("op") == "break":
            raise RuntimeError("the service is broken")
        return {"echo": request}


class House:
    """A listener in a folder of its own."""

    def __init__(self, folder: Path, *, loopback: bool = False) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / "door.sock"
        self.service = Recorder()
        self.listener = Listener(self.path, self.service, loopback=loopback)

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(LONG)
        connection.connect(str(self.path))
        return connection

    def either(self, event: str) -> socket.socket:
        """A whole knock at whichever door is open here."""
        file = self.path.with_name("door.addr")
        return by_port(self, frame(event, token=file.read_text().split()[1])) if file.exists() else self.knock(event)

    def knock(self, event: str = "", body: bytes = b"payload") -> socket.socket:
        connection = self.connect()
        connection.sendall(frame(event, body))
        return connection


def frame(event: str = "", body: bytes = b"payload", **fields: str) -> bytes:
    named = {"agent": "shelley", "event": event, "id": "ab12", "cwd": "/w", "parent": "7"} | fields
    return frames.encode_event(named, {"HOME": "/h", "ODD": "\udcff"}, body)


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


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "state")
    before = set(threading.enumerate())
    made.listener.start()
    yield made
    made.service.release.set()
    made.listener.close()
    assert set(threading.enumerate()) <= before
    assert list(made.path.parent.iterdir()) == []


def test_an_answer_at_once_comes_from_an_acceptor(house: House) -> None:
    with house.knock("e") as connection:
        assert frames.decode_ack(exactly(connection, frames.ACK_SIZE)) == 1500
        whole = exactly(connection, frames.REPLY_SIZE + 9)

    assert frames.decode_answer(whole) == Answer(stdout=b"inline", stderr=b"err", code=2)
    assert house.service.threads[0] in {"door 1", "door 2", "door 3", "door 4"}


def test_a_knock_says_what_the_frame_said_and_the_kernel_says_who_it_was(house: House) -> None:
    with house.knock("e", b"\0\xff") as connection:
        answer(connection)

    assert house.service.knocks == [
        Knock(
            agent="shelley",
            event="e",
            id="ab12",
            body=b"\0\xff",
            cwd="/w",
            environment={"HOME": "/h", "ODD": "\udcff"},
            pid=os.getpid(),
            parent=7,
        )
    ]


def test_work_has_a_thread_of_its_own_and_does_not_hold_up_the_door(house: House) -> None:
    working = [house.knock("work") for _ in range(20)]
    with house.knock("e") as connection:
        assert answer(connection).stdout == b"inline"
    house.service.release.set()

    for connection in working:
        with connection:
            assert answer(connection).stdout == b"worked"
    assert house.service.threads.count("door event") == 20


def test_a_caller_that_drips_its_frame_is_heard_and_holds_up_nobody(house: House) -> None:
    slow = [house.connect() for _ in range(8)]
    for connection in slow:
        connection.sendall(b"HKT1")
    with house.knock("e") as quick:
        assert answer(quick).stdout == b"inline"

    for connection in slow:
        for byte in frame("e")[4:]:
            connection.send(bytes([byte]))
        with connection:
            assert answer(connection).stdout == b"inline"


def test_the_acknowledgement_does_not_wait_for_the_body(house: House) -> None:
    whole = frame("e", b"x" * 1000)
    with house.connect() as connection:
        connection.sendall(whole[:-1000])
        assert frames.decode_ack(exactly(connection, frames.ACK_SIZE)) == 1500
        assert house.service.knocks == []
        connection.sendall(whole[-1000:])
        exactly(connection, frames.REPLY_SIZE)

    assert house.service.knocks[0].body == b"x" * 1000


def test_a_large_answer_arrives_whole(house: House) -> None:
    with house.knock("large") as connection:
        assert answer(connection).stdout == b"x" * 3_000_000


@pytest.mark.parametrize(("extra", "kept"), [(0, True), (1, False)])
def test_a_payload_over_the_limit_is_a_problem_and_never_cut_short(house: House, extra: int, kept: bool) -> None:
    size = PAYLOAD_LIMIT + extra
    with house.knock("e", b"x" * size) as connection:
        assert answer(connection).stdout == b"inline"

    knock = house.service.knocks[0]
    assert len(knock.body) == (size if kept else 0)
    assert knock.problem == ("" if kept else f"payload of {size} bytes is over the limit of {PAYLOAD_LIMIT}")


@pytest.mark.parametrize("event", ["fails", "fails-later", "code"])
def test_our_own_failure_gives_the_agent_its_neutral_answer(house: House, event: str) -> None:
    with house.knock(event, b"prompt") as connection:
        assert answer(connection) == Answer(stdout=b"neutral for prompt")


def test_a_failure_before_the_body_is_there_ends_without_an_answer(house: House) -> None:
    with house.connect() as connection:
        connection.sendall(frame("impatient", b"x" * 10)[:-1])
        assert is_sent_away(connection)


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"HKT2E" + bytes(12),
        b"HKT1E" + b"\xff" * 12,
        frame(id="../../x"),
        frame("e") + b"more",
        frames.MAGIC + b"E\0\0\0\x03" + bytes(8) + b"abc",
    ],
)
def test_what_is_no_frame_is_sent_away(house: House, bad: bytes) -> None:
    with house.connect() as connection:
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(bad)
        with contextlib.suppress(EOFError, ConnectionResetError):
            exactly(connection, frames.ACK_SIZE)
        assert is_sent_away(connection)

    assert house.service.knocks == []


def test_a_relay_that_ends_cancels_the_work_for_it(house: House) -> None:
    connection = house.knock("until-gone")
    assert house.service.started.acquire(timeout=LONG)
    connection.close()

    assert house.service.gone.wait(LONG)


def test_closing_the_door_cancels_the_work_and_still_answers(tmp_path: Path) -> None:
    house = House(tmp_path / "state")
    house.listener.start()
    connection = house.knock("until-gone")
    assert house.service.started.acquire(timeout=LONG)

    house.listener.close()

    assert house.service.gone.is_set()
    with connection:
        assert answer(connection).stdout == b"cancelled"
    assert not house.path.exists()


def test_a_frame_that_ends_half_way_is_nobodys_event(house: House) -> None:
    with house.connect() as connection:
        connection.sendall(frame("e")[:-3])
        exactly(connection, frames.ACK_SIZE)
    with house.knock("last") as connection:
        answer(connection)

    assert [knock.event for knock in house.service.knocks] == ["last"]


def test_when_every_room_is_taken_events_are_busy_but_the_users_requests_pass(house: House) -> None:
    working = [house.knock("work") for _ in range(ROOMS)]
    for _ in working:
        assert house.service.started.acquire(timeout=LONG)

    with house.knock("e") as connection:
        assert answer(connection).stdout == b"busy"
    with house.connect() as slow:
        slow.sendall(frame("e")[:-1])
        exactly(slow, frames.ACK_SIZE)
        assert until(lambda: "door control" in {thread.name for thread in threading.enumerate()})
        slow.sendall(frame("e")[-1:])
        assert exactly(slow, frames.REPLY_SIZE + 4).endswith(b"busy")
    assert ask(house.path, {"op": "status"}) == {"echo": {"op": "status"}}

    house.service.release.set()
    for connection in working:
        with connection:
            assert answer(connection).stdout == b"worked"
    assert len(house.service.knocks) == ROOMS


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("e", b"inline"),
        ("work", b"worked"),
        ("fails", b"neutral for payload"),
        ("fails-later", b"neutral for payload"),
    ],
)
def test_rooms_are_free_again_after_use(house: House, event: str, said: bytes) -> None:
    house.service.release.set()
    for _ in range(ROOMS + 10):
        with house.knock(event) as connection:
            assert answer(connection).stdout == said


def test_sixty_four_callers_at_once_are_all_answered(house: House) -> None:
    callers = [house.connect() for _ in range(64)]
    for connection in callers:
        connection.sendall(frame("e"))

    assert all(answer(connection).stdout == b"inline" for connection in callers)
    for connection in callers:
        connection.close()


@pytest.mark.parametrize("loopback", [False, True])
def test_a_hung_tray_that_wakes_up_does_nothing_for_a_relay_that_has_gone(tmp_path: Path, loopback: bool) -> None:
    house = House(tmp_path / "state")
    with child_listener(house.path, loopback) as child:
        assert child.stdout is not None
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        house.either("abandoned").close()
        child.send_signal(signal.SIGCONT)
        with house.either("waited") as connection:
            assert answer(connection).stdout == b"waited"
        child.kill()
        assert child.stdout.read() == b"waited\n"


def test_a_door_without_threads_left_behind_can_be_opened_again(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        house = House(tmp_path / "state")
        house.listener.start()
        with house.knock("e") as connection:
            assert answer(connection).stdout == b"inline"
        house.listener.close()
    assert set(threading.enumerate()) <= before


# Who gets in


def test_the_socket_is_the_owners_alone(house: House) -> None:
    assert stat.S_IMODE(house.path.lstat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o500])
def test_a_folder_with_another_mode_is_refused_with_its_cure(tmp_path: Path, mode: int) -> None:
    house = House(tmp_path / "state")
    house.path.parent.chmod(mode)

    with pytest.raises(DoorError, match=f"state: has mode {mode:04o}, not 0700\n.*chmod 700"):
        house.listener.start()


def test_a_folder_that_inherited_the_setgid_bit_is_still_closed(tmp_path: Path) -> None:
    house = House(tmp_path / "state")
    house.path.parent.chmod(0o2700)
    house.listener.start()

    with house.knock("e") as connection:
        assert answer(connection).stdout == b"inline"
    house.listener.close()


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(DoorError, match="link: is not a real folder"):
        Listener(tmp_path / "link" / "door.sock", Recorder()).start()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DoorError, match="nowhere: there is no such folder"):
        Listener(tmp_path / "nowhere" / "door.sock", Recorder()).start()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to give a folder away")
def test_a_folder_of_someone_else_is_refused(tmp_path: Path) -> None:
    house = House(tmp_path / "state")
    os.chown(house.path.parent, 65534, 65534)

    with pytest.raises(DoorError, match="state: belongs to user 65534"):
        house.listener.start()


def test_the_socket_of_a_tray_that_was_killed_is_replaced(tmp_path: Path) -> None:
    house = House(tmp_path / "state")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
        stale.bind(str(house.path))
    house.listener.start()

    with house.knock("e") as connection:
        assert answer(connection).stdout == b"inline"
    house.listener.close()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_socket_is_not_removed(tmp_path: Path, kind: str) -> None:
    house = House(tmp_path / "state")
    if kind == "file":
        house.path.write_text("mine")
    else:
        house.path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(DoorError, match="something that is no socket is in the way"):
        house.listener.start()
    assert house.path.is_symlink() or house.path.read_text() == "mine"


def test_closing_leaves_the_socket_of_the_next_tray(tmp_path: Path) -> None:
    first, second = House(tmp_path / "state"), House(tmp_path / "state")
    first.listener.start()
    second.listener.start()
    first.listener.close()

    with second.knock("e") as connection:
        assert answer(connection).stdout == b"inline"
    second.listener.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_path_too_long_for_a_socket_works(tmp_path: Path) -> None:
    house = House(tmp_path / ("deep" * 30) / ("er" * 50))
    house.listener.start()

    assert ask(house.path, {"op": "ping"}) == {"echo": {"op": "ping"}}
    house.listener.close()
    assert not house.path.exists()


STRANGER = """
import os, socket, sys
os.chdir(sys.argv[1])
os.setgid(65534); os.setuid(65534)
for _ in range(50):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("door.sock")
    try:
        connection.sendall(bytes.fromhex(sys.argv[2]))
    except BrokenPipeError:
        pass
    try:
        assert connection.recv(1) == b"", "answered"
    except ConnectionResetError:
        pass
    connection.close()
print("sent away 50 times")
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_another_user_is_sent_away_even_when_the_folder_is_open(house: House) -> None:
    house.path.parent.chmod(0o755)
    house.path.chmod(0o777)
    command = [sys.executable, "-I", "-c", STRANGER, str(house.path.parent), frame("e").hex()]

    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)

    assert (done.stdout, done.stderr) == ("sent away 50 times\n", "")
    assert house.service.knocks == []


# Requests of the CLI


def test_a_request_is_answered_and_the_service_learns_who_asks(house: House) -> None:
    assert ask(house.path, {"op": "status", "deep": [1, "é"]}) == {"echo": {"op": "status", "deep": [1, "é"]}}
    assert house.service.peers == [Peer(os.getpid(), os.getuid())]


def test_a_refusal_travels_back_with_its_hint(house: House) -> None:
    with pytest.raises(DoorError, match="no such hook\n  look at `hooktray list`"):
        ask(house.path, {"op": "refuse"})


def test_a_broken_service_is_said_without_its_traceback(house: House) -> None:
    with pytest.raises(DoorError, match="the tray failed at this request"):
        ask(house.path, {"op": "break"})


@pytest.mark.parametrize("left", ["nothing", "folder", "socket"])
def test_without_a_tray_the_cli_says_how_to_start_it(tmp_path: Path, left: str) -> None:
    path = tmp_path / "state" / "door.sock"
    if left != "nothing":
        path.parent.mkdir(mode=0o700)
    if left == "socket":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
            stale.bind(str(path))

    with pytest.raises(DoorError, match=r"the tray is not running .*\n  `hooktray run` starts it"):
        ask(path, {"op": "status"})


def test_a_tray_that_breaks_off_is_said(tmp_path: Path) -> None:
    house = House(tmp_path / "state")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(house.path))
        door.listen()
        quitter = threading.Thread(target=lambda: door.accept()[0].close())
        quitter.start()
        with pytest.raises(DoorError, match="the tray broke off"):
            ask(house.path, {"op": "status"})
        quitter.join()


# Where there are no Unix sockets


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "state", loopback=True)
    before = set(threading.enumerate())
    made.listener.start()
    yield made
    made.listener.close()
    assert set(threading.enumerate()) <= before
    assert list(made.path.parent.iterdir()) == []


def by_port(house: House, data: bytes) -> socket.socket:
    port = int(house.path.with_name("door.addr").read_text().split()[0])
    connection = socket.create_connection(("127.0.0.1", port), LONG)
    connection.sendall(data)
    return connection


def test_the_token_is_kept_in_a_file_of_the_owners(loopback: House) -> None:
    file = loopback.path.with_name("door.addr")

    assert stat.S_IMODE(file.lstat().st_mode) == 0o600
    assert len(file.read_text().split()[1]) == 64


def test_with_the_token_a_loopback_knock_is_answered(loopback: House) -> None:
    token = loopback.path.with_name("door.addr").read_text().split()[1]
    with by_port(loopback, frame("e", token=token)) as connection:
        assert answer(connection).stdout == b"inline"

    assert loopback.service.knocks[0].pid == 0
    assert ask(loopback.path, {"op": "ping"}) == {"echo": {"op": "ping"}}


@pytest.mark.parametrize("token", ["", "0" * 64, "\udcff"])
def test_without_the_token_a_loopback_knock_is_sent_away(loopback: House, token: str) -> None:
    with by_port(loopback, frame("e", token=token)) as connection:
        assert is_sent_away(connection)

    assert loopback.service.knocks == []


CHILD = """
import sys, threading
from pathlib import Path
from tray.door.listener import Listener
from tray.model.decision import Answer

class Service:
    def patience(self, agent, event): return 60.0
    def answer(self, knock):
        print(knock.event, flush=True)
        return Answer(stdout=knock.event.encode())

listener = Listener(Path(sys.argv[1]), Service(), loopback=sys.argv[2] == "True")
listener.start()
print("open", file=sys.stderr, flush=True)
threading.Event().wait()
"""


def child_listener(path: Path, loopback: bool) -> subprocess.Popen[bytes]:
    """A listener in a process of its own, which can be stopped; it prints the events that reached its service."""
    command = [sys.executable, "-c", CHILD, str(path), str(loopback)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stderr is not None
    assert child.stderr.readline() == b"open\n"
    return child
