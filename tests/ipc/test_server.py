"""The server on real sockets: who is answered how, and what is left when it closes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc.server_bench import LONG, ServerBench, answer, exactly, frame, inside, is_sent_away, opened, until
from relays import child_listener

from tray.ipc import frames, server
from tray.ipc.client import send_request
from tray.ipc.server import ACCEPTORS, EVENT_THREADS, INLINE_WORKERS
from tray.ipc.sockets import ListeningSocket, listen
from tray.model.decision import Answer
from tray.model.event import PAYLOAD_LIMIT, RelayRequest


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerBench]:
    """A caller of the tests may be interrupted between connecting and sending, and is not slow then."""
    monkeypatch.setattr(server, "FRAME_WAIT", 0.5)
    with opened(tmp_path) as made:
        yield made


def test_an_answer_at_once_comes_from_an_acceptor(bench: ServerBench) -> None:
    with bench.send("e") as connection:
        assert frames.decode_ack(exactly(connection, frames.ACK_SIZE)) == 1500
        whole = exactly(connection, frames.REPLY_SIZE + 9)

    assert frames.decode_answer(whole) == Answer(stdout=b"inline", stderr=b"err", code=2)
    assert bench.service.threads[0] in {f"ipc {number}" for number in range(1, ACCEPTORS + 1)}


def test_what_is_left_for_deferred_holds_no_answer_up(bench: ServerBench) -> None:
    with bench.send("deferred") as connection:
        assert answer(connection).stdout == b"inline"
        assert not bench.service.gone.is_set()

    bench.service.release.set()
    assert bench.service.gone.wait(LONG)


def test_a_request_has_what_the_frame_says_and_the_kernel_says_who_it_was(bench: ServerBench) -> None:
    with bench.send("e", b"\0\xff") as connection:
        answer(connection)

    environment = {"HOME": "/h", "ODD": "\udcff"}
    assert bench.service.requests == [
        RelayRequest(
            agent="shelley", event="e", id="ab12", body=b"\0\xff", cwd="/w", environment=environment, pid=os.getpid(),
            parent=7,
        )
    ]  # fmt: skip


def test_work_leaves_acceptors_for_others_and_has_threads_of_its_own_beyond_them(bench: ServerBench) -> None:
    working = [bench.send("work") for _ in range(20)]
    with bench.send("e") as connection:
        assert answer(connection).stdout == b"inline"
    for _ in working:  # all are inside: a late one would find an acceptor that is free again
        assert bench.service.started.acquire(timeout=LONG)
    bench.service.release.set()

    for connection in working:
        with connection:
            assert answer(connection).stdout == b"worked"
    assert bench.service.threads.count("ipc event") == 20 - INLINE_WORKERS < 20


def test_a_caller_that_drips_its_frame_is_heard_and_holds_up_nobody(bench: ServerBench) -> None:
    slow = [bench.connect() for _ in range(8)]
    for connection in slow:
        connection.sendall(b"HKT1")
    with bench.send("e") as quick:
        assert answer(quick).stdout == b"inline"

    for connection in slow:
        for byte in frame("e")[4:]:
            connection.send(bytes([byte]))
        with connection:
            assert answer(connection).stdout == b"inline"


def test_the_acknowledgement_does_not_wait_for_the_body(bench: ServerBench) -> None:
    whole = frame("e", b"x" * 1000)
    with bench.connect() as connection:
        connection.sendall(whole[:-1000])
        assert frames.decode_ack(exactly(connection, frames.ACK_SIZE)) == 1500
        assert bench.service.requests == []
        connection.sendall(whole[-1000:])
        exactly(connection, frames.REPLY_SIZE)

    assert bench.service.requests[0].body == b"x" * 1000


def test_a_large_answer_arrives_whole(bench: ServerBench) -> None:
    with bench.send("large") as connection:
        assert answer(connection).stdout == b"x" * 3_000_000


@pytest.mark.parametrize(("extra", "kept"), [(0, True), (1, False)])
def test_a_payload_over_the_limit_is_a_problem_and_never_cut_short(
    bench: ServerBench, extra: int, kept: bool
) -> None:
    size = PAYLOAD_LIMIT + extra
    with bench.send("e", b"x" * size) as connection:
        assert answer(connection).stdout == b"inline"

    request = bench.service.requests[0]
    assert len(request.body) == (size if kept else 0)
    assert request.problem == ("" if kept else f"payload of {size} bytes is over the limit of {PAYLOAD_LIMIT}")


@pytest.mark.parametrize("event", ["fails", "fails-later", "code"])
def test_our_own_failure_gives_the_agent_its_neutral_answer(bench: ServerBench, event: str) -> None:
    with bench.send(event, b"prompt") as connection:
        assert answer(connection) == Answer(stdout=b"neutral for prompt")


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"HKT2E" + bytes(12),
        b"HKT1E" + b"\xff" * 12,
        frame(id="../../x"),
        frame("e") + b"more",
        frame("e", b"x" * 200_000) + b"more",
        frames.MAGIC + b"E\0\0\0\x03" + bytes(8) + b"abc",
    ],
)
def test_what_is_no_frame_is_sent_away(bench: ServerBench, bad: bytes) -> None:
    with bench.connect() as connection:
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(bad)
        with contextlib.suppress(EOFError, ConnectionResetError):
            exactly(connection, frames.ACK_SIZE)
        assert is_sent_away(connection)

    assert bench.service.requests == []


def test_a_failure_before_the_body_is_there_ends_without_an_answer(bench: ServerBench) -> None:
    with bench.connect() as connection:
        connection.sendall(frame("impatient", b"x" * 10)[:-1])
        assert is_sent_away(connection)


def test_a_relay_that_ends_cancels_the_work_for_it(bench: ServerBench) -> None:
    connection = bench.send("until-gone")
    assert bench.service.started.acquire(timeout=LONG)
    connection.close()

    assert bench.service.gone.wait(LONG)


def test_closing_the_server_cancels_the_work_and_still_answers(tmp_path: Path) -> None:
    bench = ServerBench(tmp_path / "state")
    bench.listener.start()
    connection = bench.send("until-gone")
    assert bench.service.started.acquire(timeout=LONG)

    bench.listener.close()

    assert bench.service.gone.is_set()
    with connection:
        assert answer(connection).stdout == b"cancelled"
    assert not bench.path.exists()


def test_a_frame_that_ends_half_way_is_nobodys_event(bench: ServerBench) -> None:
    with bench.connect() as connection:
        connection.sendall(frame("e")[:-3])
        exactly(connection, frames.ACK_SIZE)
    with bench.send("last") as connection:
        answer(connection)

    assert [request.event for request in bench.service.requests] == ["last"]


def test_when_every_room_is_taken_events_are_busy_but_the_users_requests_pass(bench: ServerBench) -> None:
    working = [bench.send("work") for _ in range(EVENT_THREADS)]
    for _ in working:
        assert bench.service.started.acquire(timeout=LONG)

    with bench.send("e") as connection:
        assert answer(connection).stdout == b"busy"
    with bench.connect() as slow:
        slow.sendall(frame("e")[:-1])
        exactly(slow, frames.ACK_SIZE)
        assert until(lambda: inside("ipc slow") == 1)
        slow.sendall(frame("e")[-1:])
        assert exactly(slow, frames.REPLY_SIZE + 4).endswith(b"busy")
    assert send_request(bench.path, {"op": "status"}) == {"echo": {"op": "status"}}

    bench.service.release.set()
    for connection in working:
        with connection:
            assert answer(connection).stdout == b"worked"
    assert len(bench.service.requests) == EVENT_THREADS


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("e", b"inline"),
        ("work", b"worked"),
        ("fails", b"neutral for payload"),
        ("fails-later", b"neutral for payload"),
    ],
)
def test_rooms_are_free_again_after_use(bench: ServerBench, event: str, said: bytes) -> None:
    bench.service.release.set()
    for _ in range(EVENT_THREADS + 10):
        with bench.send(event) as connection:
            assert answer(connection).stdout == said


@pytest.mark.parametrize("loopback", [False, True])
def test_a_hung_tray_that_wakes_up_does_nothing_for_a_relay_that_has_gone(tmp_path: Path, loopback: bool) -> None:
    bench = ServerBench(tmp_path / "state")
    with child_listener(bench.path, loopback) as child:
        assert child.stdout is not None
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        bench.either("abandoned").close()
        child.send_signal(signal.SIGCONT)
        with bench.either("waited") as connection:
            assert answer(connection).stdout == b"waited"
        child.kill()
        assert child.stdout.read() == b"waited\n"


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_server_whose_socket_was_deleted_or_replaced_listens_at_its_path_again_and_answers_its_callers(
    bench: ServerBench, is_replaced: bool
) -> None:
    with bench.send("e") as before, socket.socket(socket.AF_UNIX) as another:
        bench.path.unlink()
        if is_replaced:
            another.bind(str(bench.path))
            another.listen()
        bench.listener.rebind()
        assert answer(before).stdout == b"inline"

    with bench.send("e") as after:
        assert answer(after).stdout == b"inline"


def test_a_server_that_is_closed_while_it_listens_again_leaves_no_socket_behind(
    bench: ServerBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutting = threading.Thread(target=bench.listener.stop_accepting)

    def late(path: Path, *, loopback: bool) -> ListeningSocket:
        shutting.start()
        shutting.join(1.0)  # it has to wait for this
        return listen(path, loopback=loopback)

    monkeypatch.setattr("tray.ipc.sockets.listen", late)
    bench.path.unlink()
    bench.listener.rebind()
    shutting.join(LONG)

    assert not bench.path.exists()


@pytest.mark.parametrize("fails", [False, True])
def test_a_failure_for_which_the_service_has_no_answer_ends_only_that_connection(
    bench: ServerBench, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    def failure_answer(agent: str, event: str, body: bytes) -> Answer | None:
        if fails:
            raise RuntimeError("no answer either")
        return None

    monkeypatch.setattr(bench.service, "failure_answer", failure_answer)

    for _ in range(ACCEPTORS):
        with bench.send("fails") as connection:
            assert is_sent_away(connection)
    with bench.send("e") as connection:
        assert answer(connection).stdout == b"inline"
