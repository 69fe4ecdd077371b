"""Every event of Claude Code as its hooks reference of 2026 has it: parsed, matched and answered exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from every import every
from seeds.product import SCRIPTS
from seeds.requirement import Answers, event_of

from tray.agents.claude_code.settings_hooks import MODEL_EVENTS, READER
from tray.agents.registry import AGENTS
from tray.engine.plan import EventSearch, matches
from tray.model.hook import AsyncMode

AGENT = "claude-code"
IGNORED: Mapping[str, Any] = {}
BLOCK = {"decision": "block", "reason": "no"}
BLOCKED = {"decision": "block", "reason": "h (Hooktray): no"}
HALT = {"continue": False, "stopReason": "halt"}
HALTED = {"continue": False, "stopReason": "h (Hooktray): halt"}
NOTE = {"systemMessage": "careful"}
BELL = {"terminalSequence": "\u0007"}
EVERYWHERE = (
    ({"suppressOutput": True}, ""),
    ({"an_unknown_key": 1}, ""),
)


def inner(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def same(event: str, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An answer that goes through as it is."""
    return inner(event, **fields), inner(event, **fields)


@dataclass(frozen=True)
class Row:
    """What one event's input has, the word that its matcher is about ("" = it has none), and answers to outputs."""

    kind: str
    fields: Mapping[str, Any]
    subject: str = ""
    answers: tuple[tuple[Any, Any], ...] = ()
    exit_2: str = ""  # how a refusal by exit 2 is said: "block", "exit", "deny", "decline"; "" = it refuses nothing


TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"}
SWITCH = {
    "from_model": "a", "to_model": "b", "requested_model": None, "source": "picker", "context_tokens": 1,
    "prompt_cache_warm": True, "cache_ttl": "5m", "estimated_cache_write_usd": 0.1, "pricing": "catalog",
}  # fmt: skip
FORM = {"mcp_server_name": "calendar", "mode": "form", "elicitation_id": "e"}
TASK = {"task_id": "1", "task_subject": "s", "task_description": "d", "teammate_name": "t", "team_name": "n"}
STOPPED = {
    "stop_hook_active": False, "last_assistant_message": "done",
    "background_tasks": [{"id": "b", "type": "shell", "status": "running", "description": "d"}],
    "session_crons": [{"id": "c", "schedule": "* * * * *", "recurring": True, "prompt": "p"}],
}  # fmt: skip
RULE = {
    "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}], "behavior": "allow",
    "destination": "session",
}  # fmt: skip
FILE = {"file_path": "/work/.envrc"}
PERMISSION_DENY = inner("PreToolUse", permissionDecision="deny", permissionDecisionReason="h (Hooktray): no")
ROWS: Mapping[str, Row] = {
    "ConfigChange": Row(
        "config_changed", {"source": "local_settings", **FILE}, "local_settings", ((BLOCK, BLOCKED), (BELL, BELL)),
        "block",
    ),
    "CwdChanged": Row(
        "cwd_changed", {"old_cwd": "/a", "new_cwd": "/b"},
        answers=((NOTE, NOTE), same("CwdChanged", watchPaths=["/b/.envrc"]), (BLOCK, "")),
    ),
    "DirectoryAdded": Row(
        "directory_added", {"directory": "/x", "source": "register_repo_root"}, "register_repo_root",
        ((BLOCK, ""), (NOTE, "")),
    ),
    "Elicitation": Row(
        "elicitation", {**FORM, "message": "Which day?", "requested_schema": {"type": "object"}}, "calendar",
        (
            same("Elicitation", action="accept", content={"day": "Monday"}),
            same("Elicitation", action="decline"),
            same("Elicitation", action="cancel"),
        ),
        "decline",
    ),
    "ElicitationResult": Row(
        "elicitation_result", {**FORM, "action": "accept", "content": {"day": "Monday"}}, "calendar",
        (same("ElicitationResult", action="accept", content={"day": "Friday"}),), "decline",
    ),
    "FileChanged": Row(
        "file_changed", {**FILE, "event": "unlink"}, ".envrc",
        (same("FileChanged", watchPaths=["/b"]), (NOTE, NOTE), (BLOCK, "")),
    ),
    "InstructionsLoaded": Row(
        "instructions_loaded",
        {"file_path": "/p/CLAUDE.md", "memory_type": "Project", "load_reason": "include", "globs": ["*.md"],
         "trigger_file_path": "/p/a.md", "parent_file_path": "/p/b.md"},
        "include", ((BLOCK, ""),),
    ),
    "MessageDisplay": Row(
        "message_display", {"turn_id": "t", "message_id": "m", "index": 0, "final": True, "delta": "Hello"},
        answers=(same("MessageDisplay", displayContent="Hi"), (BLOCK, "")),
    ),
    "Notification": Row(
        "notification", {"message": "waits", "title": "t", "notification_type": "agent_needs_input"},
        "agent_needs_input", ((BLOCK, ""), (NOTE, "")),
    ),
    "PermissionDenied": Row(
        "permission_denied", {**TOOL, "reason": "auto mode"}, "Bash",
        (same("PermissionDenied", retry=True), (BLOCK, "")),
    ),
    "PermissionRequest": Row(
        "permission_request",
        {"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [RULE]}, "Bash",
        (
            same("PermissionRequest", decision={"behavior": "allow"}),
            same(
                "PermissionRequest",
                decision={"behavior": "allow", "updatedInput": {"command": "true"}, "updatedPermissions": [RULE]},
            ),
            (
                inner("PermissionRequest", decision={"behavior": "deny", "message": "no"}),
                inner("PermissionRequest", decision={"behavior": "deny", "message": "h (Hooktray): no"}),
            ),
            (
                inner("PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": True}),
                inner(
                    "PermissionRequest",
                    decision={"behavior": "deny", "message": "h (Hooktray): no", "interrupt": True},
                ),
            ),
        ),
    ),
    "PostCompact": Row("compact_after", {"trigger": "auto", "compact_summary": "s"}, "auto", ((BLOCK, ""),)),
    "PostModelSwitch": Row(
        "model_switch_after", SWITCH, "picker",
        (same("PostModelSwitch", additionalContext="c"), (NOTE, NOTE), (BLOCK, "")),
    ),
    "PostToolBatch": Row(
        "tool_batch", {"tool_calls": [{**TOOL, "tool_response": "text"}]},
        answers=((BLOCK, BLOCKED), (HALT, HALTED), same("PostToolBatch", additionalContext="c")), exit_2="block",
    ),
    "PostToolUse": Row(
        "tool_after", {**TOOL, "tool_response": {"stdout": "a", "stderr": ""}, "duration_ms": 3}, "Bash",
        (
            (BLOCK, BLOCKED),
            (HALT, HALTED),
            same("PostToolUse", additionalContext="c"),
            same("PostToolUse", classifierContext="k"),
            same("PostToolUse", updatedToolOutput={"stdout": "b", "stderr": ""}),
        ),
        "block",
    ),
    "PostToolUseFailure": Row(
        "tool_failed", {**TOOL, "error": "exit 1", "is_interrupt": False, "duration_ms": 3}, "Bash",
        ((BLOCK, BLOCKED), same("PostToolUseFailure", additionalContext="c")), "block",
    ),
    "PreCompact": Row(
        "compact_before", {"trigger": "manual", "custom_instructions": None}, "manual", ((BLOCK, BLOCKED),), "block"
    ),
    "PreModelSwitch": Row(
        "model_switch_before", SWITCH, "picker",
        (
            same("PreModelSwitch", permissionDecision="allow"),
            (
                inner("PreModelSwitch", permissionDecision="ask", permissionDecisionReason="sure?"),
                inner("PreModelSwitch", permissionDecision="ask", permissionDecisionReason="h (Hooktray): sure?"),
            ),
        ),
        "deny",
    ),
    "PreToolUse": Row(
        "tool_before", TOOL, "Bash",
        (
            same("PreToolUse", permissionDecision="allow"),
            (inner("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"), PERMISSION_DENY),
            (BLOCK, PERMISSION_DENY),
            ({"decision": "approve"}, inner("PreToolUse", permissionDecision="allow")),
            (inner("PreToolUse", permissionDecision="defer"), inner("PreToolUse", permissionDecision="ask")),
            same("PreToolUse", updatedInput={"command": "true"}),
            same("PreToolUse", additionalContext="c"),
            (HALT, HALTED),
            (BELL, BELL),
            ({"decision": "deny"}, ""),  # no word of the top level: the whole answer is invalid
            ({"hookSpecificOutput": {"permissionDecision": "deny"}}, ""),  # without its event's name
        ),
        "deny",
    ),
    "SessionEnd": Row("session_end", {"reason": "prompt_input_exit"}, "prompt_input_exit", ((BLOCK, ""),)),
    "SessionStart": Row(
        "session_start",
        {"source": "fork", "model": "m", "agent_type": "a", "session_title": "t", "context_tokens": 9,
         "seconds_since_last_response": 5, "prompt_cache_likely_expired": True, "estimated_cache_write_usd": 0.1},
        "fork",
        (
            same(
                "SessionStart", additionalContext="c", initialUserMessage="go", sessionTitle="t", watchPaths=["/a"],
                reloadSkills=True,
            ),
            ("plain text", inner("SessionStart", additionalContext="plain text")),
            (HALT, ""),
            (BLOCK, ""),
        ),
    ),
    "Setup": Row(
        "setup", {"trigger": "maintenance"}, "maintenance", (same("Setup", additionalContext="c"), (BLOCK, ""))
    ),
    "Stop": Row(
        "turn_end", STOPPED,
        answers=((BLOCK, BLOCKED), (HALT, HALTED), same("Stop", additionalContext="remember the tests")),
        exit_2="block",
    ),
    "StopFailure": Row(
        "turn_failed", {"error": "rate_limit", "error_details": "d", "last_assistant_message": "m"}, "rate_limit",
        ((BLOCK, ""),),
    ),
    "SubagentStart": Row(
        "subagent_start", {"agent_id": "1", "agent_type": "reviewer"}, "reviewer",
        (same("SubagentStart", additionalContext="c"), (BLOCK, "")),
    ),
    "SubagentStop": Row(
        "subagent_end", {**STOPPED, "agent_id": "1", "agent_type": "reviewer", "agent_transcript_path": "/t"},
        "reviewer", ((BLOCK, BLOCKED), (HALT, HALTED), same("SubagentStop", additionalContext="r")), "block",
    ),
    "TaskCompleted": Row("task_completed", TASK, answers=((HALT, HALTED),), exit_2="exit"),
    "TaskCreated": Row("task_created", TASK, answers=((BLOCK, BLOCKED), (HALT, "")), exit_2="block"),
    "TeammateIdle": Row(
        "teammate_idle", {"teammate_name": "t", "team_name": "n"}, answers=((HALT, HALTED),), exit_2="exit"
    ),
    "UserPromptExpansion": Row(
        "prompt_expansion",
        {"expansion_type": "slash_command", "command_name": "review", "command_args": "a", "command_source": "user",
         "prompt": "/review a"},
        "review",
        (
            (BLOCK, BLOCKED),
            same("UserPromptExpansion", additionalContext="c", suppressOriginalPrompt=True),
            ("plain text", inner("UserPromptExpansion", additionalContext="plain text")),
        ),
        "block",
    ),
    "UserPromptSubmit": Row(
        "prompt", {"prompt": "Fix it", "source": "user", "session_title": "t"},
        answers=(
            (BLOCK, BLOCKED),
            (HALT, HALTED),
            same("UserPromptSubmit", additionalContext="c", sessionTitle="t", suppressOriginalPrompt=True),
            ("plain text", inner("UserPromptSubmit", additionalContext="plain text")),
        ),
        exit_2="block",
    ),
    "WorktreeCreate": Row("worktree_create", {"name": "feature"}, answers=((BLOCK, ""),)),
    "WorktreeRemove": Row("worktree_remove", {"worktree_path": "/w"}, answers=((BLOCK, ""),)),
}  # fmt: skip
SAID_BY_EXIT_2: Mapping[str, Any] = {
    "block": lambda event: BLOCKED,
    "decline": lambda event: inner(event, action="decline"),
    "deny": lambda event: inner(event, permissionDecision="deny", permissionDecisionReason="h (Hooktray): no"),
}
OUTPUTS = [
    (event, output, answer)
    for event, row in ROWS.items()
    for output, answer in (*row.answers, *EVERYWHERE)
    if event != "WorktreeCreate"
]


def test_all_33_events_are_here() -> None:
    assert ROWS.keys() == AGENTS[AGENT].events.keys()
    assert len(ROWS) == 33


@every("event", ROWS)
def test_a_claude_event_is_parsed_with_every_field_of_its_input(event: str) -> None:
    row = ROWS[event]

    parsed = event_of(AGENT, event, row.fields)

    assert (parsed.kind.value, parsed.problem) == (row.kind, "")
    stdin = json.loads(AGENTS[AGENT].protocol.stdin(parsed))
    assert {key: stdin[key] for key in row.fields} == row.fields


@every("event", ROWS)
def test_a_claude_event_is_matched_by_its_own_subject(event: str, tmp_path: Path) -> None:
    row = ROWS[event]
    parsed = event_of(AGENT, event, row.fields)

    def meets(matcher: str) -> bool:
        groups = [{"matcher": matcher, "hooks": [{"type": "command", "command": "true"}]}]
        found = READER.parse(json.dumps({"hooks": {event: groups}}).encode(), tmp_path / "settings.json")
        return matches(found.hooks[0].match, parsed, EventSearch(parsed))

    assert meets("")
    assert meets("*")
    if row.subject:
        assert meets(row.subject)
        assert meets(f"other|{row.subject}")
        assert not meets("other")
        assert meets(f"^{row.subject[:3]}.*")
        assert not meets("^nothing.*")
    else:
        assert meets("other")


@every(("event", "output", "answer"), OUTPUTS)
def test_a_claude_event_is_answered_exactly(event: str, output: Any, answer: Any) -> None:
    _answers(event, out=output if isinstance(output, str) else json.dumps(output), answer=answer)


@every("event", [event for event in ROWS if event != "WorktreeCreate"])
def test_exit_2_refuses_where_a_claude_event_can_be_refused(event: str) -> None:
    style = ROWS[event].exit_2
    if style == "exit":
        _answers(event, err="no", code=2, answer="h (Hooktray): no\n", exits=2)
    else:
        _answers(event, err="no", code=2, answer=SAID_BY_EXIT_2[style](event) if style else "")


def _answers(event: str, *, answer: Any, **more: Any) -> None:
    case = Answers(agent=AGENT, event=event, payload=ROWS[event].fields, **more)
    said, code = case.said()
    assert code == more.get("exits", 0)
    assert (json.loads(said) if isinstance(answer, dict) else said) == answer


HANDLERS: Mapping[str, Mapping[str, Any]] = {
    "claude-handler-agent.json": {"timeout": 120},
    "claude-handler-async.json": {"async_mode": AsyncMode.ASYNC, "timeout": 600},
    "claude-handler-once.json": {"once": True},
    "claude-handler-status.json": {"status": "Validating file write..."},
}


@every("name", HANDLERS)
def test_a_printed_handler_is_read_as_it_stands(tmp_path: Path, name: str) -> None:
    text = f'{{"hooks": {{"Stop": [{{"hooks": [{(SCRIPTS / name).read_text()}]}}]}}}}'

    (hook,) = READER.parse(text.encode(), tmp_path / "hooks" / "hooks.json").hooks

    assert {key: getattr(hook, key) for key in HANDLERS[name]} == HANDLERS[name]
    assert hook.inactive == ""


def test_an_agent_hook_is_read_at_every_event_at_which_a_model_is_asked(tmp_path: Path) -> None:
    handler = json.loads((SCRIPTS / "claude-handler-agent.json").read_text())
    events = {event: [{"hooks": [handler]}] for event in ROWS}

    found = READER.parse(json.dumps({"hooks": events}).encode(), tmp_path / "settings.json")

    assert {"Stop", "SubagentStop", "PreToolUse"} < MODEL_EVENTS
    assert {hook.match.native for hook in found.hooks if not hook.inactive} == MODEL_EVENTS


def test_every_printed_handler_is_read() -> None:
    assert {path.name for path in SCRIPTS.glob("claude-handler-*")} == set(HANDLERS)
