"""Gemini CLI's settings file as a source, and what its matchers mean."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.recordings import request_for

from tray.agents.gemini_cli.source import READER
from tray.agents.protocol import parse
from tray.engine.plan import EventSearch, matches
from tray.model.hook import Command, Hook
from tray.reading.entries import SourceHooks

GUARD = {"type": "command", "command": "./guard.sh"}


def read(
    tmp_path: Path, *handlers: dict[str, Any], event: str = "BeforeTool", group: Any = (), **more: Any
) -> SourceHooks:
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    hooks = {event: [{"hooks": handlers, **dict(group)}]}
    path.write_text(f"// its user's\n{json.dumps({'hooks': hooks, **more})}")
    return READER.read(path, (), {})


def only(found: SourceHooks) -> Hook:
    (hook,) = found.hooks
    return hook


def asks(hook: Hook, payload: dict[str, Any], project: Path, agent: str = "gemini-cli") -> bool:
    event = parse(request_for(agent, "", json.dumps({"cwd": str(project), **payload}).encode()))
    return matches(hook.match, event, EventSearch(event))


MATCHERS = [
    ("", "run_shell_command", True),
    (" * ", "run_shell_command", True),
    ("run_shell_command", "run_shell_command", True),
    ("shell", "run_shell_command", True),  # a pattern, found anywhere in the name
    ("write_file|replace", "replace", True),
    ("Bash", "run_shell_command", False),  # it knows no other names
    ("mcp_.*", "mcp_files_read", True),
    ("a(b", "run_shell_command", False),  # no pattern, so a word
    ("a(b", "a(b", True),
]


@pytest.mark.parametrize(("matcher", "tool", "expected"), MATCHERS)
def test_a_matcher_is_a_pattern_for_its_own_names(tmp_path: Path, matcher: str, tool: str, expected: bool) -> None:
    hook = only(read(tmp_path, GUARD, group={"matcher": matcher}))

    call = {"hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": {}}
    assert asks(hook, call, tmp_path) is expected
    assert not hook.inactive


@pytest.mark.parametrize(("matcher", "expected"), [("startup", True), ("start", False), ("startup|resume", False)])
def test_a_matcher_of_another_event_is_a_word(tmp_path: Path, matcher: str, expected: bool) -> None:
    hook = only(read(tmp_path, GUARD, event="SessionStart", group={"matcher": matcher}))

    assert asks(hook, {"hook_event_name": "SessionStart", "source": "startup"}, tmp_path) is expected


def test_its_matcher_finds_another_agents_shell(tmp_path: Path) -> None:
    hook = only(read(tmp_path, GUARD, group={"matcher": "run_shell_command"}))

    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
    assert asks(hook, call, tmp_path, "claude-code")


@pytest.mark.parametrize(("written", "seconds"), [(None, 60), (5, 0.005), (5000, 5)])
def test_a_time_out_is_milliseconds(tmp_path: Path, written: int | None, seconds: float) -> None:
    found = read(tmp_path, GUARD if written is None else GUARD | {"timeout": written})

    assert (only(found).timeout, found.warnings) == (seconds, ())


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_a_handler_has_its_own_name_and_runs_in_bash(tmp_path: Path) -> None:
    hook = only(read(tmp_path, GUARD | {"name": "no-rm"}))

    assert hook.name == "no-rm"
    assert isinstance(hook.action, Command)
    assert hook.action.interpreter.endswith("bash")


INACTIVE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (GUARD | {"env": {"A": "b"}}, {}, "a hook's own `env` is not in this version"),
    (GUARD, {"hooksConfig": {"disabled": ["./guard.sh"]}}, "it is in `hooksConfig.disabled` of"),
    (GUARD | {"name": "g"}, {"hooksConfig": {"disabled": ["g"]}}, "it is in `hooksConfig.disabled` of"),
    (GUARD, {"hooksConfig": {"enabled": False}}, "`hooksConfig.enabled: false` in"),
]


@pytest.mark.parametrize(("handler", "more", "reason"), INACTIVE, ids=[reason for _, _, reason in INACTIVE])
def test_what_does_not_run_is_listed_with_the_reason(
    tmp_path: Path, handler: dict[str, Any], more: dict[str, Any], reason: str
) -> None:
    assert only(read(tmp_path, handler, **more)).inactive.startswith(reason)


def test_a_group_in_sequence_is_warned_about(tmp_path: Path) -> None:
    found = read(tmp_path, GUARD, group={"sequential": True})

    assert "hooks run at once, and none sees what another one rewrites" in found.warnings[0]
    assert not only(found).inactive
