from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from threadless import no_thread_left
from turns import EndedTurns

from tray.engine.session_states import TurnEndDetector
from tray.model.event import Event, EventKind


def event(kind: EventKind, session: str = "1:/p", id: str = "r1") -> Event:
    return Event(id=id, agent="x-code", name="X", kind=kind, session=session, cwd="/p")


@pytest.fixture
def ended() -> EndedTurns:
    return EndedTurns()


@pytest.fixture
def quick(ended: EndedTurns) -> Iterator[TurnEndDetector]:
    ended.turn_quiet_seconds = 0.05
    turns = TurnEndDetector(ended)
    yield turns
    turns.close()


@pytest.fixture
def patient(ended: EndedTurns) -> Iterator[TurnEndDetector]:
    ended.turn_quiet_seconds = 3600
    turns = TurnEndDetector(ended)
    yield turns
    turns.close()


def test_a_session_that_stays_quiet_has_ended_its_turn(quick: TurnEndDetector, ended: EndedTurns) -> None:
    quick.observe(event(EventKind.ROUND_END))

    assert ended.first.wait(60)
    assert (ended.events[0].kind, ended.events[0].session) == (EventKind.TURN_END, "1:/p")
    assert ended.events[0].id != "r1"


def test_a_session_that_ends_has_ended_its_turn_at_once(patient: TurnEndDetector, ended: EndedTurns) -> None:
    patient.observe(event(EventKind.ROUND_END))
    patient.observe(event(EventKind.SESSION_END))

    assert [one.kind for one in ended.events] == [EventKind.TURN_END]


@pytest.mark.parametrize("kind", [EventKind.TOOL_BEFORE, EventKind.PROMPT])
def test_a_session_that_continues_has_not_ended_its_turn(
    patient: TurnEndDetector, ended: EndedTurns, kind: EventKind
) -> None:
    patient.observe(event(EventKind.ROUND_END))
    patient.observe(event(kind))
    patient.observe(event(EventKind.SESSION_END))

    assert ended.events == []


def test_several_rounds_are_one_turn(ended: EndedTurns) -> None:
    ended.turn_quiet_seconds = 3600
    turns = TurnEndDetector(ended)
    for number in range(4):
        turns.observe(event(EventKind.ROUND_END, id=f"r{number}"))
    ended.turn_quiet_seconds = 0.05  # only after the last one it is quiet
    turns.observe(event(EventKind.ROUND_END, id="r4"))

    assert ended.first.wait(60)
    assert not turns.waiting
    turns.close()
    assert len(ended.events) == 1


def test_sessions_do_not_disturb_each_other(patient: TurnEndDetector, ended: EndedTurns) -> None:
    patient.observe(event(EventKind.ROUND_END, session="a"))
    patient.observe(event(EventKind.TOOL_BEFORE, session="b"))
    patient.observe(event(EventKind.SESSION_END, session="a"))

    assert [one.session for one in ended.events] == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="the size of a thread's stack has a limit there")
def test_a_round_continues_if_no_thread_for_its_timer_can_start(
    patient: TurnEndDetector, ended: EndedTurns, caplog: pytest.LogCaptureFixture
) -> None:
    with no_thread_left():
        patient.observe(event(EventKind.ROUND_END))

    assert not patient.waiting
    assert "the end of a turn of x-code will not be noticed: can't start new thread" in caplog.text
    patient.observe(event(EventKind.ROUND_END))
    patient.observe(event(EventKind.SESSION_END))
    assert [one.kind for one in ended.events] == [EventKind.TURN_END]
