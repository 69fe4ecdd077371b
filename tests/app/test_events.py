"""What the engine tells is handed over, and shown, told and kept by others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tray.app.events import MEMORY_LIMIT, EventBus
from tray.engine.turn_end import TurnEndDetector
from tray.model.decision import NO_OPINION, Decision, Record, Verdict
from tray.model.event import Event, EventKind

EVENT = Event(id="a" * 32, agent="x-code", name="TurnComplete", kind=EventKind.ROUND_END, session="s")
RECORD = Record(id=EVENT.id, at=0.0, agent="x-code", session="s", project="", event="TurnComplete", kind="round_end",
                verdict=Verdict.ABSTAIN, reason="", ms=1.0)  # fmt: skip


class Heard(list[tuple[object, ...]]):
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
def heard() -> Heard:
    return Heard()


@pytest.fixture
def chores() -> list[Callable[[], None]]:
    return []


@pytest.fixture
def news(heard: Heard, chores: list[Callable[[], None]]) -> EventBus:
    made = EventBus(chores.append, heard, TurnEndDetector(lambda: 60.0, lambda _: None))
    made.view, made.on_arrival, made.on_decision = heard, heard.told, heard.judged
    return made


def test_nobody_is_told_in_the_thread_that_answers(
    news: EventBus, heard: Heard, chores: list[Callable[[], None]]
) -> None:
    news.decided(EVENT, NO_OPINION, RECORD)
    news.status_shown("t", "looks")
    news.status_hidden("t")

    assert heard == []
    for chore in chores:
        chore()
    assert heard == [
        ("shown", EVENT.id),
        ("judged", EVENT.id, Verdict.ABSTAIN),
        ("running", "t", "looks"),
        ("ended", "t"),
    ]


def test_an_event_that_was_answered_already_is_told_when_it_arrives(
    news: EventBus, heard: Heard, chores: list[Callable[[], None]]
) -> None:
    news.arrived(replace(EVENT, kind=EventKind.SESSION_START), answered=False)
    assert chores == []
    news.arrived(replace(EVENT, kind=EventKind.SESSION_START), answered=True)
    chores.pop()()
    assert heard == [("told", EVENT.id)]


def test_a_round_is_counted_from_its_arrival(heard: Heard, chores: list[Callable[[], None]]) -> None:
    ended: list[Event] = []
    turns = TurnEndDetector(lambda: 60.0, ended.append)
    news = EventBus(chores.append, heard, turns)

    assert not news.awaits_turn_end
    news.arrived(EVENT, answered=False)
    assert news.awaits_turn_end, "what comes next may say that the turn goes on"
    news.arrived(replace(EVENT, kind=EventKind.SESSION_END), answered=False)

    assert not news.awaits_turn_end
    assert [event.kind for event in ended] == [EventKind.TURN_END]


def test_an_alert_that_was_out_before_its_row_is_written_into_it(news: EventBus, heard: Heard) -> None:
    news.alerted((EVENT.id,), "sent")
    news.decided(EVENT, NO_OPINION, RECORD)
    news.decided(EVENT, NO_OPINION, RECORD)

    assert heard == [("row", (EVENT.id,), "sent")] * 2  # once at once, once when the row is there


def test_alerts_without_a_row_are_not_kept_for_ever(news: EventBus, heard: Heard) -> None:
    news.alerted(tuple(str(number) for number in range(MEMORY_LIMIT + 1)), "sent")
    news.alerted(("last",), "sent")
    heard.clear()

    news.decided(replace(EVENT, id="0"), NO_OPINION, RECORD)
    assert heard == []
    news.decided(replace(EVENT, id="last"), NO_OPINION, RECORD)
    assert heard == [("row", ("last",), "sent")]
