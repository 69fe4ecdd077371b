"""A turn's end is told once."""

from __future__ import annotations

from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind
from tray.notify.dedup import SESSIONS, TurnDedup

YES = Decision()
NO = Decision(verdict=Verdict.DENY, reason="tests are red")


def event(kind: EventKind, session: str = "s1") -> Event:
    return Event(id="e", agent="starchild", name="n", kind=kind, session=session)


CLAIM = event(EventKind.COMPLETION_CLAIM)
STOP = event(EventKind.TURN_END)


def announced(*steps: tuple[Event, Decision]) -> list[bool]:
    turns = TurnDedup()
    return [turns.is_new(event, decision) for event, decision in steps]


def test_a_stop_after_a_claim_is_the_same_end() -> None:
    assert announced((CLAIM, YES), (STOP, YES), (STOP, YES)) == [True, False, True]


def test_a_stop_alone_is_told_each_time() -> None:
    assert announced((STOP, YES), (STOP, YES)) == [True, True]


def test_claims_without_a_stop_in_between_are_told_each_time() -> None:
    assert announced((CLAIM, YES), (CLAIM, YES)) == [True, True]


def test_a_refused_claim_is_no_end_and_the_next_stop_is() -> None:
    assert announced((CLAIM, NO), (STOP, YES)) == [False, True]


def test_a_refused_stop_after_a_claim_makes_the_next_stop_an_end_again() -> None:
    assert announced((CLAIM, YES), (STOP, NO), (STOP, YES)) == [True, False, True]


def test_sessions_do_not_hide_each_others_ends() -> None:
    assert announced((CLAIM, YES), (event(EventKind.TURN_END, "s2"), YES)) == [True, True]


def test_other_events_are_not_held_back() -> None:
    assert announced((CLAIM, YES), (event(EventKind.NOTIFICATION), YES), (STOP, YES)) == [True, True, False]


def test_a_session_that_ended_is_forgotten() -> None:
    assert announced((CLAIM, YES), (event(EventKind.SESSION_END), YES), (STOP, YES)) == [True, True, True]


def test_the_end_of_a_session_is_told_once_until_it_goes_on() -> None:
    end, start = event(EventKind.SESSION_END), event(EventKind.SESSION_START)

    assert announced((end, YES), (end, YES), (start, YES), (end, YES)) == [True, False, True, True]
    assert announced((end, YES), (event(EventKind.SESSION_END, "s2"), YES)) == [True, True]


def test_a_thousand_sessions_take_no_more_room_than_the_limit() -> None:
    turns = TurnDedup()
    for number in range(1_000):
        turns.is_new(event(EventKind.COMPLETION_CLAIM, str(number)), YES)

    newest = [turns.is_new(event(EventKind.TURN_END, str(number)), YES) for number in range(1_000 - SESSIONS, 1_000)]
    assert not any(newest)
    assert turns.is_new(event(EventKind.TURN_END, "0"), YES)
