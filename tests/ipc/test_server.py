"""The door on real sockets: who is answered how, and what is left when it closes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ipc.server_bench import (
    LONG,
    Porch,
    answer,
    exactly,
    frame,
    inside,
    is_sent_away,
    opened,
    until,
)
from relays import child_listener

from tray.ipc import frames, server
from tray.ipc.client import send_request
from tray.ipc.server import ACCEPTORS, EVENT_THREADS, INLINE_WORKERS
from tray.ipc.sockets import ListeningSocket, listen
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT, RelayRequest


@pytest.fixture
def porch(tmp_path: Path) -> Iterator[Porch]:
    with opened(tmp_path) as made:
        yield made


def test_an_answer_at_once_comes_from_an_acceptor(porch: Porch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "FRAME_WAIT", LONG)  # the caller may be interrupted between its two steps
    with porch.knock("e") as connection:
        assert frames.decode_ack(exactly(connection, frames.ACK_SIZE)) == 1500
        whole = exactly(connection, frames.REPLY_SIZE + 9)

    assert frames.decode_answer(whole) == Answer(stdout=b"inline", stderr=b"err", code=2)
    assert porch.service.threads[0] in {f"door {number}" for number in range(1, ACCEPTORS + 1)}


def test_an_answer_at_once_wakes_its_relay_only_once(porch: Porch) -> None:
    with porch.knock("e") as connection:
        select.select([connection], [], [], LONG)
        assert len(connection.recv(1000)) == frames.ACK_SIZE + frames.REPLY_SIZE + 9


def test_what_is_left_for_afterwards_holds_no_answer_up(porch: Porch) -> None:
    with porch.knock("afterwards") as connection:
        assert answer(connection).stdout == b"inline"
        assert not porch.service.gone.is_set()

    porch.service.release.set()
    assert porch.service.gone.wait(LONG)


def test_a_knock_says_what_the_frame_said_and_the_kernel_says_who_it_was(porch: Porch) -> None:
    with porch.knock("e", b"\0\xff") as connection:
        answer(connection)

    assert porch.service.knocks == [
        RelayRequest(
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


def test_work_leaves_acceptors_for_others_and_has_threads_of_its_own_beyond_them(porch: Porch) -> None:
    working = [porch.knock("work") for _ in range(20)]
    with porch.knock("e") as connection:
        assert answer(connection).stdout == b"inline"
    for _ in working:  # all are inside: a late one would find an acceptor that is free again
        assert porch.service.started.acquire(timeout=LONG)
    porch.service.release.set()

    for connection in working:
        with connection:
            assert answer(connection).stdout == b"worked"
    assert porch.service.threads.count("door event") == 20 - INLINE_WORKERS < 20


def test_a_caller_that_drips_its_frame_is_heard_and_holds_up_nobody(porch: Porch) -> None:
    slow = [porch.connect() for _ in range(8)]
    for connection in slow:
        connection.sendall(b"HKT1")
    with porch.knock("e") as quick:
        assert answer(quick).stdout == b"inline"

    for connection in slow:
        for byte in frame("e")[4:]:
            connection.send(bytes([byte]))
        with connection:
            assert answer(connection).stdout == b"inline"


def test_the_acknowledgement_does_not_wait_for_the_body(porch: Porch) -> None:
    whole = frame("e", b"x" * 1000)
    with porch.connect() as connection:
        connection.sendall(whole[:-1000])
        assert frames.decode_ack(exactly(connection, frames.ACK_SIZE)) == 1500
        assert porch.service.knocks == []
        connection.sendall(whole[-1000:])
        exactly(connection, frames.REPLY_SIZE)

    assert porch.service.knocks[0].body == b"x" * 1000


def test_a_large_answer_arrives_whole(porch: Porch) -> None:
    with porch.knock("large") as connection:
        assert answer(connection).stdout == b"x" * 3_000_000


@pytest.mark.parametrize(("extra", "kept"), [(0, True), (1, False)])
def test_a_payload_over_the_limit_is_a_problem_and_never_cut_short(porch: Porch, extra: int, kept: bool) -> None:
    size = PAYLOAD_LIMIT + extra
    with porch.knock("e", b"x" * size) as connection:
        assert answer(connection).stdout == b"inline"

    knock = porch.service.knocks[0]
    assert len(knock.body) == (size if kept else 0)
    assert knock.problem == ("" if kept else f"payload of {size} bytes is over the limit of {PAYLOAD_LIMIT}")


@pytest.mark.parametrize("event", ["fails", "fails-later", "code"])
def test_our_own_failure_gives_the_agent_its_neutral_answer(porch: Porch, event: str) -> None:
    with porch.knock(event, b"prompt") as connection:
        assert answer(connection) == Answer(stdout=b"neutral for prompt")


def test_a_failure_before_the_body_is_there_ends_without_an_answer(porch: Porch) -> None:
    with porch.connect() as connection:
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
def test_what_is_no_frame_is_sent_away(porch: Porch, bad: bytes) -> None:
    with porch.connect() as connection:
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(bad)
        with contextlib.suppress(EOFError, ConnectionResetError):
            exactly(connection, frames.ACK_SIZE)
        assert is_sent_away(connection)

    assert porch.service.knocks == []


def test_a_relay_that_ends_cancels_the_work_for_it(porch: Porch) -> None:
    connection = porch.knock("until-gone")
    assert porch.service.started.acquire(timeout=LONG)
    connection.close()

    assert porch.service.gone.wait(LONG)


def test_closing_the_door_cancels_the_work_and_still_answers(tmp_path: Path) -> None:
    porch = Porch(tmp_path / "state")
    porch.listener.start()
    connection = porch.knock("until-gone")
    assert porch.service.started.acquire(timeout=LONG)

    porch.listener.close()

    assert porch.service.gone.is_set()
    with connection:
        assert answer(connection).stdout == b"cancelled"
    assert not porch.path.exists()


def test_a_frame_that_ends_half_way_is_nobodys_event(porch: Porch) -> None:
    with porch.connect() as connection:
        connection.sendall(frame("e")[:-3])
        exactly(connection, frames.ACK_SIZE)
    with porch.knock("last") as connection:
        answer(connection)

    assert [knock.event for knock in porch.service.knocks] == ["last"]


def test_when_every_room_is_taken_events_are_busy_but_the_users_requests_pass(porch: Porch) -> None:
    working = [porch.knock("work") for _ in range(EVENT_THREADS)]
    for _ in working:
        assert porch.service.started.acquire(timeout=LONG)

    with porch.knock("e") as connection:
        assert answer(connection).stdout == b"busy"
    with porch.connect() as slow:
        slow.sendall(frame("e")[:-1])
        exactly(slow, frames.ACK_SIZE)
        assert until(lambda: inside("door slow") == 1)
        slow.sendall(frame("e")[-1:])
        assert exactly(slow, frames.REPLY_SIZE + 4).endswith(b"busy")
    assert send_request(porch.path, {"op": "status"}) == {"echo": {"op": "status"}}

    porch.service.release.set()
    for connection in working:
        with connection:
            assert answer(connection).stdout == b"worked"
    assert len(porch.service.knocks) == EVENT_THREADS


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("e", b"inline"),
        ("work", b"worked"),
        ("fails", b"neutral for payload"),
        ("fails-later", b"neutral for payload"),
    ],
)
def test_rooms_are_free_again_after_use(porch: Porch, event: str, said: bytes) -> None:
    porch.service.release.set()
    for _ in range(EVENT_THREADS + 10):
        with porch.knock(event) as connection:
            assert answer(connection).stdout == said


def test_sixty_four_callers_at_once_are_all_answered(porch: Porch) -> None:
    together = threading.Barrier(64)

    def call(_: int) -> bytes:
        together.wait(LONG)
        with porch.knock("e") as connection:
            return answer(connection).stdout

    with ThreadPoolExecutor(64) as pool:
        assert list(pool.map(call, range(64))) == [b"inline"] * 64


@pytest.mark.parametrize("loopback", [False, True])
def test_a_hung_tray_that_wakes_up_does_nothing_for_a_relay_that_has_gone(tmp_path: Path, loopback: bool) -> None:
    porch = Porch(tmp_path / "state")
    with child_listener(porch.path, loopback) as child:
        assert child.stdout is not None
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        porch.either("abandoned").close()
        child.send_signal(signal.SIGCONT)
        with porch.either("waited") as connection:
            assert answer(connection).stdout == b"waited"
        child.kill()
        assert child.stdout.read() == b"waited\n"


def test_a_door_without_threads_left_behind_can_be_opened_again(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        porch = Porch(tmp_path / "state")
        porch.listener.start()
        with porch.knock("e") as connection:
            assert answer(connection).stdout == b"inline"
        porch.listener.close()
    assert until(lambda: set(threading.enumerate()) <= before)


def test_a_door_whose_socket_was_deleted_listens_at_its_path_again_and_sees_its_callers_off(porch: Porch) -> None:
    with porch.knock("e") as before:
        porch.path.unlink()
        porch.listener.rebind()
        assert answer(before).stdout == b"inline"

    with porch.knock("e") as after:
        assert answer(after).stdout == b"inline"


def test_a_door_that_is_shut_while_it_listens_again_leaves_no_socket_behind(
    porch: Porch, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutting = threading.Thread(target=porch.listener.stop_accepting)

    def late(path: Path, *, loopback: bool) -> ListeningSocket:
        shutting.start()
        shutting.join(1.0)  # it has to wait for this
        return listen(path, loopback=loopback)

    monkeypatch.setattr("tray.ipc.sockets.listen", late)
    porch.path.unlink()
    porch.listener.rebind()
    shutting.join(20)

    assert not porch.path.exists()
