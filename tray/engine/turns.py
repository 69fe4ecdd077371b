"""The turns of sessions: which end is new, what was done in a turn, and whether a usage limit ended it.

It takes all of this from the agents' events.
"""

from __future__ import annotations

import re
import time

import msgspec

from tray.agents import patches, tools
from tray.agents.protocol import goes_on
from tray.clock import Clock
from tray.language import count, say
from tray.model.decision import Decision
from tray.model.event import Event, EventKind
from tray.recent import Recent
from tray.text import first_line

WORK_KINDS = frozenset({EventKind.PROMPT, EventKind.TOOL_AFTER, EventKind.TOOL_FAILED})
END_KINDS = frozenset({EventKind.COMPLETION_CLAIM, EventKind.SESSION_END, EventKind.TURN_END})
SESSIONS = 256  # remembered; with more, the end of a turn may count twice
MAX_FILES = 1000  # of one turn that are distinguished
WRITERS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})  # canonical names
SHELL = "Bash"
PATHS = ("file_path", "notebook_path", "path")
COMMAND_LIMIT = 2000  # characters of a command that are looked at
LEAST = 10.0  # seconds; shorter turns are not worth a time
# A command that runs tests, at its beginning or behind what joins commands; some words may be in front.
TESTS = re.compile(
    r"(?:^|[;&|(\n])\s*(?:(?:\w+=\S*|bundle|env|exec|hatch|nice|npx|pdm|pipenv|poetry|run|sudo|time|uvx?)\s+)*"
    r"(?:(?:\S*/)?(?:pytest|tox|nox|jest|vitest|phpunit|rspec|ctest)"
    r"|(?:\S*/)?python[\d.]*\s+-m\s+(?:pytest|unittest)"
    r"|(?:cargo|go|dotnet|swift|mix|rake|rails|make|bun|deno|gradle|\./gradlew|mvn|bazel|zig)\s+(?:\S+\s+)?test"
    r"|(?:npm|pnpm|yarn)\s+(?:run\s+)?test)(?=[\s;&|):]|$)"
)

LIMIT_TOPIC = "rate_limit"  # why a turn failed; the message then has the time when the limit ends
# Agents that give no such reason have it in their message.
_LIMIT = re.compile(
    r"\b(?:usage|session|weekly|rate)\slimit\b|\bhit\syour\s[\w -]{,20}limit\b|\bquota\sexceeded\b", re.I
)
_SECONDS = re.compile(r"\|(\d{10})\b")  # how some say when it ends: seconds since 1970
_END = re.compile(r"\b(?:resets?|try again)\b(?:(?!\. |\.$)[^·|]){,40}", re.I)


class _Turn(msgspec.Struct):
    """One turn so far."""

    began: float
    is_test: bool = False
    files: set[str] = set()
    tests_passed: bool | None = None  # in the last run; None without one


class Turns:
    """Remembers the last sessions. One thread uses it."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._turns: Recent[tuple[str, str], _Turn] = Recent(SESSIONS)
        self._claimed: Recent[tuple[str, str], None] = Recent(SESSIONS)
        self._ended: Recent[tuple[str, str], None] = Recent(SESSIONS)  # until the session continues

    def observe(self, event: Event) -> None:
        """Takes an event of WORK_KINDS. A prompt begins a turn; later tool events add to it."""
        session = _session(event)
        if event.kind is EventKind.PROMPT:
            self._turns[session] = _Turn(self._clock.time(), event.test)
        elif event.tool is not None and (turn := self._turns.get(session)) is not None:
            _add(turn, event)

    def has_ended(self, event: Event) -> bool:
        """True if the session has ended and `is_new_end` has seen no later event of it."""
        return _session(event) in self._ended

    def is_new_end(self, event: Event, decision: Decision) -> bool:
        """Takes an event of END_KINDS, and any event of a session that has ended. Returns False for a repeated end.

        A completion claim and the stop after it are one end; some agents report the end of a session three times.
        """
        session = _session(event)
        if event.kind is EventKind.SESSION_END:
            self._claimed.pop(session, None)
            is_first = session not in self._ended
            self._ended[session] = None
            return is_first
        self._ended.pop(session, None)
        if event.kind not in END_KINDS:
            return True
        was_claimed = session in self._claimed
        self._claimed.pop(session, None)
        if goes_on(event, decision):
            return False
        if event.kind is EventKind.TURN_END:
            return not was_claimed
        self._claimed[session] = None
        return True

    def is_short(self, event: Event, least: float) -> bool:
        """Whether this turn took less than `least` seconds; one without a known begin is long enough."""
        turn = self._turns.get(_session(event))
        return turn is not None and self._clock.time() - turn.began < least

    def summary(self, event: Event) -> str:
        """`3 files changed · tests run · 4 min`; "" when nothing is known."""
        turn = self._turns.get(_session(event))
        if turn is None or turn.is_test:
            return ""
        parts = []
        if turn.files:
            parts.append(count("{n} file changed", "{n} files changed", len(turn.files)))
        if turn.tests_passed is not None:
            parts.append(say("tests run") if turn.tests_passed else say("tests failed"))
        seconds = self._clock.time() - turn.began
        if seconds >= LEAST:
            parts.append(say("{n} s", n=int(seconds)) if seconds < 60 else say("{n} min", n=int(seconds // 60)))
        return " · ".join(parts)


def _session(event: Event) -> tuple[str, str]:
    return event.agent, event.session or event.cwd


def _add(turn: _Turn, event: Event) -> None:
    tool = event.tool
    assert tool is not None
    name, given = tools.canonical_call(event.agent, tool)[:2]
    failed = tool.failed or event.kind is EventKind.TOOL_FAILED
    if name in WRITERS and not failed:
        paths = given.get(patches.FILES) or [given[key] for key in PATHS if isinstance(given.get(key), str)][:1]
        turn.files.update(filter(None, paths[: MAX_FILES - len(turn.files)]))
    elif name == SHELL:
        command = given.get("command")
        if isinstance(command, str) and TESTS.search(command[:COMMAND_LIMIT]):
            turn.tests_passed = not failed


def is_usage_limit(event: Event) -> bool:
    """Whether a limit made this turn fail."""
    return event.kind is EventKind.TURN_FAILED and (
        event.topic == LIMIT_TOPIC or bool(_LIMIT.search(first_line(event.message)))
    )


def with_reset(message: str) -> str:
    """The agent's words about when the limit ends; seconds since 1970 as a time of the user's clock."""

    def reset_time(found: re.Match[str]) -> str:
        return " · " + say("resets {time}", time=time.strftime("%d %b %H:%M", time.localtime(int(found[1]))))

    return _SECONDS.sub(reset_time, message)


def reset_words(text: str) -> str:
    """The part of a limit's text that has the time; "" without one: `resets 3pm`."""
    found = _END.search(text)
    return found[0].strip() if found else ""
