"""Kimi Code's config.toml as a source, and what its matchers mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agents.recordings import request_for

from tray.agents.kimi_code import source
from tray.agents.protocol import parse
from tray.engine.plan import EventSearch, matches
from tray.model.hook import Hook
from tray.reading.entries import SourceHooks


def read(tmp_path: Path, text: str) -> SourceHooks:
    path = tmp_path / ".kimi-code" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'# mine\nmodel = "k3"\n\n[[hooks]]\ncommand = "./guard.sh"\n{text}\n')
    return source.read(path, (), {})


def only(found: SourceHooks) -> Hook:
    (hook,) = found.hooks
    return hook


def asks(hook: Hook, payload: dict[str, Any], agent: str = "kimi-code") -> bool:
    client = {"client_type": "kimi_code_cli"} if agent == "kimi-code" else {}
    event = parse(request_for(agent, "", json.dumps({"cwd": "/p", **client, **payload}).encode()))
    return matches(hook.match, event, EventSearch(event))


MATCHERS = [("", True), ("Bash", True), ("Bas", True), ("^Write|Bash$", True), ("bash", False), ("Write", False)]


@pytest.mark.parametrize(("matcher", "expected"), MATCHERS)
def test_a_matcher_is_a_pattern_for_the_tool(tmp_path: Path, matcher: str, expected: bool) -> None:
    hook = only(read(tmp_path, f'event = "PreToolUse"\nmatcher = "{matcher}"'))

    for agent, tool in (("kimi-code", "Bash"), ("claude-code", "Bash"), ("qwen-code", "run_shell_command")):
        payload = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {}}
        assert asks(hook, payload, agent) is expected


def test_a_matcher_of_a_prompt_is_a_pattern_for_its_text(tmp_path: Path) -> None:
    hook = only(read(tmp_path, 'event = "UserPromptSubmit"\nmatcher = "sec.et"'))

    for text, expected in (("a secret", True), ("nothing", False)):
        prompt = [{"type": "text", "text": text}]
        assert asks(hook, {"hook_event_name": "UserPromptSubmit", "prompt": prompt}) is expected


@pytest.mark.parametrize(("line", "seconds"), [("", 30), ("timeout = 5", 5)])
def test_a_time_out_is_seconds(tmp_path: Path, line: str, seconds: float) -> None:
    assert only(read(tmp_path, f'event = "Stop"\n{line}')).timeout == seconds


INACTIVE = [
    ('event = "PreToolUse"\nmatcher = "a("', "its matcher matches nothing"),
    ('event = "Stop"\nmatcher = "x"', "a matcher on Stop is not in this version"),
    ('event = "Stop"\nname = "x"', "Kimi Code runs none of its hooks: hooks[0] has the key `name`"),
]


@pytest.mark.parametrize(("text", "reason"), INACTIVE, ids=[reason for _, reason in INACTIVE])
def test_what_does_not_run_is_listed_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    assert only(read(tmp_path, text)).inactive.startswith(reason)


def test_an_event_without_a_word_here_is_reported(tmp_path: Path) -> None:
    found = read(tmp_path, 'event = "TaskStarted"')

    assert found.hooks == ()
    assert "unknown event `TaskStarted`" in found.warnings[0]
