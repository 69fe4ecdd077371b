"""What Claude Code's two documents on hooks require: the advanced use cases (A) and the schemas (C)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from seeds.requirement import Answers, Cases, Reads, reading

A = "claude-code"
PRE, POST, PROMPT, STOP, SUBSTOP = "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"
START, END, COMPACT, NOTE, REQUEST = "SessionStart", "SessionEnd", "PreCompact", "Notification", "PermissionRequest"
BLOCK = '{"decision":"block","reason":"no"}'
BLOCKED = {"decision": "block", "reason": "no"}
DENY_INPUT = {
    "hookSpecificOutput": {"hookEventName": PRE, "permissionDecision": "deny", "permissionDecisionReason": "no"}
}
INPUTS = {
    "Bash": "command description timeout run_in_background",
    "Write": "file_path content",
    "Edit": "old_string new_string replace_all",
    "Read": "offset limit",
    "Grep": "pattern output_mode",
    "mcp__db__query": "sql",
}
# A shell command and a file's write as other agents send them.
SHELL, FILE = {"tool_input.command": "ls", "tool_name": "Bash"}, {"tool_input.file_path": "a.ts"}
X_SHELL, X_FILE = {"name": "shell", "args": {"command": "ls"}}, {"name": "writeFile", "args": {"filePath": "a.ts"}}
ELSEWHERE: Sequence[tuple[str, str, Mapping[str, Any], Mapping[str, Any]]] = (
    ("starchild", "pre_tool_call", {"tool_name": "bash", "tool_input": {"command": "ls"}}, SHELL),
    ("x-code", "PreToolUse", {"tool": X_SHELL | {"callId": "1"}}, SHELL),
    ("starchild", "pre_tool_call", {"tool_name": "write_file", "tool_input": {"path": "a.ts"}}, FILE),
    ("x-code", "PreToolUse", {"tool": X_FILE | {"callId": "1"}}, FILE),
)
PLAN = {"type": "setMode", "mode": "plan", "destination": "session"}
MCP = {"tool_name": "mcp__db__query", "tool_response": [{"type": "text", "text": "secret"}]}


def inner(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def passes(event: str, **fields: Any) -> Answers:
    """The agent is answered with the very fields that the hook says."""
    return says(event, json.dumps(inner(event, **fields)), inner(event, **fields))


def decides(**fields: Any) -> str:
    return json.dumps(inner(REQUEST, decision=fields))


says, reads = partial(Answers, A), partial(Reads, A)
ADVANCED: Cases = {
    "A020": says(STOP, answer=BLOCKED, code=2, err="no"),
    "A028": says(PRE, answer='{\\"decision\\": \\"deny\\"}', code=2, err='{"decision": "deny"}'),
    "A032": says(PRE, code=1, err="cat: no such file"),
    "A033": says(PRE, err='{"continue": true, "systemMessage": "x"}'),
    "A057": passes(PRE, permissionDecision="allow"),
    "A058": passes(PRE, permissionDecision="deny", permissionDecisionReason="no"),
    "A059": passes(PRE, permissionDecision="ask", permissionDecisionReason="sure"),
    "A060": passes(PRE, updatedInput={"command": "true"}),
    "A061": passes(PRE, additionalContext="c"),
    "A062": passes(REQUEST, decision={"behavior": "allow"}),
    "A063": passes(REQUEST, decision={"behavior": "deny", "message": "no"}),
    "A064": says(
        REQUEST, decides(behavior="allow", updatedInput={"command": "true"}), '"updatedInput":{"command":"true"}'
    ),
    "A065": says(
        REQUEST,
        decides(behavior="allow", updatedInput={}, updatedPermissions={}, message="Reason", interrupt=False),
        '"behavior":"allow"',
    ),
    "A066": says(REQUEST, decides(behavior="deny", message="no", interrupt=True), '"interrupt":true'),
    "A067": says(POST, BLOCK, BLOCKED),
    "A068": says(STOP, BLOCK, BLOCKED),
    "A069": says(PROMPT, BLOCK, BLOCKED),
    "A070": says(POST, '{"updatedMCPToolOutput":"[redacted]"}', '[{"type":"text","text":"[redacted]"}]', payload=MCP),
    "A071": says(POST, '{"updatedMCPToolOutput":"x"}'),
    "A072": says(
        "PostToolUseFailure", '{"additionalContext":"c"}', inner("PostToolUseFailure", additionalContext="c")
    ),
    "A073": says("TeammateIdle"),
    "A074": says("TeammateIdle", answer="no", code=2, err="no", exits=2),
    "A075": says("TaskCompleted"),
    "A076": says("TaskCompleted", answer="no", code=2, err="no", exits=2),
    "A077": says(PRE, '{"continue":false,"stopReason":"halt"}', {"continue": False, "stopReason": "halt"}),
    "A078": says(PRE, '{"systemMessage":"careful"}', {"systemMessage": "careful"}),
    "A079": says(PRE, '{"suppressOutput":true}'),
    **reading(
        A, "A080", ("TeammateIdle", "teammate_name", "team_name"), ("TaskCompleted", "task_id", "task_subject")
    ),
    **reading(A, "A089", ("TaskCompleted", "task_description", "teammate_name", "team_name")),
    "A092": says(REQUEST, decides(behavior="allow", updatedPermissions=[PLAN]), '"updatedPermissions":['),
}
SCHEMAS: Cases = {
    **reading(
        *(A, "C001"),
        (
            PRE,
            "session_id",
            "transcript_path",
            "cwd",
            "permission_mode",
            "hook_event_name",
            "tool_name",
            "tool_input",
        ),
        (POST, "tool_name", "tool_input", "tool_output", "hook_event_name"),
        (PROMPT, "prompt"),
        (STOP, "stop_hook_active"),
        (SUBSTOP, "stop_hook_active"),
        (START, "source"),
        (END, "reason"),
        (COMPACT, "trigger", "custom_instructions"),
        (NOTE, "session_id", "hook_event_name"),
    ),
    "C021": says(
        PRE,
        '{"decision":"approve","reason":"ok"}',
        inner(PRE, permissionDecision="allow", permissionDecisionReason="ok"),
    ),
    "C022": says(PRE, BLOCK, DENY_INPUT),
    "C023": says(PRE, '{"permissionDecision":"deny","permissionDecisionReason":"no"}', DENY_INPUT),
    "C024": says(PRE, '{"permissionDecision":"ask"}', '"ask"'),
    "C025": says(
        PRE,
        '{"updatedInput":{"command":"true"}}',
        inner(PRE, updatedInput={"command": "true"}),
        payload={"tool_name": "Bash", "tool_input": {"command": "ls"}},
    ),
    "C026": says(
        PRE,
        '{"updatedInput":{"command":"true"}}',
        inner(PRE, updatedInput={"command": "true", "timeout": 5}),
        payload={"tool_name": "Bash", "tool_input": {"command": "ls", "timeout": 5}},
    ),
    "C027": says(PRE, '{"systemMessage":"careful"}', {"systemMessage": "careful"}),
    "C028": says(PRE, '{"suppressOutput":false}'),
    "C029": says(PRE, '{"continue":true}'),
    "C030": says(POST, '{"systemMessage":"formatted"}', {"systemMessage": "formatted"}),
    "C031": says(PROMPT, '{"decision":"approve"}'),
    "C032": says(PROMPT, BLOCK, BLOCKED),
    "C033": says(PROMPT, '{"systemMessage":"m"}', {"systemMessage": "m"}),
    "C034": says(STOP, "{}"),
    "C035": says(STOP, BLOCK, BLOCKED),
    "C036": says(SUBSTOP, BLOCK, BLOCKED),
    "C037": says(STOP, '{"continue":true,"decision":"block","reason":"no"}', BLOCKED),
    "C038": says(
        STOP,
        '{"decision":"block","reason":"no","continue":true,"stopReason":"Cannot stop yet"}',
        {**BLOCKED, "systemMessage": "Cannot stop yet"},
    ),
    "C040": passes(START, additionalContext="Sprint 23"),
    "C042": says(END, BLOCK),
    "C043": says(COMPACT, '{"decision":"approve"}'),
    "C044": says(COMPACT, BLOCK, BLOCKED),
    "C045": says(NOTE, BLOCK),
    "C046": says(POST, '{"continue":false,"stopReason":"halt"}', {"continue": False, "stopReason": "halt"}),
    **{
        f"C{51 + at:03}": reads(
            PRE, {f"tool_input.{key}": "v"}, payload={"tool_name": tool, "tool_input": {key: "v"}}
        )
        for at, (tool, key) in enumerate((tool, key) for tool, keys in INPUTS.items() for key in keys.split())
    },
    **{
        f"C{65 + at:03}": Reads(agent, event, finds, hook=A, payload=payload)
        for at, (agent, event, payload, finds) in enumerate(ELSEWHERE)
    },
    "C069": says(PRE, code=1, err='{"decision": "block", "reason": "Error occurred"}'),
    "C076": says(STOP, '{"systemMessage":"Additional context"}', {"systemMessage": "Additional context"}),
}
CLAUDE_CODE: Cases = {**ADVANCED, **SCHEMAS}
