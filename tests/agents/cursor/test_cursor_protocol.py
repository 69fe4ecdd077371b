"""Cursor's payloads and answers, and what hooks in its format read and say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.hook_outputs import ran
from agents.recordings import recorded, request_for, sampled

from tray.agents.cursor.events import OTHER_TOOLS, PERMISSION_EVENTS
from tray.agents.protocol import fit, neutral, parse, render
from tray.agents.recognition import recognise
from tray.agents.registry import AGENTS
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Event, EventKind, Tool

PROTOCOL = AGENTS["cursor"].protocol


def sent(event: str, **fields: Any) -> Event:
    payload = {**json.loads(PROTOCOL.sample(event)), **fields}
    return parse(request_for("cursor", event, json.dumps(payload).encode()))


def answer(event: Event, decision: Decision) -> Any:
    return json.loads(render(event, decision).stdout)


def test_a_permission_event_is_answered_allow_and_any_other_with_an_empty_object() -> None:
    found = {name: neutral(AGENTS["cursor"], name, b"").stdout for name in AGENTS["cursor"].events}

    assert found == {name: b'{"permission":"allow"}' if name in PERMISSION_EVENTS else b"{}" for name in found}


def test_a_command_is_a_call_of_its_shell_and_an_mcp_tools_input_is_taken_apart() -> None:
    assert recorded("cursor", "beforeShellExecution").tool == Tool(
        name="Shell", input={"command": "rm -rf /tmp/test"}
    )
    assert recorded("cursor", "beforeMCPExecution").tool == Tool(name="MCP:create_issue", input={"title": "x"})
    assert sent("beforeMCPExecution", tool_input="no JSON").tool == Tool(
        name="MCP:create_issue", input={"tool_input": "no JSON"}
    )


def test_the_folder_of_cursor_agent_is_its_workspace() -> None:
    assert sent("beforeShellExecution", cwd="", workspace_roots=["/work"]).cwd == "/work"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("completed", EventKind.TURN_END),
        ("aborted", EventKind.TURN_INTERRUPTED),
        ("error", EventKind.TURN_FAILED),
    ],
)
def test_how_a_turn_ended_is_in_its_status(status: str, kind: EventKind) -> None:
    assert sent("stop", status=status).kind is kind


def test_a_follow_up_counts_as_repeated() -> None:
    assert (sent("stop", loop_count=0).repeated, sent("stop", loop_count=1).repeated) == (False, True)


def test_an_ask_is_one_where_its_user_is_asked_and_a_refusal_elsewhere() -> None:
    ask = Decision(verdict=Verdict.ASK, reason="sure?")

    assert answer(sampled("cursor", "beforeShellExecution"), ask)["permission"] == "ask"
    assert answer(sampled("cursor", "preToolUse"), ask)["permission"] == "deny"


def test_only_an_mcp_tools_output_can_be_replaced() -> None:
    decision = Decision(rewrite=Rewrite(target=Target.OUTPUT, value="masked"))

    assert answer(sampled("cursor", "postToolUse"), decision) == {"updated_mcp_tool_output": "masked"}
    shell = sent("postToolUse", tool_name="Shell")
    assert fit(shell, decision).rewrite is None
    assert answer(shell, decision) == {}
    text = Decision(rewrite=Rewrite(target=Target.INPUT, value="ls"))
    assert fit(sampled("cursor", "preToolUse"), text).verdict is Verdict.DENY


def test_hooks_of_claude_codes_settings_hear_the_same_events() -> None:
    payload = json.loads(PROTOCOL.sample("preToolUse")) | {"hook_event_name": "PreToolUse"}

    caller = recognise("claude-code", "PreToolUse", payload, {})

    assert caller is not None
    assert (caller.agent, caller.event, caller.skip_reason) == ("cursor", "preToolUse", None)


def test_a_hook_finds_a_call_in_each_of_its_forms() -> None:
    own = json.loads(PROTOCOL.stdin(recorded("cursor", "beforeShellExecution")))
    foreign = json.loads(PROTOCOL.stdin(recorded("claude-code", "PreToolUse-Bash")))

    assert (own["command"], own["tool_name"], own["tool_input"]["command"]) == (
        "rm -rf /tmp/test",
        "Shell",
        "rm -rf /tmp/test",
    )
    assert (foreign["hook_event_name"], foreign["command"], foreign["tool_name"]) == ("preToolUse", "exit 3", "Shell")


def test_its_allow_grants_nothing_and_exit_2_refuses() -> None:
    event = recorded("claude-code", "PreToolUse-Bash")

    assert PROTOCOL.read(event, ran(0, '{"permission":"allow"}')).verdict is Verdict.ABSTAIN
    assert PROTOCOL.read(event, ran(2, err="no")).verdict is Verdict.DENY
    assert PROTOCOL.read(event, ran(0, "not JSON")).problem


def test_each_call_is_reported_by_one_event_of_ours() -> None:
    import regex

    seen = {name for name in ("Shell", "MCP:x", "Write", "Read", "ShellScript") if regex.search(OTHER_TOOLS, name)}

    assert seen == {"Write", "Read", "ShellScript"}
