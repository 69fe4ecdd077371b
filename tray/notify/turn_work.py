"""Pure: what was done in a turn, as far as the agent's events say: files changed, tests run, and how long it took."""

from __future__ import annotations

import re
import time

import msgspec

from tray.agents import patches, tools
from tray.clock import Clock
from tray.language import count, say
from tray.model.event import Event, EventKind

WORK_KINDS = frozenset({EventKind.PROMPT, EventKind.TOOL_AFTER, EventKind.TOOL_FAILED})
SESSIONS = 256  # that are remembered
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


class TurnRecord(msgspec.Struct):
    """One turn so far."""

    began: float
    files: set[str] = set()
    test_runs: int = 0
    failed_runs: int = 0


class TurnWork:
    """Takes the events of WORK_KINDS, in one thread; `summary` is of the session's turn so far."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._turns: dict[tuple[str, str], TurnRecord] = {}

    def observe(self, event: Event) -> None:
        """A prompt begins a turn; what its tools did counts afterwards."""
        kind = event.kind
        if kind is EventKind.PROMPT and not event.test:
            self._turns.pop((event.agent, event.session), None)
            self._turns[event.agent, event.session] = TurnRecord(self._clock.time())
            if len(self._turns) > SESSIONS:
                self._turns.pop(next(iter(self._turns)))
        elif kind in (EventKind.TOOL_AFTER, EventKind.TOOL_FAILED) and event.tool is not None:
            turn = self._turns.get((event.agent, event.session))
            if turn is not None:
                _add(turn, event)

    def summary(self, event: Event) -> str:
        """`3 files changed · tests run · 4 min`; "" when nothing is known."""
        turn = self._turns.get((event.agent, event.session))
        if turn is None:
            return ""
        parts = []
        if turn.files:
            parts.append(count("{n} file changed", "{n} files changed", len(turn.files)))
        if turn.test_runs:
            parts.append(say("tests failed") if turn.failed_runs else say("tests run"))
        seconds = self._clock.time() - turn.began
        if seconds >= LEAST:
            parts.append(say("{n} s", n=int(seconds)) if seconds < 60 else say("{n} min", n=int(seconds // 60)))
        return " · ".join(parts)


def _add(turn: TurnRecord, event: Event) -> None:
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
            turn.test_runs += 1
            turn.failed_runs = 1 if failed else 0  # the last run has the result that counts
