"""What the engine tells is handed over, and shown, told and kept by others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import cast

import pytest
from msgspec.structs import replace
from turns import EndedTurns

from tray.app.service import LARGE_RECORD, MEMORY_LIMIT, EventBus
from tray.desktop.presenter import Presenter
from tray.engine.session_states import TurnEndDetector
from tray.event_loop import ThrottledCall
from tray.model.decision import NO_OPINION, Decision, Record, Verdict
from tray.model.event import Event, EventKind
from tray.sessions.presence_files import PresenceFiles
from tray.sessions.session_tracker import SessionTracker
from tray.store.journal import Journal
from tray.web.page import WebPage

EVENT = Event(id="a" * 32, agent="x-code", name="TurnComplete", kind=EventKind.ROUND_END, session="s")
RECORD = Record(id=EVENT.id, at=0.0, agent="x-code", session="s", project="", event="TurnComplete", kind="round_end",
                verdict=Verdict.ABSTAIN, reason="", ms=1.0)  # fmt: skip


class Recorder(list[tuple[object, ...]]):
    """Records which listener got what; it stands in for all listeners of the bus."""

    server: object | None = None

    def __init__(self) -> None:
        super().__init__()
        self.recent: deque[Record] = deque()
        self.last_events: dict[str, float] = {}

    def set_alerted(self, ids: tuple[str, ...], word: str) -> None:
        self.append(("row", ids, word))

    def status_shown(self, turn: str, text: str) -> None:
        self.append(("running", turn, text))

    def status_hidden(self, turn: str) -> None:
        self.append(("ended", turn))

    def show(self) -> None:
        self.append(("shown",))

    def decided(self, event: Event, decision: Decision, record: Record | None = None) -> None:
        self.append(("alerts" if record else "sessions", event.id, decision.verdict))

    def arrived(self, event: Event) -> None:
        self.append(("arrived", event.id))

    def observe(self, event: Event) -> None:
        self.append(("observed", event.id))

    def publish(self, record: Record) -> None:
        self.append(("published", record.id))


class Audit:
    """Records nothing."""

    def arrived(self, event: Event) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


class Posted(list[Callable[[], object]]):
    """Stands in for the queue: keeps the work that was posted."""

    def post(self, work: Callable[[], object]) -> None:
        self.append(work)


@pytest.fixture
def posted() -> Posted:
    return Posted()


@pytest.fixture
def bus(recorder: Recorder, posted: Posted) -> EventBus:
    made = EventBus(posted, cast(Journal, recorder), TurnEndDetector(EndedTurns()))
    made.view, made.page = cast(Presenter, recorder), cast(WebPage, recorder)
    made.sessions, made.presence_files = cast(SessionTracker, recorder), cast(PresenceFiles, recorder)
    made.alerts = recorder
    made.audit = Audit()
    made.refresh = ThrottledCall(None, lambda: recorder.append(("refreshed",)), 3600.0)  # type: ignore[arg-type]
    return made


def test_nobody_is_told_in_the_thread_that_answers(bus: EventBus, recorder: Recorder, posted: Posted) -> None:
    bus.decided(EVENT, NO_OPINION, RECORD)
    bus.status_shown("t", "looks")
    bus.status_hidden("t")

    assert recorder == []
    for work in posted:
        work()
    assert recorder == [
        ("sessions", EVENT.id, Verdict.ABSTAIN),
        ("observed", EVENT.id),
        ("alerts", EVENT.id, Verdict.ABSTAIN),
        ("refreshed",),
        ("running", "t", "looks"),
        ("ended", "t"),
    ]
    assert (list(recorder.recent), recorder.last_events) == ([RECORD], {"x-code": RECORD.at})


def test_the_page_gets_a_decision_while_it_is_open(bus: EventBus, recorder: Recorder, posted: Posted) -> None:
    recorder.server = object()
    bus.decided(EVENT, NO_OPINION, RECORD)
    posted.pop()()

    assert ("published", EVENT.id) in recorder


def test_rows_written_without_the_tray_are_sorted_by_time_and_published_once(
    bus: EventBus, recorder: Recorder
) -> None:
    recorder.server = object()
    recorder.recent = deque([replace(RECORD, id=str(at), at=at) for at in (5.0, 3.0)], maxlen=3)
    recorder.last_events["x-code"] = 5.0
    missed = [replace(RECORD, id=str(at), at=at) for at in (1.0, 3.0, 4.0)]

    assert [row.at for row in bus.publish_offline(missed)] == [1.0, 4.0]

    assert recorder == [("published", "1.0"), ("published", "4.0"), ("shown",)]
    assert [row.at for row in recorder.recent] == [5.0, 4.0, 3.0]
    assert recorder.last_events == {"x-code": 5.0}


@pytest.mark.parametrize(
    "event",
    [
        replace(EVENT, kind=EventKind.SESSION_END),
        replace(EVENT, agent="claude-code", environment={"CLAUDE_CLIENT_PRESENCE_FILE": "/run/here"}),
    ],
)
def test_the_presence_files_get_what_names_one_and_the_end_of_a_session(
    bus: EventBus, recorder: Recorder, posted: Posted, event: Event
) -> None:
    bus.decided(event, NO_OPINION, RECORD)
    posted.pop()()

    assert ("observed", EVENT.id) in recorder


def test_of_a_large_decision_the_menu_keeps_what_a_row_shows(
    bus: EventBus, recorder: Recorder, posted: Posted
) -> None:
    bus.decided(EVENT, NO_OPINION, replace(RECORD, payload="x" * (LARGE_RECORD + 1)))
    posted.pop()()

    assert list(recorder.recent) == [RECORD]


def test_an_event_that_was_answered_already_is_told_when_it_arrives(
    bus: EventBus, recorder: Recorder, posted: Posted
) -> None:
    bus.arrived(replace(EVENT, kind=EventKind.SESSION_START), answered=False)
    assert posted == []
    bus.arrived(replace(EVENT, kind=EventKind.SESSION_START), answered=True)
    posted.pop()()
    assert recorder == [("arrived", EVENT.id), ("observed", EVENT.id), ("arrived", EVENT.id)]


def test_a_round_is_counted_from_its_arrival(recorder: Recorder, posted: Posted) -> None:
    ended = EndedTurns()
    turns = TurnEndDetector(ended)
    bus = EventBus(posted, cast(Journal, recorder), turns)

    assert not turns.waiting
    bus.arrived(EVENT, answered=False)
    assert turns.waiting
    bus.arrived(replace(EVENT, kind=EventKind.SESSION_END), answered=False)

    assert not turns.waiting
    assert [event.kind for event in ended.events] == [EventKind.TURN_END]


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
