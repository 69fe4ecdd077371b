"""A synthetic payload for each event of Cursor, as the relay gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire

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


def sample(name: str) -> bytes:
    """Raises KeyError for an event without one."""
    return wire.dumps({**COMMON, "hook_event_name": name, **SAMPLES[name]})
