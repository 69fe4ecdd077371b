"""Claude Code's 33 events, and the values of its hook format, which other agents took over.

https://code.claude.com/docs/en/hooks
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents import outputs
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import PERMISSIONS, TOP, ClaudeShape, RefusalStyle, Types
from tray.model.decision import Verdict
from tray.model.event import Capability, EventKind, EventSpec

ID = "claude-code"
NAME = "Claude Code"
CAN_ANSWER = Capability.DENY | Capability.STOP | Capability.NOTE
CAN_REFUSE = Capability.DENY | Capability.NOTE
CAN_INFORM = Capability.CONTEXT | Capability.NOTE
CAN_PERMIT = Capability.ALLOW | Capability.ASK
# A hook there must make the worktree itself in place of the agent, so no opinion is not a valid answer.
UNCONNECTED_EVENTS: Mapping[str, str] = {"WorktreeCreate": "takes the agent's place"}
SEQUENCE = "terminalSequence"  # accepted in every JSON answer that may have a note

# STOP is listed where `continue: false` is honoured; elsewhere a stop becomes a refusal, or is dropped.
SPECS: Mapping[str, EventSpec] = {
    "ConfigChange": EventSpec(kind=EventKind.CONFIG_CHANGED, can=CAN_REFUSE, subject="source"),
    "CwdChanged": EventSpec(kind=EventKind.CWD_CHANGED, can=Capability.NOTE, extras=("watchPaths",)),
    "DirectoryAdded": EventSpec(kind=EventKind.DIRECTORY_ADDED, subject="source"),
    # ASK needs no output: without an answer, the agent asks the user.
    "Elicitation": EventSpec(
        kind=EventKind.ELICITATION,
        can=CAN_REFUSE | Capability.ASK | Capability.REWRITE_ANSWER,
        subject="mcp_server_name",
    ),
    "ElicitationResult": EventSpec(
        kind=EventKind.ELICITATION_RESULT, can=CAN_REFUSE | Capability.REWRITE_ANSWER, subject="mcp_server_name"
    ),
    "FileChanged": EventSpec(
        kind=EventKind.FILE_CHANGED, can=Capability.NOTE, subject="file_path", extras=("watchPaths",)
    ),
    "InstructionsLoaded": EventSpec(kind=EventKind.INSTRUCTIONS_LOADED, subject="load_reason"),
    "MessageDisplay": EventSpec(kind=EventKind.MESSAGE_DISPLAY, can=Capability.REWRITE_MESSAGE, timeout=10),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, subject="notification_type"),
    "PermissionDenied": EventSpec(
        kind=EventKind.PERMISSION_DENIED, can=Capability.RETRY | Capability.NOTE, subject="tool_name"
    ),
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST,
        can=CAN_ANSWER | CAN_PERMIT | Capability.REWRITE_INPUT,
        subject="tool_name",
        extras=("updatedPermissions",),
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, subject="trigger"),
    "PostModelSwitch": EventSpec(kind=EventKind.MODEL_SWITCH_AFTER, can=CAN_INFORM, subject="source"),
    "PostToolBatch": EventSpec(kind=EventKind.TOOL_BATCH, can=CAN_ANSWER | Capability.CONTEXT),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=CAN_ANSWER | Capability.CONTEXT | Capability.REWRITE_OUTPUT,
        after_the_fact=True,
        subject="tool_name",
        extras=("classifierContext",),
    ),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, can=CAN_ANSWER | Capability.CONTEXT, after_the_fact=True, subject="tool_name"
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=CAN_REFUSE, subject="trigger"),
    "PreModelSwitch": EventSpec(kind=EventKind.MODEL_SWITCH_BEFORE, can=CAN_REFUSE | CAN_PERMIT, subject="source"),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=CAN_ANSWER | CAN_PERMIT | Capability.REWRITE_INPUT | Capability.CONTEXT,
        subject="tool_name",
    ),
    # The agent's shared budget for all SessionEnd hooks.
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=1.5, subject="reason"),
    "SessionStart": EventSpec(
        kind=EventKind.SESSION_START,
        can=CAN_INFORM,
        subject="source",
        extras=("initialUserMessage", "reloadSkills", "sessionTitle", "watchPaths"),
    ),
    "Setup": EventSpec(kind=EventKind.SETUP, can=CAN_INFORM, subject="trigger"),
    # Context at a stop is a reminder: the agent continues, and its user reads no refusal.
    "Stop": EventSpec(kind=EventKind.TURN_END, can=CAN_ANSWER | Capability.CONTEXT),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, subject="error"),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, can=CAN_INFORM, subject="agent_type"),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=CAN_ANSWER | Capability.CONTEXT, subject="agent_type"),
    "TaskCompleted": EventSpec(kind=EventKind.TASK_COMPLETED, can=CAN_ANSWER),
    "TaskCreated": EventSpec(kind=EventKind.TASK_CREATED, can=CAN_REFUSE),
    "TeammateIdle": EventSpec(kind=EventKind.TEAMMATE_IDLE, can=CAN_ANSWER),
    "UserPromptExpansion": EventSpec(
        kind=EventKind.PROMPT_EXPANSION,
        can=CAN_ANSWER | Capability.CONTEXT,
        subject="command_name",
        extras=("suppressOriginalPrompt",),
    ),
    "UserPromptSubmit": EventSpec(
        kind=EventKind.PROMPT,
        can=CAN_ANSWER | Capability.CONTEXT,
        timeout=30,
        extras=("sessionTitle", "suppressOriginalPrompt"),
    ),
    # A hook here makes the worktree in place of the agent and prints its path; otherwise no worktree is made.
    "WorktreeCreate": EventSpec(kind=EventKind.WORKTREE_CREATE, can=Capability.DENY | Capability.REWRITE_ANSWER),
    "WorktreeRemove": EventSpec(kind=EventKind.WORKTREE_REMOVE),
}
EVENTS: Mapping[str, EventSpec] = {
    name: replace(spec, extras=(*spec.extras, SEQUENCE)) if Capability.NOTE in spec.can else spec
    for name, spec in SPECS.items()
}
# Which field of the payload is an event's topic, message or title, where it is not the usual one.
TOPICS: Mapping[str, str] = {
    "Elicitation": "mode",
    "ElicitationResult": "action",
    "FileChanged": "event",
    "UserPromptSubmit": "source",
}
MESSAGES: Mapping[str, tuple[str, ...]] = {
    "MessageDisplay": ("delta",),
    "PermissionDenied": ("reason",),
    "PostCompact": ("compact_summary",),
    "StopFailure": ("last_assistant_message", "error_details"),
    "TaskCompleted": ("task_description",),
    "TaskCreated": ("task_description",),
}
TITLES: Mapping[str, tuple[str, ...]] = {
    "Elicitation": ("mcp_server_name",),
    "ElicitationResult": ("mcp_server_name",),
    "TaskCompleted": ("task_subject",),
    "TaskCreated": ("task_subject",),
    "TeammateIdle": ("team_name",),
    "WorktreeCreate": ("name",),
}

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

WATCH: Types = {"watchPaths": (list,)}
CONTEXT: Types = {"additionalContext": (str,)}
TITLE: Types = {"sessionTitle": (str,)}
SUPPRESS: Types = {"suppressOriginalPrompt": (bool,)}
TRIGGERS = ("auto", "manual")
# The fields of hookSpecificOutput besides those that follow from what an event can carry.
FIELDS: Mapping[str, Types] = {
    "CwdChanged": WATCH,
    "FileChanged": WATCH,
    "Notification": CONTEXT,
    "PostToolUse": {"classifierContext": (str,)},
    "SessionStart": {**WATCH, "initialUserMessage": (str,), "reloadSkills": (bool,), **TITLE},
    "UserPromptExpansion": SUPPRESS,
    "UserPromptSubmit": {**TITLE, **SUPPRESS},
}
SHAPE = ClaudeShape(
    agent=ID,
    events=EVENTS,
    topics=TOPICS,
    titles=TITLES,
    messages=MESSAGES,
    refusals={"TaskCompleted": RefusalStyle.EXIT_2, "TeammateIdle": RefusalStyle.EXIT_2},
    top_extras=frozenset({SEQUENCE}),
    permissions={**PERMISSIONS, "defer": Verdict.ASK},  # pauses the call until a program decides
    top={**TOP, SEQUENCE: (str,)},
    fields=FIELDS,
    text_context=frozenset({"SessionStart", "UserPromptExpansion", "UserPromptSubmit"}),
    # `continue: false` has no effect there. On a PermissionRequest, only `decision` has one, and exit 2 has none.
    stop_ignored=frozenset({"SessionStart", "TaskCreated"}),
    topic_words={
        EventKind.COMPACT_AFTER: TRIGGERS,
        EventKind.COMPACT_BEFORE: TRIGGERS,
        EventKind.SESSION_END: ("other", "clear", "resume", "logout", "prompt_input_exit"),
        EventKind.SESSION_START: ("startup", "resume", "clear", "compact", "fork"),
    },
    older_output_keys=("tool_output", "tool_result"),
    output_from_text=outputs.from_text,
    project_variables=("CLAUDE_PROJECT_DIR",),
    session_variables=("CLAUDE_CODE_SESSION_ID",),
    samples=SAMPLES,
    sample_common=COMMON,
)
PROTOCOL = ShapedProtocol(SHAPE)
SETTINGS = SettingsFile(
    folder=".claude",
    variable="CLAUDE_CONFIG_DIR",
    off_switch="disableAllHooks",
    timeouts={"MessageDisplay": 10.0, "UserPromptSubmit": 30.0},
    milliseconds_from=1000,  # seconds were milliseconds in the first versions
    handler_types=("command", "agent", "http", "mcp_tool", "prompt"),
    takes_args=True,
    unconnected_events=UNCONNECTED_EVENTS,
    restart_hint=(
        "Running sessions take it up. In a folder that is new to Claude Code it first asks whether you trust that."
    ),
)
