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


OTHER_STOP = of_session(EventKind.TURN_END, "s2")
END, START, NOTE = map(of_session, (EventKind.SESSION_END, EventKind.SESSION_START, EventKind.NOTIFICATION))
OTHER_END = of_session(EventKind.SESSION_END, "s2")
STEPS = {
    "a stop after a claim is the same end": ([(CLAIM, YES), (STOP, YES), (STOP, YES)], [True, False, True]),
    "a stop alone is told each time": ([(STOP, YES), (STOP, YES)], [True, True]),
    "claims without a stop in between are told each time": ([(CLAIM, YES), (CLAIM, YES)], [True, True]),
    "a refused claim is no end, and the next stop is": ([(CLAIM, NO), (STOP, YES)], [False, True]),
    "a refused stop makes the next one an end": ([(CLAIM, YES), (STOP, NO), (STOP, YES)], [True, False, True]),
    "sessions do not hide each other's ends": ([(CLAIM, YES), (OTHER_STOP, YES)], [True, True]),
    "other events are not held back": ([(CLAIM, YES), (NOTE, YES), (STOP, YES)], [True, True, False]),
    "a session that ended is forgotten": ([(CLAIM, YES), (END, YES), (STOP, YES)], [True, True, True]),
    "the end of a session is told once until it goes on": (
        [(END, YES), (END, YES), (START, YES), (END, YES), (OTHER_END, YES)],
        [True, False, True, True, True],
    ),
}


@every(("steps", "told"), STEPS.values(), ids=STEPS)
def test_the_end_of_a_turn_is_announced_only_if_it_is_new(
    steps: list[tuple[Event, Decision]], told: list[bool]
) -> None:
    turns = Turns()

    assert [turns.is_new_end(event, decision) for event, decision in steps] == told


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
