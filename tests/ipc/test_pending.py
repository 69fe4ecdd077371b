"""Whoever waits for the user holds no thread, hears of the end once, and slows nobody down."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from ipc.server_bench import LONG, OpenQuestion, Recorder, ServerBench, answer, exactly, inside, is_sent_away, until

from tray.ipc import frames
from tray.ipc.connection import ClientConnection, PeerCredentials
from tray.ipc.deferred import DeferredWork
from tray.ipc.pending import PendingAnswer, PendingAnswers
from tray.model.decision import Answer

MANY = 200


class RecordingSender:
    """In the place of the server: keeps the answers that it is to send."""

    def __init__(self) -> None:
        self.delivered: queue.Queue[PendingAnswer] = queue.Queue()

    def deliver(self, caller: ClientConnection, answer: PendingAnswer) -> None:
        self.delivered.put(answer)


@pytest.fixture(params=["inline", "after work"])
def origin(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def add_pending(bench: ServerBench, question: OpenQuestion, origin: str = "inline") -> None:
    bench.service.pending.append((question, origin == "after work"))


def waits(question: OpenQuestion) -> bool:
    return until(lambda: question.waiter is not None)


def test_the_answer_leaves_when_the_user_has_spoken_and_until_then_nobody_holds_a_thread(
    bench: ServerBench, origin: str
) -> None:
    question = OpenQuestion()
    add_pending(bench, question, origin)
    caller = bench.send("pending")
    assert waits(question)
    assert until(lambda: inside("ipc event") == 0)
    assert inside("ipc pending") == 1

    question.end("allowed")

    assert heard(caller) == b"allowed"
    assert until(lambda: inside("ipc pending") == 0)


def test_a_caller_that_disconnects_leaves_the_others_waiting(bench: ServerBench) -> None:
    leaving, staying = OpenQuestion(), OpenQuestion()
    for one in (leaving, staying):
        add_pending(bench, one)
    first, second = bench.send("pending"), bench.send("pending")
    assert waits(leaving)
    assert waits(staying)

    first.close()

    assert until(lambda: leaving.said + staying.said == ["gone"])
    (leaving if not leaving.said else staying).end("allowed")
    assert heard(second) == b"allowed"


@pytest.mark.parametrize(("keys", "said"), [({"timeout": 0.05}, b"late"), ({"full": True}, b"unasked")])
def test_a_caller_is_answered_if_its_question_expires_or_cannot_be_asked(
    bench: ServerBench, keys: dict[str, Any], said: bytes
) -> None:
    add_pending(bench, OpenQuestion(**keys))

    assert heard(bench.send("pending")) == said


def test_when_the_tray_quits_open_questions_are_closed_without_an_answer(bench: ServerBench) -> None:
    crowd = [OpenQuestion() for _ in range(5)]
    for one in crowd:
        add_pending(bench, one)
    callers = [bench.send("pending") for _ in crowd]
    assert all(map(waits, crowd))

    bench.listener.close()

    for caller in callers:
        with caller:
            exactly(caller, frames.ACK_SIZE)
            assert is_sent_away(caller)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_if_their_thread_fails_waiting_callers_are_closed_and_the_next_question_is_asked(bench: ServerBench) -> None:
    class FailingQuestion(OpenQuestion):
        def client_disconnected(self) -> None:
            raise MemoryError

    failing, waiting = FailingQuestion(), OpenQuestion()
    for one in (failing, waiting):
        add_pending(bench, one)
    first = bench.send("pending")
    assert waits(failing)
    with bench.send("pending") as second:
        assert waits(waiting)

        first.close()

        exactly(second, frames.ACK_SIZE)
        assert is_sent_away(second)
    waiting.end("allowed")  # too late
    add_pending(bench, OpenQuestion(timeout=0.05))
    assert heard(bench.send("pending")) == b"late"


def test_a_question_that_comes_while_the_tray_quits_is_closed_without_an_answer() -> None:
    class LateQuestion(OpenQuestion):
        def open(self, waiter: PendingAnswers) -> None:
            answers.close(time.monotonic())  # between the look whether the tray quits and the opened question
            super().open(waiter)

    sender = RecordingSender()
    answers = PendingAnswers(sender.deliver)
    with waiting_caller() as caller:
        assert answers.add(caller, LateQuestion())

        assert sender.delivered.get(timeout=LONG).answer() is None


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_question_that_no_file_can_be_opened_for_is_not_asked_and_the_next_one_is(left: int) -> None:
    import resource

    sender = RecordingSender()
    answers = PendingAnswers(sender.deliver)
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    with waiting_caller() as caller, waiting_caller() as next_caller:
        free = os.dup(0)  # the lowest one
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + left, usual[1]))
        try:
            is_added = answers.add(caller, OpenQuestion())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, usual)
        caller.close()
        question = OpenQuestion()
        answers.add(next_caller, question)
        question.end("allowed")

        assert not is_added
        assert sender.delivered.get(timeout=LONG).answer() == Answer(stdout=b"allowed")


@contextlib.contextmanager
def waiting_caller() -> Iterator[ClientConnection]:
    connection, other = socket.socketpair()
    caller = ClientConnection(connection, PeerCredentials(os.getpid(), 0), Recorder().timeout, DeferredWork())
    with other, contextlib.closing(caller):
        yield caller


def test_two_hundred_questions_take_one_thread_and_delay_no_other_event(bench: ServerBench) -> None:
    crowd = [OpenQuestion() for _ in range(MANY)]
    for one in crowd:
        add_pending(bench, one)
    callers = [bench.send("pending") for _ in crowd]
    assert all(map(waits, crowd))

    assert heard(bench.send()) == b"inline"

    assert inside("ipc pending") == 1
    for one in crowd:
        one.end("allowed")
    assert {heard(caller) for caller in callers} == {b"allowed"}


def heard(caller: socket.socket) -> bytes:
    """The answer of a caller, who leaves with it."""
    with caller:
        return answer(caller).stdout
