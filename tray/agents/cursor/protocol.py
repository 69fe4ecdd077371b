"""Cursor's hooks: one JSON object each way. From its documentation, not tried with a real Cursor.

In:  {"conversation_id":"6683…","generation_id":"490b…","cursor_version":"3.19.10","workspace_roots":["/p"],
      "hook_event_name":"beforeShellExecution","command":"rm -rf build","cwd":"/p","sandbox":false}
Out: {"permission":"deny","user_message":"no","agent_message":"no"}

Its neutral answer to a permission event is {"permission":"allow"}; cursor-agent asks its user all the same.
https://cursor.com/docs/hooks
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire
from tray.agents.cursor.events import CLAUDE_NAMES, EVENTS, ID, MCP, PERMISSION_EVENTS, SHELL
from tray.agents.cursor.hook_format import hook_event_name as hook_event_name
from tray.agents.cursor.hook_format import read as read
from tray.agents.cursor.hook_format import stdin as stdin
from tray.model.decision import Answer, Decision, Target, Verdict
from tray.model.event import Event, EventKind, RelayRequest, Tool

ALLOW = {"permission": "allow"}
SHELL_EVENTS = frozenset({"afterShellExecution", "beforeShellExecution"})
MCP_EVENTS = frozenset({"afterMCPExecution", "beforeMCPExecution"})
FILE_TOOLS = {"afterFileEdit": "Write", "beforeReadFile": "Read", "beforeTabFileRead": "Read"}
FILE_KEYS = ("file_path", "edits")  # the content of a file that is read is not an argument of the call
CONTEXT_KEYS = {"postToolUseFailure": "additionalContext"}  # elsewhere `additional_context`
FOLLOWED_UP = frozenset({"stop", "subagentStop"})
STATUS_KINDS = {"aborted": EventKind.TURN_INTERRUPTED, "error": EventKind.TURN_FAILED}  # of `stop`

SESSION = "668320d2-2fd8-4888-b33c-2a466fec86e7"
CWD = "/home/dev/project"
FILE = f"{CWD}/a.ts"
COMMON = {
    "conversation_id": SESSION,
    "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
    "model": "claude-4.5-sonnet",
    "cursor_version": "3.19.10",
    "workspace_roots": [CWD],
    "user_email": None,
    "transcript_path": None,
}
CALL = {"tool_name": "Shell", "tool_input": {"command": "ls -la"}, "tool_use_id": "abc123", "cwd": CWD}
COMMAND = {"command": "ls -la", "cwd": CWD, "sandbox": False}
MCP_CALL = {"tool_name": "create_issue", "tool_input": '{"title":"x"}'}
SUBAGENT = {"subagent_id": "s1", "subagent_type": "generalPurpose", "task": "Find the tests."}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "afterAgentResponse": {"text": "All tests pass."},
    "afterAgentThought": {"text": "The parser is next."},
    "afterFileEdit": {"file_path": FILE, "edits": [{"old_string": "a", "new_string": "b"}]},
    "afterMCPExecution": MCP_CALL | {"result_json": "{}", "duration": 100},
    "afterShellExecution": COMMAND | {"output": "README.md\n", "duration": 12},
    "afterTabFileEdit": {"file_path": FILE, "edits": [{"old_string": "a", "new_string": "b"}]},
    "beforeMCPExecution": MCP_CALL | {"command": "npx -y some-mcp"},
    "beforeReadFile": {"file_path": FILE, "content": "a", "attachments": []},
    "beforeShellExecution": COMMAND,
    "beforeSubmitPrompt": {"prompt": "Fix the parser.", "attachments": [], "composer_mode": "agent"},
    "beforeTabFileRead": {"file_path": FILE, "content": "a"},
    # Cursor takes another output from an MCP tool only.
    "postToolUse": CALL
    | {"tool_name": "MCP:create_issue", "tool_input": {"title": "x"}, "tool_output": "{}", "duration": 5432},
    "postToolUseFailure": CALL | {"error_message": "Exit code 3", "failure_type": "error", "is_interrupt": False},
    "preCompact": {"trigger": "auto", "context_usage_percent": 85},
    "preToolUse": CALL | {"agent_message": "Listing"},
    "sessionEnd": {"session_id": SESSION, "reason": "completed", "duration_ms": 45000},
    "sessionStart": {"session_id": SESSION, "is_background_agent": False, "composer_mode": "agent"},
    "stop": {"status": "completed", "loop_count": 0},
    "subagentStart": SUBAGENT,
    "subagentStop": SUBAGENT | {"status": "completed", "summary": "Two tests.", "duration_ms": 1000},
}


def event_name(payload: Mapping[str, Any]) -> str:
    name = wire.hook_event_name(payload, "")
    return CLAUDE_NAMES.get(name, name)


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    name = CLAUDE_NAMES.get(name, name)
    if name in SHELL_EVENTS:
        command = wire.text(payload, "command")
        return Tool(name=SHELL, input={"command": command}, output=payload.get("output")) if command else None
    if name in FILE_TOOLS:
        input = {key: payload[key] for key in FILE_KEYS if key in payload}
        return Tool(name=FILE_TOOLS[name], input=input) if wire.text(payload, "file_path") else None
    title = wire.text(payload, "tool_name")
    if not title:
        return None
    if name in MCP_EVENTS:
        return Tool(name=f"{MCP}{title}", input=_parsed(payload), output=payload.get("result_json"))
    failed = name == "postToolUseFailure"
    output = payload.get("error_message") if failed else payload.get("tool_output")
    call = wire.text(payload, "tool_use_id")
    return Tool(name=title, input=wire.nested(payload, "tool_input"), call=call, output=output, failed=failed)


def _parsed(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The input of an MCP tool, which travels as the text of a JSON object."""
    value = payload.get("tool_input")
    if not isinstance(value, str):
        return wire.nested(payload, "tool_input")
    try:
        return wire.mapping(value.encode("utf-8", "replace"))
    except ValueError:
        return {"tool_input": value}  # so that a matcher finds what is in it


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    name = CLAUDE_NAMES.get(name, name)
    kind = wire.spec(EVENTS, name).kind
    status = wire.text(payload, "status")
    roots = wire.text_list(payload, "workspace_roots")
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=STATUS_KINDS.get(status, kind) if name == "stop" else kind,
        session=wire.text(payload, "conversation_id", "session_id"),
        # cursor-agent sends an empty `cwd`.
        cwd=wire.text(payload, "cwd") or next(filter(None, roots), "") or request.cwd,
        project_folder=next(filter(None, roots), "") or request.environment.get("CURSOR_PROJECT_DIR", ""),
        hook_folder=request.environment.get("CURSOR_PROJECT_DIR", ""),
        model=wire.text(payload, "model"),
        topic=wire.text(payload, "reason", "trigger") or status,
        tool=tool(name, payload),
        prompt=wire.text(payload, "prompt"),
        message=wire.text(payload, "text", "summary"),
        path=wire.text(payload, "file_path"),
        subagent=wire.text(payload, "subagent_type", "type"),
        repeated=isinstance(loops := payload.get("loop_count"), int) and loops > 0,
    )


def neutral(name: str, body: bytes) -> Answer:
    return Answer(stdout=wire.dumps(ALLOW if CLAUDE_NAMES.get(name, name) in PERMISSION_EVENTS else {}))


def rewrite_problem(event: Event, decision: Decision) -> str:
    rewrite = decision.rewrite
    if rewrite is None:
        return ""
    if rewrite.target is Target.OUTPUT and not (event.tool and event.tool.name.startswith(MCP)):
        return "Cursor takes from an MCP tool only"
    if rewrite.target is Target.INPUT and not isinstance(rewrite.value, Mapping):
        return "is not a JSON object"
    return wire.json_problem(rewrite.value)


def render(event: Event, decision: Decision) -> Answer:
    answer = _permission(event, decision) if event.name in PERMISSION_EVENTS else _fields(event, decision)
    return Answer(stdout=wire.dumps(answer))


def _permission(event: Event, decision: Decision) -> dict[str, Any]:
    if decision.verdict < Verdict.ASK:
        new = {"updated_input": decision.rewrite.value} if decision.rewrite and event.name == "preToolUse" else {}
        return ALLOW | new
    reason = decision.reason or (wire.DEFAULT_REASON if decision.verdict is Verdict.DENY else "")
    return {"permission": decision.verdict.word} | wire.non_empty(user_message=reason, agent_message=reason)


def _fields(event: Event, decision: Decision) -> dict[str, Any]:
    reason = decision.reason or wire.DEFAULT_REASON
    if decision.verdict is Verdict.DENY and event.name == "beforeSubmitPrompt":
        return {"continue": False, "user_message": reason}
    if decision.verdict is Verdict.DENY and event.name in FOLLOWED_UP:
        return {"followup_message": reason}
    fields = wire.non_empty(**{CONTEXT_KEYS.get(event.name, "additional_context"): decision.context})
    if event.name == "preCompact":
        return wire.non_empty(user_message=wire.join_notes(decision.notes))
    if decision.rewrite and event.name == "postToolUse":
        fields["updated_mcp_tool_output"] = decision.rewrite.value
    return fields


def environment(event: Event) -> Mapping[str, str]:
    """The folder of the project, under both of the names that Cursor gives it."""
    own = event.environment if event.agent == ID else {}
    names = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR")
    return wire.variables(**{name: own.get(name, "") or event.project_folder or event.cwd for name in names})


def sample(name: str) -> bytes:
    """A synthetic payload. Raises KeyError for an event without one."""
    return wire.dumps({**COMMON, "hook_event_name": name, **SAMPLES[name]})
