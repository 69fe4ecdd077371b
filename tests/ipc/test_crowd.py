"""Callers that take their time, or never say a word, do not keep the door from the others."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc.server_bench import Porch, answer, exactly, frame, inside, is_open, is_sent_away, opened, until
from relays import Agent, said

from tray.errors import IpcError
from tray.ipc import frames
from tray.ipc.client import send_request
from tray.ipc.server import SLOW_THREADS, UNIDENTIFIED_THREADS

BATCH = 50  # so many silent callers keep the acceptors for a quarter of a second
LARGE = 10 * 1024 * 1024
TRIES = 5  # on a busy machine a caller may need more than its 20 ms, and is then closed like the silent ones


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@pytest.fixture
def porch(agent: Agent) -> Iterator[Porch]:
    with opened(agent.home) as made:
        yield made


@contextlib.contextmanager
def crowd(porch: Porch, size: int) -> Iterator[list[socket.socket]]:
    """So many callers that send nothing, after the door has looked at each."""
    with contextlib.ExitStack() as silent:
        callers: list[socket.socket] = []

        def settled() -> bool:
            return sum(map(is_open, callers)) <= UNIDENTIFIED_THREADS

        for _ in range(0, size, BATCH):
            callers += [silent.enter_context(porch.connect()) for _ in range(BATCH)]
            assert until(settled)
        yield callers


def begun(porch: Porch, event: str, body: bytes) -> socket.socket:
    """A caller that has shown its head and now takes its time."""
    head = frame(event, body)[: -len(body)]
    for _ in range(TRIES):
        connection = porch.connect()
        try:
            connection.sendall(head)
            exactly(connection, frames.ACK_SIZE)
            return connection
        except (EOFError, OSError):
            connection.close()
    raise AssertionError("closed before it could show its head")


def reply(connection: socket.socket) -> bytes:
    start = exactly(connection, frames.REPLY_SIZE)
    return frames.decode_answer(start + exactly(connection, frames.answer_size(start) - frames.REPLY_SIZE)).stdout


def is_heard(porch: Porch) -> bool:
    try:
        return send_request(porch.path, {"op": "off"}) == {"echo": {"op": "off"}}
    except IpcError:
        return False


def test_six_hundred_silent_callers_keep_no_guard_from_its_deny(agent: Agent, porch: Porch) -> None:
    with crowd(porch, 600):
        assert any(said(agent.relay("claude-code", "deny")) == (b"", b"no", 2) for _ in range(TRIES))
        assert any(is_heard(porch) for _ in range(TRIES))
        assert inside("door silent") > 0
        assert [knock.event for knock in porch.service.knocks] == ["deny"]


def test_past_the_silent_rooms_a_newcomer_is_closed_at_once_and_its_relay_goes_to_once(porch: Porch) -> None:
    with crowd(porch, BATCH) as callers:
        assert sum(map(is_open, callers)) == UNIDENTIFIED_THREADS
        with porch.connect() as newcomer:
            assert is_sent_away(newcomer)


def test_a_silent_room_is_free_again_when_its_caller_leaves(porch: Porch) -> None:
    with crowd(porch, BATCH):
        assert inside("door silent") == UNIDENTIFIED_THREADS
    assert until(lambda: inside("door silent") == 0)

    with porch.connect() as late:
        assert until(lambda: inside("door silent") == 1)
        late.sendall(frame("deny"))
        assert answer(late).stderr == b"no"


def test_slow_but_honest_callers_get_through_beside_a_silent_crowd(porch: Porch) -> None:
    porch.service.release.set()
    with crowd(porch, 100):
        slow = [begun(porch, event, b"x" * LARGE) for event in ("e", "work", "e", "work")]
        assert until(lambda: inside("door slow") == len(slow))
        for _ in range(0, LARGE, 8192):
            for connection in slow:
                connection.sendall(b"x" * 8192)

        assert [reply(connection) for connection in slow] == [b"inline", b"worked", b"inline", b"worked"]
        for connection in slow:
            connection.close()
    assert [len(knock.body) for knock in porch.service.knocks] == [LARGE] * 4


def test_heads_without_their_bodies_take_no_event_room_either(agent: Agent, porch: Porch) -> None:
    with contextlib.ExitStack() as stalled:
        for _ in range(SLOW_THREADS):
            stalled.enter_context(begun(porch, "e", b"body"))
        assert until(lambda: inside("door slow") == SLOW_THREADS)
        with begun(porch, "e", b"body") as newcomer:
            assert is_sent_away(newcomer)

        assert said(agent.relay("claude-code", "deny")) == (b"", b"no", 2)
        assert send_request(porch.path, {"op": "off"}) == {"echo": {"op": "off"}}


def test_closing_the_door_sees_off_whoever_waits(tmp_path: Path) -> None:
    with opened(tmp_path / "other") as porch, porch.connect() as silent, begun(porch, "e", b"body") as slow:
        assert until(lambda: inside("door silent") == inside("door slow") == 1)
        porch.listener.close()

        assert inside("door silent") == inside("door slow") == 0
        assert is_sent_away(silent)
        assert is_sent_away(slow)
