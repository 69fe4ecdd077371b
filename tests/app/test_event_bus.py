"""What the engine tells is handed over, and shown, told and kept by others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tray.app.service import MEMORY_LIMIT, EventBus
from tray.engine.session_states import TurnEndDetector
from tray.model.decision import NO_OPINION, Decision, Record, Verdict
from tray.model.event import Event, EventKind

EVENT = Event(id="a" * 32, agent="x-code", name="TurnComplete", kind=EventKind.ROUND_END, session="s")
RECORD = Record(id=EVENT.id, at=0.0, agent="x-code", session="s", project="", event="TurnComplete", kind="round_end",
                verdict=Verdict.ABSTAIN, reason="", ms=1.0)  # fmt: skip


class Recorder(list[tuple[object, ...]]):
    """Records who was told what."""

    def set_alerted(self, ids: tuple[str, ...], word: str) -> None:
        self.append(("row", ids, word))

    def add(self, record: Record) -> None:
        self.append(("shown", record.id))

    def status_shown(self, turn: str, text: str) -> None:
        self.append(("running", turn, text))

    def status_hidden(self, turn: str) -> None:
        self.append(("ended", turn))

    def judged(self, event: Event, decision: Decision, record: Record) -> None:
        self.append(("judged", event.id, decision.verdict))

    def told(self, event: Event) -> None:
        self.append(("told", event.id))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def posted() -> list[Callable[[], None]]:
    return []


@pytest.fixture
def bus(recorder: Recorder, posted: list[Callable[[], None]]) -> EventBus:
    made = EventBus(posted.append, recorder, TurnEndDetector(lambda: 60.0, lambda _: None))
    made.view, made.on_arrival, made.on_decision = recorder, recorder.told, recorder.judged
    return made


def test_nobody_is_told_in_the_thread_that_answers(
    bus: EventBus, recorder: Recorder, posted: list[Callable[[], None]]
) -> None:
    bus.decided(EVENT, NO_OPINION, RECORD)
    bus.status_shown("t", "looks")
    bus.status_hidden("t")

    assert recorder == []
    for work in posted:
        work()
    assert recorder == [
        ("shown", EVENT.id),
        ("judged", EVENT.id, Verdict.ABSTAIN),
        ("running", "t", "looks"),
        ("ended", "t"),
    ]


def test_an_event_that_was_answered_already_is_told_when_it_arrives(
    bus: EventBus, recorder: Recorder, posted: list[Callable[[], None]]
) -> None:
    bus.arrived(replace(EVENT, kind=EventKind.SESSION_START), answered=False)
    assert posted == []
    bus.arrived(replace(EVENT, kind=EventKind.SESSION_START), answered=True)
    posted.pop()()
    assert recorder == [("told", EVENT.id)]


def test_a_round_is_counted_from_its_arrival(recorder: Recorder, posted: list[Callable[[], None]]) -> None:
    ended: list[Event] = []
    turns = TurnEndDetector(lambda: 60.0, ended.append)
    bus = EventBus(posted.append, recorder, turns)

    assert not turns.waiting
    bus.arrived(EVENT, answered=False)
    assert turns.waiting
    bus.arrived(replace(EVENT, kind=EventKind.SESSION_END), answered=False)

    assert not turns.waiting
    assert [event.kind for event in ended] == [EventKind.TURN_END]


def test_an_alert_that_was_out_before_its_row_is_written_into_it(bus: EventBus, recorder: Recorder) -> None:
    bus.alerted((EVENT.id,), "sent")
    bus.decided(EVENT, NO_OPINION, RECORD)
    bus.decided(EVENT, NO_OPINION, RECORD)

    assert recorder == [("row", (EVENT.id,), "sent")] * 2  # once at once, once when the row is there


def test_alerts_without_a_row_are_not_kept_for_ever(bus: EventBus, recorder: Recorder) -> None:
    bus.alerted(tuple(str(number) for number in range(MEMORY_LIMIT + 1)), "sent")
    bus.alerted(("last",), "sent")
    recorder.clear()

    bus.decided(replace(EVENT, id="0"), NO_OPINION, RECORD)
    assert recorder == []
    bus.decided(replace(EVENT, id="last"), NO_OPINION, RECORD)
    assert recorder == [("row", ("last",), "sent")]
