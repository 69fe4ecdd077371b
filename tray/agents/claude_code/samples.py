"""A synthetic payload for each of Claude Code's events, as it comes over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HOME = "/home/dev/project"
SESSION = "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11"
COMMON = {
    "session_id": SESSION,
    "transcript_path": f"/home/dev/.claude/projects/-home-dev-project/{SESSION}.jsonl",
    "cwd": HOME,
}
MODE = {"permission_mode": "default"}
STOPPED = {"stop_hook_active": False, "last_assistant_message": "All tests pass.", "background_tasks": []}
COMMAND = {"tool_name": "Bash", "tool_input": {"command": "ls -la", "description": "List the files"}}
CALL = MODE | COMMAND | {"tool_use_id": "toolu_01"}
LISTED = {"stdout": "README.md", "stderr": "", "interrupted": False, "isImage": False}
TASK = {"task_id": "1", "task_subject": "Write the tests", "task_description": "One per behaviour."}
SUBAGENT = {"agent_id": "a43263d655169d4b4", "agent_type": "general-purpose"}
FORM = {"mcp_server_name": "calendar", "mode": "form"}
SWITCH = {
    "from_model": "claude-opus-5-5",
    "to_model": "claude-sonnet-5-5",
    "requested_model": "sonnet",
    "source": "command",
    "context_tokens": 15,
    "prompt_cache_warm": True,
    "cache_ttl": "5m",
    "estimated_cache_write_usd": 0,
    "pricing": "catalog",
}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "ConfigChange": {"source": "project_settings", "file_path": f"{HOME}/.claude/settings.json"},
    "CwdChanged": {"old_cwd": HOME, "new_cwd": f"{HOME}/sub"},
    "DirectoryAdded": {"directory": "/home/dev/other", "source": "slash_command"},
    "Elicitation": FORM
    | {
        "message": "Which day?",
        "elicitation_id": "e1",
        "requested_schema": {"type": "object", "properties": {"day": {"type": "string"}}},
    },
    "ElicitationResult": FORM | {"action": "accept", "content": {"day": "Monday"}, "elicitation_id": "e1"},
    "FileChanged": {"file_path": f"{HOME}/.envrc", "event": "change"},
    "InstructionsLoaded": {
        "file_path": f"{HOME}/CLAUDE.md",
        "memory_type": "Project",
        "load_reason": "session_start",
    },
    "MessageDisplay": {
        "turn_id": "16f4188e-f458-4afb-aead-9779411aea43",
        "message_id": "6ae5b42d-97df-4e67-8585-d1dec55f8bf5",
        "index": 0,
        "final": True,
        "delta": "All tests pass.",
    },
    "Notification": {
        "message": "Claude needs your permission to use Bash",
        "notification_type": "permission_prompt",
    },
    "PermissionDenied": CALL | {"permission_mode": "auto", "reason": "The command leaves the project."},
    "PermissionRequest": MODE
    | COMMAND
    | {
        "permission_suggestions": [
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}],
                "behavior": "allow",
                "destination": "localSettings",
            }
        ]
    },
    "PostCompact": {"trigger": "auto", "compact_summary": "The parser was fixed."},
    "PostModelSwitch": SWITCH,
    "PostToolBatch": MODE | {"tool_calls": [COMMAND | {"tool_use_id": "toolu_01", "tool_response": "README.md"}]},
    "PostToolUse": CALL | {"tool_response": LISTED, "duration_ms": 14},
    "PostToolUseFailure": CALL | {"error": "Exit code 3", "is_interrupt": False, "duration_ms": 49},
    "PreCompact": {"trigger": "manual", "custom_instructions": "Keep the names of the files."},
    "PreModelSwitch": SWITCH,
    "PreToolUse": CALL,
    "SessionEnd": {"reason": "other"},
    "SessionStart": {"source": "startup", "model": "claude-sonnet-5-5"},
    "Setup": {"trigger": "init"},
    "Stop": MODE | STOPPED,
    "StopFailure": {"error": "rate_limit", "last_assistant_message": "The service is busy. Try again later."},
    "SubagentStart": SUBAGENT,
    "SubagentStop": SUBAGENT | STOPPED,
    "TaskCompleted": TASK,
    "TaskCreated": TASK,
    "TeammateIdle": {"teammate_name": "reviewer", "team_name": "release"},
    "UserPromptExpansion": MODE
    | {
        "expansion_type": "slash_command",
        "command_name": "review",
        "command_args": "src/app.py",
        "command_source": "projectSettings",
        "prompt": "/review src/app.py",
    },
    "UserPromptSubmit": MODE | {"prompt": "Fix the parser."},
    "WorktreeCreate": {"name": "feature-parser"},
    "WorktreeRemove": {"worktree_path": "/home/dev/worktrees/feature-parser"},
}
