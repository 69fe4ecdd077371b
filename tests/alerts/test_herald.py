from __future__ import annotations

from typing import Any

import pytest

from tray.alerts.herald import Herald
from tray.alerts.policy import Alert, AlertClass
from tray.model.decision import Decision, Outcome, Record, Status, Verdict
from tray.model.event import Event, EventKind


class Announced:
    """Remembers what it was given to announce."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []
        self.withdrawn: list[str] = []

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        self.alerts += alerts

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self.withdrawn += keys

    @property
    def classes(self) -> list[AlertClass]:
        return [alert.cls for alert in self.alerts]


@pytest.fixture
def announced() -> Announced:
    return Announced()


@pytest.fixture
def herald(announced: Announced) -> Herald:
    return Herald(announced, dict)


def event(kind: EventKind, id: str = "1", **more: Any) -> Event:
    fields: dict[str, Any] = {"agent": "claude-code", "name": kind.value, "session": "s", "cwd": "/p"}
    return Event(id=id, kind=kind, **{**fields, **more})


def record(event: Event, **more: Any) -> Record:
    fields: dict[str, Any] = {"at": 0.0, "project": "p", "reason": "", "ms": 1.0, "verdict": Verdict.ABSTAIN}
    return Record(
        id=event.id, agent=event.agent, session=event.session, event=event.name, kind=event.kind, **{**fields, **more}
    )


FAILED = Decision(outcomes=(Outcome(hook="h", status=Status.FAILED, cause="exit 1"),))


def test_an_event_that_was_let_go_is_told_at_once_and_its_hooks_trouble_later(
    herald: Herald, announced: Announced
) -> None:
    ended = event(EventKind.SESSION_END)

    herald.arrived(ended)
    assert announced.classes == [AlertClass.SESSION_END]
    herald.decided(ended, FAILED, record(ended))

    assert announced.classes == [AlertClass.SESSION_END, AlertClass.HOOK_FAILED]


def test_an_event_that_is_waited_for_is_told_once_with_its_decision(herald: Herald, announced: Announced) -> None:
    stop = event(EventKind.TURN_END)

    herald.decided(stop, FAILED, record(stop))

    assert sorted(announced.classes) == [AlertClass.HOOK_FAILED, AlertClass.TURN_END]


def test_a_claim_and_the_stop_after_it_are_one_end(herald: Herald, announced: Announced) -> None:
    for kind in (EventKind.COMPLETION_CLAIM, EventKind.TURN_END):
        one = event(kind, id=kind.value, agent="starchild")
        herald.decided(one, Decision(), record(one))

    assert announced.classes == [AlertClass.TURN_END]


def test_what_needed_you_is_taken_back_when_the_session_goes_on(herald: Herald, announced: Announced) -> None:
    asked = event(EventKind.NOTIFICATION, topic="permission_prompt", message="may I?")
    herald.decided(asked, Decision(), record(asked))
    assert announced.withdrawn == []

    goes_on = event(EventKind.TOOL_BEFORE, id="2")
    herald.decided(goes_on, Decision(), record(goes_on))

    assert announced.withdrawn == [announced.alerts[0].key]


def test_another_session_takes_nothing_back(herald: Herald, announced: Announced) -> None:
    asked = event(EventKind.NOTIFICATION, topic="permission_prompt")
    herald.decided(asked, Decision(), record(asked))

    other = event(EventKind.TOOL_BEFORE, id="2", session="other")
    herald.decided(other, Decision(), record(other))

    assert announced.withdrawn == []


def test_events_of_the_time_without_a_tray_are_summed_up(herald: Herald, announced: Announced) -> None:
    one = event(EventKind.TOOL_BEFORE)

    herald.offline([record(one), record(one, verdict=Verdict.DENY)])
    herald.offline([])

    assert [alert.body for alert in announced.alerts] == [
        "2 events were answered while the tray was not running, 1 denied"
    ]


def test_what_is_wrong_in_a_source_is_told_once(herald: Herald, announced: Announced) -> None:
    first, second = "/p/settings.json:6:5: unknown event `Stopp`\n  did you mean `Stop`?", "/q.json:1:1: bad"

    herald.warned([first])
    herald.warned([first])
    herald.warned([first, second, "/r.json:1:1: bad"])
    herald.warned([])
    herald.warned([first])

    bodies = [alert.body for alert in announced.alerts]
    assert bodies[0] == "/p/settings.json:6:5: unknown event `Stopp` · did you mean `Stop`?"
    assert bodies[1] == "/q.json:1:1: bad · and 1 more, see `hooktray list`"
    assert bodies[2:] == bodies[:1]
