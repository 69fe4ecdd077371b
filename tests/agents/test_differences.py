"""The differences between agents that are easiest to get wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from agents.recordings import request_for
from hosts import claude_code, shelley

from tray.agents.protocol import parse, spec
from tray.agents.registry import AGENTS
from tray.engine.plan import EventSearch, matches
from tray.model.event import EventKind
from tray.model.hook import Failure
from tray.reading.entries import SourceHooks

BEFORE = {"claude-code": "PreToolUse", "starchild": "pre_tool_call", "x-code": "PreToolUse"}


def source(folder: Path, agent: str, hook: dict[str, object]) -> SourceHooks:
    """One hook in a format's own file, with the hook's keys as that format spells them."""
    event = BEFORE[agent]
    if agent == "claude-code":
        path = folder / "settings.json"
        matcher = {"matcher": hook.pop("matcher")} if "matcher" in hook else {}
        path.write_text(json.dumps({"hooks": {event: [matcher | {"hooks": [{"type": "command"} | hook]}]}}))
    elif agent == "starchild":
        path = folder / "shell_hooks.yaml"
        path.write_text(json.dumps({"hooks": [{"event": event} | hook]}))
    else:
        path = folder / "hooks.json"
        path.write_text(json.dumps({event: [hook]}))
    return hooks_of(agent, path)


def hooks_of(agent: str, path: Path) -> SourceHooks:
    reader = AGENTS[agent].reader
    assert reader
    return reader().read(path, (), {})


def asked(found: SourceHooks, tool: str, agent: str) -> bool:
    payload = {"tool_name": tool, "tool_input": {}} if agent != "x-code" else {"tool": {"name": tool, "args": {}}}
    event = parse(request_for(agent, BEFORE[agent], json.dumps(payload).encode()))
    (hook,) = found.hooks
    return not hook.inactive and matches(hook.match, event, EventSearch(event))


# ---- units and matchers


@pytest.mark.parametrize(
    ("agent", "written", "seconds"), [("claude-code", 5, 5), ("starchild", 5, 5), ("x-code", 5000, 5)]
)
def test_only_x_code_counts_in_milliseconds(tmp_path: Path, agent: str, written: int, seconds: int) -> None:
    (hook,) = source(tmp_path, agent, {"command": "./x.sh", "timeout": written}).hooks

    assert hook.timeout == seconds


MATCHERS = [  # matcher, tool, asked on Claude Code, asked on X-Code
    ("Edit|Write", "NotebookEdit", False, True),
    ("Edit|Write", "Edit", True, True),
    ("Edit.*", "NotebookEdit", True, True),
    ("EDIT", "Edit", False, False),
    ("mcp__web", "mcp__web__get", False, True),
    ("Bash, Read", "Read", True, False),
    ("a(b", "Edit", False, True),
]


@pytest.mark.parametrize(("matcher", "tool", "claude", "x_code"), MATCHERS)
def test_a_matcher_is_a_list_of_names_there_and_a_pattern_here(
    tmp_path: Path, matcher: str, tool: str, claude: bool, x_code: bool
) -> None:
    for agent, wanted in (("claude-code", claude), ("x-code", x_code)):
        found = source(tmp_path, agent, {"matcher": matcher, "command": "./x.sh"})
        assert asked(found, tool, agent) is wanted, agent


# ---- sessions, tools and projects


def test_the_events_name_comes_with_the_address_where_the_payload_has_none() -> None:
    body = b'{"message":"hi","readonly":{"conversation_id":"c"}}'

    assert parse(request_for("shelley", "chat-message", body)).kind is EventKind.PROMPT
    named = [("claude-code", "hook_event_name", "Stop"), ("starchild", "event", "on_stop"),
             ("x-code", "event", "PreCompact"), ("shelley", "type", "end_of_turn")]  # fmt: skip
    for agent, key, value in named:
        event = parse(request_for(agent, "elsewhere", json.dumps({key: value}).encode()))
        assert event.name == ("end-of-turn" if agent == "shelley" else value)


@pytest.mark.parametrize("sign", ["CURSOR_VERSION", "COPILOT_CLI", "GEMINI_SESSION_ID"])
def test_another_host_that_runs_an_agents_hooks_does_not_change_the_dialect(sign: str) -> None:
    body = AGENTS["claude-code"].protocol.sample("PreToolUse")
    plain = request_for("claude-code", "PreToolUse", body)

    event = parse(type(plain)(agent=plain.agent, event=plain.event, id="1", body=body, environment={sign: "1"}))

    assert (event.agent, event.kind) == ("claude-code", EventKind.TOOL_BEFORE)


# ---- ends of turns, malformed settings, and time limits


def test_only_x_codes_rounds_are_no_ends_of_turns() -> None:
    without = [
        agent for agent, one in AGENTS.items() if EventKind.TURN_END not in {s.kind for s in one.events.values()}
    ]

    assert without == ["x-code"]
    assert spec("x-code", "TurnComplete").kind is EventKind.ROUND_END


def test_a_malformed_handler_disables_its_group_in_the_agent_but_only_itself_in_hooktray(tmp_path: Path) -> None:
    good = {"type": "command", "command": "./good.sh"}
    groups = [{"hooks": [{"type": "nonsense"}, good]}, {"hooks": [good]}]
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))

    assert len(list(claude_code.configured(path, "PreToolUse", {"tool_name": "Bash"}))) == 1
    assert len(hooks_of("claude-code", path).hooks) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_script_without_its_first_line_aborts_on_shelley(tmp_path: Path) -> None:
    (tmp_path / "chat-message").write_text("echo hi\n")
    (tmp_path / "chat-message").chmod(0o755)
    body = AGENTS["shelley"].protocol.sample("chat-message")

    assert shelley.run(str(tmp_path), "chat-message", body).verdict == "deny"
    assert hooks_of("shelley", tmp_path).hooks[0].failure is Failure.BLOCK


DEADLINES = [
    ("claude-code", "PermissionRequest", 600, 598),
    ("claude-code", "UserPromptSubmit", 30, 28),
    ("claude-code", "MessageDisplay", 10, 9),
    ("claude-code", "SessionEnd", 1.5, 1.25),
    ("shelley", "chat-message", 30, 28),
    ("starchild", "pre_tool_call", 120, 118),
    ("x-code", "PreToolUse", 30, 28),
]


@pytest.mark.parametrize(("agent", "name", "limit", "deadline"), DEADLINES)
def test_a_person_has_as_long_as_the_agent_waits_less_what_the_answer_needs(
    agent: str, name: str, limit: float, deadline: float
) -> None:
    assert (spec(agent, name).timeout, spec(agent, name).deadline) == (limit, deadline)
