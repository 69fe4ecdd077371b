"""Callers that take their time, or never say a word, do not block the others."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc.server_bench import ServerBench, answer, exactly, frame, inside, is_open, is_sent_away, opened, until
from relays import Agent, said

from tray.errors import IpcError
from tray.ipc import frames
from tray.ipc.client import send_request
from tray.ipc.server import SLOW_THREADS, UNIDENTIFIED_THREADS

BATCH = 50  # so many silent callers keep the acceptors for a quarter of a second
LARGE = 1024 * 1024
TRIES = 5  # on a busy machine a caller may need more than its 20 ms, and is then closed like the silent ones


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


@pytest.fixture
def bench(agent: Agent) -> Iterator[ServerBench]:
    with opened(agent.home) as made:
        yield made


@contextlib.contextmanager
def crowd(bench: ServerBench, size: int) -> Iterator[list[socket.socket]]:
    """So many callers that send nothing, after the server has looked at each."""
    with contextlib.ExitStack() as silent:
        callers: list[socket.socket] = []

        def settled() -> bool:
            return sum(map(is_open, callers)) <= UNIDENTIFIED_THREADS

        for _ in range(0, size, BATCH):
            callers += [silent.enter_context(bench.connect()) for _ in range(BATCH)]
            assert until(settled)
        yield callers


def begun(bench: ServerBench, event: str, body: bytes) -> socket.socket:
    """A caller that has shown its head and now takes its time."""
    head = frame(event, body)[: -len(body)]
    for _ in range(TRIES):
        connection = bench.connect()
        try:
            connection.sendall(head)
            exactly(connection, frames.ACK_SIZE)
            return connection
        except (EOFError, OSError):
            connection.close()
    raise AssertionError("closed before it could show its head")


def in_slow_room(bench: ServerBench) -> socket.socket:
    """A caller whose head was there in time; one that took more than its 20 ms is in a room of the unidentified."""
    for _ in range(TRIES):
        before = inside("ipc slow")
        connection = begun(bench, "e", b"body")
        assert until(lambda: inside("ipc slow") + inside("ipc unidentified") > before)  # noqa: B023
        if inside("ipc slow") > before:
            return connection
        connection.close()
        assert until(lambda: inside("ipc unidentified") == 0)
    raise AssertionError("its head was never there in time")


def reply(connection: socket.socket) -> bytes:
    start = exactly(connection, frames.REPLY_SIZE)
    return frames.decode_answer(start + exactly(connection, frames.answer_size(start) - frames.REPLY_SIZE)).stdout


def is_heard(bench: ServerBench) -> bool:
    try:
        return send_request(bench.path, {"op": "off"}) == {"echo": {"op": "off"}}
    except IpcError:
        return False


def test_six_hundred_silent_callers_keep_no_guard_from_its_deny(agent: Agent, bench: ServerBench) -> None:
    with crowd(bench, 600):
        assert any(said(agent.relay("claude-code", "deny")) == (b"", b"no", 2) for _ in range(TRIES))
        assert any(is_heard(bench) for _ in range(TRIES))
        assert inside("ipc unidentified") > 0
        assert [request.event for request in bench.service.requests] == ["deny"]


def test_over_the_limit_of_silent_callers_a_new_one_is_closed_until_one_leaves(bench: ServerBench) -> None:
    with crowd(bench, BATCH) as callers:
        assert sum(map(is_open, callers)) == inside("ipc unidentified") == UNIDENTIFIED_THREADS
        with bench.connect() as newcomer:
            assert is_sent_away(newcomer)
    assert until(lambda: inside("ipc unidentified") == 0)

    with bench.connect() as late:
        assert until(lambda: inside("ipc unidentified") == 1)
        late.sendall(frame("deny"))
        assert answer(late).stderr == b"no"


def test_slow_but_honest_callers_get_through_beside_a_silent_crowd(bench: ServerBench) -> None:
    bench.service.release.set()
    with crowd(bench, 100):
        slow = [begun(bench, event, b"x" * LARGE) for event in ("e", "work", "e", "work")]
        assert until(lambda: inside("ipc slow") == len(slow))
        for _ in range(0, LARGE, 8192):
            for connection in slow:
                connection.sendall(b"x" * 8192)

        assert [reply(connection) for connection in slow] == [b"inline", b"worked", b"inline", b"worked"]
        for connection in slow:
            connection.close()
    assert [len(request.body) for request in bench.service.requests] == [LARGE] * 4


def test_heads_without_their_bodies_take_no_event_room_either(agent: Agent, bench: ServerBench) -> None:
    with contextlib.ExitStack() as stalled:
        for _ in range(SLOW_THREADS):
            stalled.enter_context(in_slow_room(bench))
        assert until(lambda: inside("ipc slow") == SLOW_THREADS)
        with begun(bench, "e", b"body") as newcomer:
            assert is_sent_away(newcomer)

        assert said(agent.relay("claude-code", "deny")) == (b"", b"no", 2)
        assert send_request(bench.path, {"op": "off"}) == {"echo": {"op": "off"}}


def test_closing_the_server_ends_whoever_waits(tmp_path: Path) -> None:
    with opened(tmp_path / "other") as bench, bench.connect() as silent, begun(bench, "e", b"body") as slow:
        assert until(lambda: inside("ipc unidentified") == inside("ipc slow") == 1)
        bench.listener.close()

        assert inside("ipc unidentified") == inside("ipc slow") == 0
        assert is_sent_away(silent)
        assert is_sent_away(slow)
