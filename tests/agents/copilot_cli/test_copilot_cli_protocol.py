"""Copilot CLI's three forms of payload are one event, and its hooks find the keys of both of their forms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.hook_outputs import ran
from agents.recordings import recorded, request_for, sampled
from every import every

from tray.agents.copilot_cli.events import EVENTS, NAMES
from tray.agents.protocol import fit, parse, render
from tray.agents.recognition import recognise
from tray.agents.registry import AGENTS
from tray.agents.tools import canonical
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Event

PROTOCOL = AGENTS["copilot-cli"].protocol
DENY = Decision(verdict=Verdict.DENY, reason="no")
CAMEL: dict[str, Any] = {"sessionId": "s1", "timestamp": 1795211022915, "cwd": "/p"}
BY_KEYS: list[tuple[str, dict[str, Any]]] = [
    ("PreToolUse", {"toolName": "bash", "toolArgs": {}}),
    ("PostToolUse", {"toolName": "bash", "toolArgs": {}, "toolResult": {"textResultForLlm": "x"}}),
    ("PostToolUseFailure", {"toolName": "bash", "toolArgs": {}, "error": "no"}),
    ("PermissionRequest", {"hookName": "permissionRequest", "toolName": "bash", "toolInput": {}}),
    ("userPromptTransformed", {"prompt": "a", "transformedPrompt": "b"}),
    ("UserPromptSubmit", {"prompt": "a"}),
    ("Stop", {"stopReason": "end_turn", "transcriptPath": "/t"}),
    ("SubagentStart", {"agentName": "explore", "transcriptPath": "/t"}),
    ("SubagentStop", {"agentName": "explore", "response": "done", "stopReason": "end_turn"}),
    ("SessionStart", {"source": "new"}),
    ("SessionEnd", {"reason": "complete"}),
    ("PreCompact", {"trigger": "auto", "customInstructions": ""}),
    ("ErrorOccurred", {"error": {"message": "busy"}, "errorContext": "model_call", "recoverable": True}),
    ("Notification", {"hook_event_name": "Notification", "message": "m", "notification_type": "agent_idle"}),
]


def answer(event: Event, decision: Decision) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(render(event, fit(event, decision)).stdout or b"{}")
    return said


@every(("name", "fields"), BY_KEYS)
def test_a_payload_without_a_name_is_known_by_its_keys(name: str, fields: dict[str, Any]) -> None:
    body = json.dumps(CAMEL | fields).encode()
    caller = recognise("claude-code", "Word", CAMEL | fields, {})

    assert parse(request_for("copilot-cli", "", body)).name == name
    assert caller is not None
    assert (caller.agent, caller.event, caller.skip_reason) == ("copilot-cli", name, None)


@every(("other", "name"), NAMES.items())
def test_the_word_in_a_line_may_be_either_name(other: str, name: str) -> None:
    assert name in EVENTS
    assert parse(request_for("copilot-cli", other, b'{"session_id":"s"}')).name == name


def test_both_forms_of_a_call_are_the_same_tool_and_get_the_same_answer() -> None:
    camel = CAMEL | {"toolName": "create", "toolArgs": {"path": "/a", "file_text": "x"}}
    snake = {"hook_event_name": "PreToolUse", "session_id": "s1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/p",
             "tool_name": "Write", "tool_input": {"path": "/a", "file_text": "x"}}  # fmt: skip
    events = [parse(request_for("copilot-cli", "", json.dumps(one).encode())) for one in (camel, snake)]

    assert [(one.name, one.session, canonical("copilot-cli", one.tool.name)) for one in events if one.tool] == [
        ("PreToolUse", "s1", "Write")
    ] * 2
    assert [answer(one, DENY) for one in events] == [
        {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    ] * 2


def test_arguments_may_be_the_text_of_an_object() -> None:
    body = CAMEL | {"toolName": "bash", "toolArgs": '{"command": "ls"}'}
    tool = parse(request_for("copilot-cli", "", json.dumps(body).encode())).tool
    broken = parse(request_for("copilot-cli", "", json.dumps(body | {"toolArgs": "{"}).encode())).tool

    assert tool is not None
    assert broken is not None
    assert (tool.input, broken.input) == ({"command": "ls"}, {})


LOCAL: list[tuple[str, Decision, dict[str, Any]]] = [
    ("PreToolUse-editFiles-local", DENY, {"permissionDecision": "deny", "permissionDecisionReason": "no"}),
    (
        "PreToolUse-editFiles-local",
        Decision(rewrite=Rewrite(target=Target.INPUT, value={"files": []}), context="c"),
        {"updatedInput": {"files": []}, "additionalContext": "c"},
    ),
    ("PostToolUse-editFiles-local", Decision(context="c"), {"additionalContext": "c"}),
    ("Stop-local", DENY, {"decision": "block", "reason": "no"}),
]


@pytest.mark.parametrize(("name", "decision", "inner"), LOCAL)
def test_the_local_harness_of_vs_code_gets_the_fields_where_it_reads_them(
    name: str, decision: Decision, inner: dict[str, Any]
) -> None:
    event = recorded("copilot-cli", name)

    assert answer(event, decision) == {"hookSpecificOutput": {"hookEventName": event.name} | inner}


def test_what_the_local_harness_of_vs_code_cannot_take_is_refused() -> None:
    event = recorded("copilot-cli", "PostToolUse-editFiles-local")
    prompt = {
        "hookEventName": "UserPromptSubmit",
        "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00Z",
        "prompt": "p",
    }
    asked = parse(request_for("copilot-cli", "UserPromptSubmit", json.dumps(prompt).encode()))

    masked = answer(event, Decision(rewrite=Rewrite(target=Target.OUTPUT, value="masked")))
    other = answer(asked, Decision(rewrite=Rewrite(target=Target.PROMPT, value="other")))

    assert masked["decision"] == "block"
    assert (other["continue"], answer(asked, DENY)) == (False, {"continue": False, "stopReason": "no"})


def test_an_output_is_replaced_as_text_with_its_own_type() -> None:
    for name in ("PostToolUse-Bash", "PostToolUse-create-camel"):
        event = recorded("copilot-cli", name)
        said = answer(event, Decision(rewrite=Rewrite(target=Target.OUTPUT, value="masked")))
        assert said == {"modifiedResult": {"resultType": "success", "textResultForLlm": "masked"}}


@pytest.mark.parametrize(
    "name", ["PreToolUse-Bash", "PreToolUse-view-camel", "PostToolUse-create-camel", "Stop", "Stop-camel"]
)
def test_a_hook_of_the_format_finds_the_keys_of_both_forms(name: str) -> None:
    event = recorded("copilot-cli", name)
    read = json.loads(PROTOCOL.stdin(event))

    assert read["session_id"] == read["sessionId"] == event.session
    assert read["hook_event_name"] == event.name
    if event.tool:
        assert canonical("copilot-cli", read["tool_name"]) == canonical("copilot-cli", read["toolName"])
        assert read["tool_input"] == read["toolArgs"] == event.tool.input
    else:
        assert read["transcript_path"] == read["transcriptPath"]


def test_a_hook_of_the_format_finds_another_agents_call_in_its_own_names() -> None:
    read = json.loads(PROTOCOL.stdin(recorded("claude-code", "PreToolUse-Write")))

    assert (read["tool_name"], read["toolName"]) == ("Write", "create")
    assert read["toolArgs"] == {"path": "/home/dev/project/a.txt", "file_text": "hello\n"}


def test_lines_of_progress_are_no_part_of_the_answer() -> None:
    said = '{"type":"progress","message":"looking"}\n{"permissionDecision":"deny","permissionDecisionReason":"no"}\n'

    assert PROTOCOL.read(sampled("copilot-cli", "PreToolUse"), ran(0, said)).verdict is Verdict.DENY
