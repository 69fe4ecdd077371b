"""Qwen Code's settings file as a source, and what its matchers mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agents.recordings import request_for

from tray.agents.protocol import parse
from tray.agents.qwen_code.source import READER
from tray.engine.plan import EventSearch, matches
from tray.model.hook import AsyncMode, Hook
from tray.reading.entries import SourceHooks

GUARD = {"type": "command", "command": "./guard.sh"}


def read(tmp_path: Path, *handlers: dict[str, Any], matcher: str = "", event: str = "PreToolUse") -> SourceHooks:
    path = tmp_path / ".qwen" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    group = {"matcher": matcher, "hooks": handlers}
    path.write_text(f"// its user's\n{json.dumps({'hooks': {event: [group]}})}")
    return READER.read(path, (), {})


def only(found: SourceHooks) -> Hook:
    (hook,) = found.hooks
    return hook


def asks(hook: Hook, agent: str, tool: str, project: Path) -> bool:
    call = {"hook_event_name": "PreToolUse", "cwd": str(project), "tool_name": tool, "tool_input": {}}
    event = parse(request_for(agent, "PreToolUse", json.dumps(call).encode()))
    return matches(hook.match, event, EventSearch(event))


@pytest.mark.parametrize(
    ("written", "seconds"), [(None, 60), (5, 5), (999, 999), (1000, 1), (5000, 5)], ids=lambda each: f"{each}"
)
def test_a_time_out_from_1000_on_is_milliseconds(tmp_path: Path, written: int | None, seconds: float) -> None:
    found = read(tmp_path, GUARD if written is None else GUARD | {"timeout": written})

    assert (only(found).timeout, found.warnings) == (seconds, ())


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        ({"type": "http", "url": "http://127.0.0.1:1/"}, "hooks of the type `http` are not in this version"),
        ({"type": "prompt", "prompt": "is it safe?"}, "hooks of the type `prompt` are not in this version"),
        (GUARD | {"shell": "powershell"}, "`shell: powershell` is not in this version"),
        (GUARD | {"env": {"A": "b"}}, "a hook's own `env` is not in this version"),
    ],
    ids=["http", "prompt", "powershell", "env"],
)
def test_what_this_version_does_not_run_is_listed_with_the_reason(
    tmp_path: Path, handler: dict[str, Any], reason: str
) -> None:
    assert only(read(tmp_path, handler)).inactive == reason


def test_a_hook_that_runs_beside_the_answer(tmp_path: Path) -> None:
    assert only(read(tmp_path, GUARD | {"async": True})).async_mode is AsyncMode.ASYNC
    assert only(read(tmp_path, GUARD)).async_mode is AsyncMode.NO


MATCHERS = [
    ("", "run_shell_command", True),
    ("*", "run_shell_command", True),
    ("run_shell_command", "run_shell_command", True),
    ("shell", "run_shell_command", True),  # a pattern, found anywhere in its own name
    ("^shell", "run_shell_command", False),
    ("Bash", "run_shell_command", True),
    ("Shell", "run_shell_command", True),
    ("WriteFile | Shell", "run_shell_command", True),
    ("Bas", "run_shell_command", False),  # another name counts as a whole
    ("Edit", "notebook_edit", False),
    ("Edit", "edit", True),
    ("replace", "edit", True),
    ("Task", "agent", True),
    ("Bash", "write_file", False),
    ("mcp__.*", "mcp__files__read", True),
]


@pytest.mark.parametrize(("matcher", "tool", "expected"), MATCHERS)
def test_a_matcher_is_a_pattern_for_its_own_name_or_names_the_tool(
    tmp_path: Path, matcher: str, tool: str, expected: bool
) -> None:
    hook = only(read(tmp_path, GUARD, matcher=matcher))

    assert asks(hook, "qwen-code", tool, tmp_path) is expected


def test_its_matcher_finds_another_agents_shell(tmp_path: Path) -> None:
    hook = only(read(tmp_path, GUARD, matcher="run_shell_command"))

    assert asks(hook, "claude-code", "Bash", tmp_path)
