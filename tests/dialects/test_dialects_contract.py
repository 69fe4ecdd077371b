"""What every dialect offers, and the figures that connect and the deadlines rely on."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tray.dialects
from tray.dialects import DIALECTS, spec
from tray.model.event import Can, EventKind

TIMEOUTS = {
    ("claude-code", "Stop"): 600,
    ("claude-code", "PreToolUse"): 600,
    ("claude-code", "SessionStart"): 600,
    ("claude-code", "Notification"): 600,
    ("claude-code", "SessionEnd"): 1.5,
    ("shelley", "end-of-turn"): 30,
    ("shelley", "system-prompt"): 30,
    ("starchild", "pre_tool_call"): 20,
    ("x-code", "PreToolUse"): 30,
    ("foo", "Stop"): 30,
}
OBSERVED = {
    "claude-code": {"Notification", "SessionEnd"},
    "shelley": {"end-of-turn"},
    "starchild": {"on_session_end"},
    "x-code": {"SessionEnd", "SessionStart", "TurnComplete"},
}


def test_the_dialects_stand_in_alphabetical_order() -> None:
    assert list(DIALECTS) == ["claude-code", "shelley", "starchild", "x-code"]
    assert all(list(dialect.EVENTS) == sorted(dialect.EVENTS) for dialect in DIALECTS.values())


@pytest.mark.parametrize(("agent", "name"), TIMEOUTS)
def test_an_event_has_its_agents_own_time_limit(agent: str, name: str) -> None:
    assert spec(agent, name).timeout == TIMEOUTS[agent, name]


@pytest.mark.parametrize("agent", DIALECTS)
def test_these_events_are_observed_only(agent: str) -> None:
    assert {name for name, each in DIALECTS[agent].EVENTS.items() if each.observe_only} == OBSERVED[agent]


def test_only_claude_code_can_be_told_allow() -> None:
    able = {
        (agent, name)
        for agent, each in DIALECTS.items()
        for name in each.EVENTS
        if Can.ALLOW in spec(agent, name).can
    }

    assert able == {("claude-code", "PreToolUse")}


def test_an_unknown_event_can_carry_nothing() -> None:
    assert (spec("foo", "Stop").kind, spec("foo", "Stop").can) == (EventKind.OTHER, Can.NOTHING)


PURE = {"__future__", "collections", "dataclasses", "enum", "json", "math", "typing", "tray"}


@pytest.mark.parametrize("path", sorted(Path(tray.dialects.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_a_dialect_touches_no_file_clock_or_process(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]

    assert {name.partition(".")[0] for name in imported} <= PURE
