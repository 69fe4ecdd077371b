"""One connection of a client: its frame in whatever pieces and at whatever pace."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import pytest
from ipc.event_frames import encode_event
from ipc.server_bench import Recorder

from tray.ipc import frames
from tray.ipc.connection import FIRST_READ, ClientConnection, ClientDisconnected, PeerCredentials
from tray.ipc.deferred import DeferredWork
from tray.model.event import PAYLOAD_LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pairs of Unix sockets")

BODY = b'{"hook_event_name":"Stop"}'
FIELDS = {"agent": "claude-code", "event": "Stop", "id": "0" * 32}
SMALL = encode_event(FIELDS, {"A": "b"}, BODY)
LARGE_HEAD = encode_event(FIELDS, {f"V{number}": "x" * 1000 for number in range(60)}, BODY)
PATIENT = 10.0  # seconds; nobody waits that long


@contextmanager
def connected() -> Iterator[tuple[ClientConnection, socket.socket]]:
    ours, theirs = socket.socketpair()
    caller = ClientConnection(ours, PeerCredentials(1, 1), Recorder().timeout, DeferredWork())
    with theirs:
        yield caller, theirs
        caller.close()


@pytest.fixture
def pair() -> Iterator[tuple[ClientConnection, socket.socket]]:
    with connected() as made:
        yield made


@pytest.mark.parametrize("frame", [SMALL, LARGE_HEAD], ids=["small", "large head"])
def test_a_frame_that_is_there_is_read_at_once(pair: tuple[ClientConnection, socket.socket], frame: bytes) -> None:
    caller, relay = pair
    relay.sendall(frame)

    assert caller.read(PATIENT)
    assert (caller.relay_request().body, caller.relay_request().agent) == (BODY, "claude-code")


def test_what_was_read_before_the_time_was_over_is_kept(pair: tuple[ClientConnection, socket.socket]) -> None:
    caller, relay = pair
    assert len(LARGE_HEAD) > FIRST_READ
    relay.sendall(LARGE_HEAD)

    assert not caller.read(0.0)  # the acceptor's time, over between its first piece and the next
    assert caller.read(PATIENT, extend=True)  # in a pool
    assert len(caller.relay_request().environment) == 60


@pytest.mark.parametrize(
    "first", [1, frames.PREFIX_SIZE, frames.PREFIX_SIZE + 1, len(SMALL) - len(BODY), len(SMALL) - 1]
)
def test_a_frame_in_two_pieces_is_one_frame(pair: tuple[ClientConnection, socket.socket], first: int) -> None:
    caller, relay = pair
    relay.sendall(SMALL[:first])
    assert not caller.read(0.0)
    assert not caller.is_complete
    relay.sendall(SMALL[first:])

    assert caller.read(PATIENT)
    assert caller.relay_request().body == BODY


def test_a_frame_that_drips_is_one_frame(pair: tuple[ClientConnection, socket.socket]) -> None:
    caller, relay = pair
    for number in range(len(SMALL) - 1):
        relay.sendall(SMALL[number : number + 1])
        assert not caller.read(0.001)
    relay.sendall(SMALL[-1:])

    assert caller.read(PATIENT)
    assert caller.relay_request().body == BODY


def test_a_large_frame_is_one_frame(pair: tuple[ClientConnection, socket.socket]) -> None:
    caller, relay = pair
    body = bytes(range(256)) * 8192
    sender = Timer(0, relay.sendall, [encode_event(FIELDS, {}, body)])
    sender.start()

    assert caller.read(PATIENT, extend=True)
    assert caller.relay_request().body == body
    sender.join()


@pytest.mark.parametrize("size", [len(BODY), 3 * FIRST_READ])
@pytest.mark.parametrize("more", [b"x", b"more"])
def test_nothing_may_follow_a_frame(size: int, more: bytes) -> None:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * FIRST_READ)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * FIRST_READ)
    caller = ClientConnection(ours, PeerCredentials(1, 1), Recorder().timeout, DeferredWork())
    with theirs:
        theirs.sendall(encode_event(FIELDS, {}, b"x" * size) + more)  # all of it is there to be read

        with pytest.raises(frames.FrameError, match="more bytes follow"):
            caller.read(PATIENT)
        caller.close()


def test_each_progress_in_a_room_renews_the_time() -> None:
    """On a busy machine a piece may come too late: then it is tried again with more time."""
    assert any(comes_within_renewed_time(seconds) for seconds in (2.0, 8.0, 32.0))


def comes_within_renewed_time(seconds: float) -> bool:
    """Of a frame in two pieces, each comes within so many seconds of the one before, and both together do not."""
    with connected() as (caller, relay):
        timers = [Timer(0.6 * seconds, relay.sendall, [SMALL[:5]]), Timer(1.2 * seconds, relay.sendall, [SMALL[5:]])]
        for timer in timers:
            timer.start()
        try:
            return caller.read(seconds, extend=True)
        finally:
            for timer in timers:
                timer.join()


def test_without_a_word_nobody_waits_longer_than_that(pair: tuple[ClientConnection, socket.socket]) -> None:
    caller, _ = pair

    assert not caller.read(0.01)
    assert not caller.read(0.01, extend=True)


@pytest.mark.parametrize("sent", [b"", SMALL[:3], SMALL], ids=["nothing", "a piece", "a whole frame"])
def test_nothing_is_done_for_a_relay_that_has_gone(pair: tuple[ClientConnection, socket.socket], sent: bytes) -> None:
    """Even if its frame is whole: it gave us up, and somebody else judges by now."""
    caller, relay = pair
    relay.sendall(sent)
    relay.close()

    with pytest.raises(ClientDisconnected):
        caller.read(PATIENT)


def test_a_payload_over_the_limit_is_counted_and_thrown_away(pair: tuple[ClientConnection, socket.socket]) -> None:
    caller, relay = pair
    frame = encode_event(FIELDS, {}, b"x" * (PAYLOAD_LIMIT + 1))
    sender = Timer(0, relay.sendall, [frame])
    sender.start()

    assert caller.read(PATIENT, extend=True)
    sender.join()
    assert caller.relay_request().body == b""
    assert str(PAYLOAD_LIMIT) in caller.relay_request().problem
