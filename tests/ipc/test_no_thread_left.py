"""If the server cannot start a thread, it answers from another one or closes the connection."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest
from ipc.server_bench import LONG, OpenQuestion, ServerBench, answer, exactly, frame, inside, is_sent_away, until
from threadless import no_thread_left

from tray.errors import IpcError
from tray.ipc import frames
from tray.ipc.client import send_request
from tray.ipc.server import INLINE_WORKERS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the size of a thread's stack has a limit there")


@pytest.fixture
def busy_bench(bench: ServerBench) -> Iterator[ServerBench]:
    """A bench whose acceptors are all busy, so that each further event needs a new thread."""
    with contextlib.ExitStack() as ends:
        for _ in range(INLINE_WORKERS):
            ends.enter_context(bench.send("work"))
            assert bench.service.started.acquire(timeout=LONG)
        yield bench
        bench.service.release.set()


@pytest.mark.parametrize("error", [MemoryError, RuntimeError])
def test_an_event_whose_thread_cannot_start_is_answered_as_busy_and_frees_its_slot(
    busy_bench: ServerBench, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(_: object) -> None:
        raise error

    with monkeypatch.context() as short:
        short.setattr("threading.Thread.start", fail)
        for _ in range(3):
            with busy_bench.send("work") as caller:
                assert answer(caller).stdout == b"busy"

    busy_bench.service.release.set()
    assert until(lambda: not busy_bench.listener.is_busy)
    with busy_bench.send("work") as caller:
        assert answer(caller).stdout == b"worked"


@pytest.mark.parametrize("sent", [b"", frame("e")[:-1], frame("large")], ids=["nothing", "no body", "large answer"])
def test_a_slow_caller_or_one_with_a_large_answer_is_closed(bench: ServerBench, sent: bytes) -> None:
    with no_thread_left(), bench.connect() as caller:
        caller.sendall(sent)
        if sent:
            exactly(caller, frames.ACK_SIZE)
        assert is_sent_away(caller)
    assert inside("ipc slow") == inside("ipc unidentified") == 0


def test_a_command_gets_an_error_and_the_next_one_an_answer(bench: ServerBench) -> None:
    with no_thread_left(), pytest.raises(IpcError):
        send_request(bench.path, {"op": "off"})

    assert send_request(bench.path, {"op": "off"}) == {"echo": {"op": "off"}}


def test_a_question_that_cannot_wait_is_answered_without_being_asked(bench: ServerBench) -> None:
    bench.service.pending = [(OpenQuestion(), False)]

    with no_thread_left(), bench.send("pending") as caller:
        assert answer(caller).stdout == b"unasked"


def test_a_question_that_is_answered_meanwhile_reaches_its_caller(bench: ServerBench) -> None:
    question = OpenQuestion()
    bench.service.pending = [(question, False)]
    with bench.send("pending") as caller:
        assert until(lambda: question.waiter is not None)
        with no_thread_left():
            question.end("allowed")
            assert answer(caller).stdout == b"allowed"
