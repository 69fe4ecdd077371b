"""Claude Code's 33 events: what each is, what it can carry back, which of its fields say what."""

from __future__ import annotations

from collections.abc import Mapping

from tray.model.event import Can, Event, EventKind, EventSpec

AGENT = "claude-code"
ANSWERED = Can.DENY | Can.STOP | Can.NOTE
REFUSED = Can.DENY | Can.NOTE
TOLD = Can.CONTEXT | Can.NOTE
PERMIT = Can.ALLOW | Can.ASK
SEQUENCE = "terminalSequence"  # taken with every JSON answer
WATCH = ("watchPaths", SEQUENCE)

# STOP stands where `continue: false` is honoured; elsewhere a stop becomes a refusal, or is dropped.
EVENTS: Mapping[str, EventSpec] = {
    "ConfigChange": EventSpec(kind=EventKind.CONFIG_CHANGED, can=REFUSED, subject="source", extras=(SEQUENCE,)),
    "CwdChanged": EventSpec(kind=EventKind.CWD_CHANGED, can=Can.NOTE, extras=WATCH),
    "DirectoryAdded": EventSpec(kind=EventKind.DIRECTORY_ADDED, subject="source"),
    # Silence lets the user be asked, which is all that an ask wants.
    "Elicitation": EventSpec(
        kind=EventKind.ELICITATION,
        can=REFUSED | Can.ASK | Can.REWRITE_ANSWER,
        subject="mcp_server_name",
        extras=(SEQUENCE,),
    ),
    "ElicitationResult": EventSpec(
        kind=EventKind.ELICITATION_RESULT,
        can=REFUSED | Can.REWRITE_ANSWER,
        subject="mcp_server_name",
        extras=(SEQUENCE,),
    ),
    "FileChanged": EventSpec(kind=EventKind.FILE_CHANGED, can=Can.NOTE, subject="file_path", extras=WATCH),
    "InstructionsLoaded": EventSpec(kind=EventKind.INSTRUCTIONS_LOADED, subject="load_reason"),
    "MessageDisplay": EventSpec(kind=EventKind.MESSAGE_DISPLAY, can=Can.REWRITE_MESSAGE, timeout=10),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, subject="notification_type"),
    "PermissionDenied": EventSpec(
        kind=EventKind.PERMISSION_DENIED, can=Can.RETRY | Can.NOTE, subject="tool_name", extras=(SEQUENCE,)
    ),
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST,
        can=ANSWERED | PERMIT | Can.REWRITE_INPUT,
        subject="tool_name",
        extras=("updatedPermissions", SEQUENCE),
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, subject="trigger"),
    "PostModelSwitch": EventSpec(kind=EventKind.MODEL_SWITCH_AFTER, can=TOLD, subject="source", extras=(SEQUENCE,)),
    "PostToolBatch": EventSpec(kind=EventKind.TOOL_BATCH, can=ANSWERED | Can.CONTEXT, extras=(SEQUENCE,)),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=ANSWERED | Can.CONTEXT | Can.REWRITE_OUTPUT,
        late=True,
        subject="tool_name",
        extras=("classifierContext", SEQUENCE),
    ),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, can=ANSWERED | Can.CONTEXT, late=True, subject="tool_name", extras=(SEQUENCE,)
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=REFUSED, subject="trigger", extras=(SEQUENCE,)),
    "PreModelSwitch": EventSpec(
        kind=EventKind.MODEL_SWITCH_BEFORE, can=REFUSED | PERMIT, subject="source", extras=(SEQUENCE,)
    ),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=ANSWERED | PERMIT | Can.REWRITE_INPUT | Can.CONTEXT,
        subject="tool_name",
        extras=(SEQUENCE,),
    ),
    # The agent's shared budget for all SessionEnd hooks.
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=1.5, subject="reason"),
    "SessionStart": EventSpec(
        kind=EventKind.SESSION_START,
        can=TOLD,
        subject="source",
        extras=("initialUserMessage", "reloadSkills", "sessionTitle", *WATCH),
    ),
    "Setup": EventSpec(kind=EventKind.SETUP, can=TOLD, subject="trigger", extras=(SEQUENCE,)),
    # No CONTEXT at a stop: there it makes the agent go on, so it is read as a refusal.
    "Stop": EventSpec(kind=EventKind.TURN_END, can=ANSWERED, extras=(SEQUENCE,)),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, subject="error"),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, can=TOLD, subject="agent_type", extras=(SEQUENCE,)),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=ANSWERED, subject="agent_type", extras=(SEQUENCE,)),
    "TaskCompleted": EventSpec(kind=EventKind.TASK_COMPLETED, can=ANSWERED, extras=(SEQUENCE,)),
    "TaskCreated": EventSpec(kind=EventKind.TASK_CREATED, can=REFUSED, extras=(SEQUENCE,)),
    "TeammateIdle": EventSpec(kind=EventKind.TEAMMATE_IDLE, can=ANSWERED, extras=(SEQUENCE,)),
    "UserPromptExpansion": EventSpec(
        kind=EventKind.PROMPT_EXPANSION,
        can=ANSWERED | Can.CONTEXT,
        subject="command_name",
        extras=("suppressOriginalPrompt", SEQUENCE),
    ),
    "UserPromptSubmit": EventSpec(
        kind=EventKind.PROMPT,
        can=ANSWERED | Can.CONTEXT,
        timeout=30,
        extras=("sessionTitle", "suppressOriginalPrompt", SEQUENCE),
    ),
    # A hook here takes the agent's place: it makes the worktree and prints its path; without one there is none.
    "WorktreeCreate": EventSpec(kind=EventKind.WORKTREE_CREATE, can=Can.DENY | Can.REWRITE_ANSWER),
    "WorktreeRemove": EventSpec(kind=EventKind.WORKTREE_REMOVE),
}
# The nearest name for what other agents tell and this one does not, by what can be answered there.
NEAREST: dict[EventKind, str] = {
    EventKind.COMPLETION_CLAIM: "Stop",
    EventKind.CONVERSATION_NEW: "UserPromptSubmit",
    EventKind.MODEL_BEFORE: "UserPromptSubmit",
    EventKind.OUTBOUND_MESSAGE: "MessageDisplay",
    EventKind.RESPONSE_END: "MessageDisplay",
    EventKind.SLASH_COMMAND: "UserPromptExpansion",
    EventKind.TOOL_RESULT: "PostToolUse",
}
NAMES: Mapping[EventKind, str] = {spec.kind: name for name, spec in EVENTS.items()} | NEAREST


def told(event: Event) -> str:
    """The event's name as a hook of this dialect hears it."""
    return event.name if event.agent == AGENT else NAMES.get(event.kind, event.kind.value)


# Which field of the payload is an event's topic, message, title or path, where it is not the usual one.
TOPICS: Mapping[str, str] = {
    "ConfigChange": "source",
    "DirectoryAdded": "source",
    "Elicitation": "mode",
    "ElicitationResult": "action",
    "FileChanged": "event",
    "InstructionsLoaded": "load_reason",
    "Notification": "notification_type",
    "PostCompact": "trigger",
    "PostModelSwitch": "source",
    "PreCompact": "trigger",
    "PreModelSwitch": "source",
    "SessionEnd": "reason",
    "SessionStart": "source",
    "Setup": "trigger",
    "StopFailure": "error",
    "UserPromptExpansion": "command_name",
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
PATHS = ("file_path", "new_cwd", "directory", "worktree_path")
TEXTS = frozenset(  # the fields that an event's own words come from
    (*["agent_id", "agent_type", "custom_instructions", "cwd", "last_assistant_message", "message", "model"],
     *["prompt", "session_id", "session_title", "teammate_name", "title", "to_model"],
     *["tool_name", "tool_use_id", "url"],
     *PATHS, *TOPICS.values(), *(key for keys in (*MESSAGES.values(), *TITLES.values()) for key in keys))
)  # fmt: skip
