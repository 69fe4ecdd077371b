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


def test_what_was_read_before_the_time_was_over_is_kept(pair: tuple[ClientConnection, socket.socket]) -> None:
    caller, relay = pair
    assert len(LARGE_HEAD) > FIRST_READ
    relay.sendall(LARGE_HEAD)

    assert not caller.read(0.0)  # the acceptor's time, over between its first piece and the next
    assert caller.read(PATIENT, extend=True)  # in a pool
    assert len(caller.relay_request().environment) == 60


@pytest.mark.parametrize(
    "first", [0, 1, frames.PREFIX_SIZE, frames.PREFIX_SIZE + 1, len(SMALL) - len(BODY), len(SMALL) - 1]
)
def test_a_frame_in_two_pieces_is_one_frame(pair: tuple[ClientConnection, socket.socket], first: int) -> None:
    caller, relay = pair
    relay.sendall(SMALL[:first])
    assert not caller.read(0.0)
    assert not caller.is_complete
    relay.sendall(SMALL[first:])

    assert caller.read(PATIENT)
    assert caller.relay_request().body == BODY


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


@pytest.mark.parametrize("sent", [b"", SMALL], ids=["nothing", "a whole frame"])
def test_nothing_is_done_for_a_relay_that_has_gone(pair: tuple[ClientConnection, socket.socket], sent: bytes) -> None:
    """Even if its frame is whole: it gave us up, and somebody else judges by now."""
    caller, relay = pair
    relay.sendall(sent)
    relay.close()

    with pytest.raises(ClientDisconnected):
        caller.read(PATIENT)
