"""What was done in a turn, in the notification of its end."""

from __future__ import annotations

from typing import Any

from clock import Clock
from every import every

from tray.model.event import Event, EventKind, Tool
from tray.notify.turn_work import TurnWork


class Turn:
    """One session with a clock that the test sets."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.work = TurnWork(self.clock)
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
