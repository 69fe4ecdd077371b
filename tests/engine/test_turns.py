"""What was done in a turn, which end of it is new, and which failed turn a usage limit ended."""

from __future__ import annotations

from typing import Any

import pytest
from clock import Clock
from every import every

from tray.engine.turns import SESSIONS, Turns, is_usage_limit, reset_words
from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind, Tool


class Turn:
    """One session with a clock that the test sets."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.work = Turns(self.clock)
        self.event(EventKind.PROMPT)

    def event(self, kind: EventKind, tool: Tool | None = None, **more: Any) -> Event:
        one = Event(id="e", **{"agent": "claude-code", "session": "s", **more}, name="X", kind=kind, tool=tool)
        self.work.observe(one)
        return one

    def used(self, name: str, failed: bool = False, agent: str = "claude-code", **given: str) -> None:
        kind = EventKind.TOOL_FAILED if failed else EventKind.TOOL_AFTER
        self.event(kind, Tool(name=name, input=given, failed=failed), agent=agent)

    @property
    def summary(self) -> str:
        return self.work.summary(self.event(EventKind.TURN_END))


def test_files_tests_and_time_of_the_turn_are_counted() -> None:
    turn = Turn()
    turn.used("Write", file_path="/p/a.py")
    turn.used("Edit", file_path="/p/a.py")
    turn.used("Edit", file_path="/p/b.py")
    turn.used("Edit", failed=True, file_path="/p/c.py")
    turn.used("Read", file_path="/p/d.py")
    turn.used("Bash", command="cd /p && python3 -m pytest -q")
    turn.clock.now += 250

    assert turn.summary == "2 files changed · tests run · 4 min"


def test_the_last_run_says_how_the_tests_stand() -> None:
    turn = Turn()
    turn.used("Bash", command="npm test")
    turn.used("Bash", failed=True, command="npm test")

    assert turn.summary == "tests failed"
    turn.used("Bash", command="npm test")
    assert turn.summary == "tests run"


def test_a_prompt_begins_anew_and_without_one_nothing_is_known() -> None:
    turn = Turn()
    turn.used("Write", file_path="/p/a.py")
    turn.event(EventKind.PROMPT)
    turn.clock.now += 12

    assert turn.summary == "12 s"
    assert turn.work.summary(Event(id="e", agent="codex", name="Stop", kind=EventKind.TURN_END, session="x")) == ""


@every(
    ("command", "is_test"),
    [
        ("pytest", True),
        ("uv run pytest -x", True),
        ("cargo test --all", True),
        ("make -j4 test", True),
        ("./gradlew test", True),
        ("yarn run test", True),
        ("cat pytest.ini", False),
        ("git commit -m 'add test'", False),
        ("pip install pytest-cov", False),
        ("ls tests", False),
    ],
)
def test_a_command_that_runs_tests_is_known_by_its_words(command: str, is_test: bool) -> None:
    turn = Turn()
    turn.used("Bash", command=command)

    assert (turn.summary == "tests run") is is_test, command


YES = Decision()
NO = Decision(verdict=Verdict.DENY, reason="tests are red")


def of_session(kind: EventKind, session: str = "s1") -> Event:
    return Event(id="e", agent="starchild", name="n", kind=kind, session=session)


CLAIM = of_session(EventKind.COMPLETION_CLAIM)
STOP = of_session(EventKind.TURN_END)


def announced(*steps: tuple[Event, Decision]) -> list[bool]:
    turns = Turns()
    return [turns.is_new_end(event, decision) for event, decision in steps]


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
    assert announced((CLAIM, YES), (of_session(EventKind.TURN_END, "s2"), YES)) == [True, True]


def test_other_events_are_not_held_back() -> None:
    assert announced((CLAIM, YES), (of_session(EventKind.NOTIFICATION), YES), (STOP, YES)) == [True, True, False]


def test_a_session_that_ended_is_forgotten() -> None:
    assert announced((CLAIM, YES), (of_session(EventKind.SESSION_END), YES), (STOP, YES)) == [True, True, True]


def test_the_end_of_a_session_is_told_once_until_it_goes_on() -> None:
    end, start = of_session(EventKind.SESSION_END), of_session(EventKind.SESSION_START)

    assert announced((end, YES), (end, YES), (start, YES), (end, YES)) == [True, False, True, True]
    assert announced((end, YES), (of_session(EventKind.SESSION_END, "s2"), YES)) == [True, True]


def test_a_thousand_sessions_take_no_more_room_than_the_limit() -> None:
    turns = Turns()
    for number in range(1_000):
        turns.is_new_end(of_session(EventKind.COMPLETION_CLAIM, str(number)), YES)

    newest = [of_session(EventKind.TURN_END, str(number)) for number in range(1_000 - SESSIONS, 1_000)]
    assert not any(turns.is_new_end(one, YES) for one in newest)
    assert turns.is_new_end(of_session(EventKind.TURN_END, "0"), YES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("You've hit your session limit · resets 3pm (Europe/Berlin)", "resets 3pm (Europe/Berlin)"),
        ("Weekly limit reached ∙ Resets Mon 9am. More at https://example.com", "Resets Mon 9am"),
        ("Quota exceeded. Try again at 10:00.", "Try again at 10:00"),
        ("Please try again in 2.5 hours", "try again in 2.5 hours"),
        ("The service is busy.", ""),
        ("", ""),
    ],
)
def test_the_part_with_the_time_is_found(text: str, words: str) -> None:
    assert reset_words(text) == words


@pytest.mark.parametrize("kind", [EventKind.TURN_END, EventKind.NOTIFICATION, EventKind.TOOL_FAILED])
def test_what_only_talks_about_a_limit_is_none(kind: EventKind) -> None:
    assert not is_usage_limit(Event(id="e", agent="codex", name="X", kind=kind, message="You hit your usage limit"))
