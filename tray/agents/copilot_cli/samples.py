"""A synthetic payload for each event of Copilot CLI, as the relay gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire

SESSION = "00e79b32-68c4-4096-904e-65ac961c0a63"
CWD = "/home/dev/project"
TRANSCRIPT = f"/home/dev/.copilot/session-state/{SESSION}/events.jsonl"
SNAKE = {"session_id": SESSION, "timestamp": "2026-11-20T21:43:43.757Z", "cwd": CWD}
CAMEL = {"sessionId": SESSION, "timestamp": 1795211022964, "cwd": CWD}
CALL = {"tool_name": "Bash", "tool_input": {"command": "ls -la", "description": "List the files"}}
STOPPED = {"transcript_path": TRANSCRIPT, "stop_reason": "end_turn", "stop_hook_active": False}
SUBAGENT = {"agent_id": "fe1cc22b-6cf1-4cd0-a47d-e3c165df5f5e", "agent_type": "general-purpose"}
FAILURE = {"message": "The service is busy.", "name": "Error"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "ErrorOccurred": {"error": FAILURE, "error_context": "model_call", "recoverable": False},
    "Notification": {
        "message": "Copilot needs your permission",
        "title": "Permission",
        "notification_type": "permission_prompt",
    },
    "PostToolUse": CALL | {"tool_result": {"result_type": "success", "text_result_for_llm": "README.md"}},
    "PostToolUseFailure": CALL | {"error": "Exit code 3"},
    "PreCompact": {"transcript_path": TRANSCRIPT, "trigger": "auto", "custom_instructions": ""},
    "PreToolUse": CALL,
    "SessionEnd": {"reason": "complete"},
    "SessionStart": {"source": "new", "initial_prompt": "Fix the parser."},
    "Stop": STOPPED,
    "SubagentStop": SUBAGENT
    | {"agent_name": "general-purpose", "last_assistant_message": "All tests pass."}
    | STOPPED,
    "UserPromptSubmit": {"prompt": "Fix the parser."},
}
OTHER_FORM: Mapping[str, Mapping[str, Any]] = {  # events with one form of payload, whatever the name
    "PermissionRequest": {
        "hookName": "permissionRequest",
        **CAMEL,
        "toolName": "bash",
        "toolInput": {"command": "ls -la"},
        "permissionSuggestions": [],
    },
    "SubagentStart": {**CAMEL, "transcriptPath": TRANSCRIPT, "agentName": "general-purpose", **SUBAGENT},
    "userPromptTransformed": {
        **CAMEL,
        "prompt": "Fix the parser.",
        "transformedPrompt": "<current_datetime>2026-11-20T21:43:42.713+00:00</current_datetime>\n\nFix the parser.",
    },
}


def sample(name: str) -> bytes:
    """Raises KeyError for an event without one."""
    if name in OTHER_FORM:
        return wire.dumps(OTHER_FORM[name])
    return wire.dumps({"hook_event_name": name, **SNAKE, **SAMPLES[name]})
