"""Claude Code's 33 events: the kind of each, what an answer can carry, and the fields with its texts."""

from __future__ import annotations

from collections.abc import Mapping

from tray.model.event import Capability, EventKind, EventSpec

AGENT = "claude-code"
CAN_ANSWER = Capability.DENY | Capability.STOP | Capability.NOTE
CAN_REFUSE = Capability.DENY | Capability.NOTE
CAN_INFORM = Capability.CONTEXT | Capability.NOTE
CAN_PERMIT = Capability.ALLOW | Capability.ASK
# A hook there must make the worktree itself in place of the agent, so no opinion is not a valid answer.
UNCONNECTED_EVENTS: Mapping[str, str] = {"WorktreeCreate": "takes the agent's place"}
SEQUENCE = "terminalSequence"  # accepted in every JSON answer
WATCH_EXTRAS = ("watchPaths", SEQUENCE)

# STOP is listed where `continue: false` is honoured; elsewhere a stop becomes a refusal, or is dropped.
EVENTS: Mapping[str, EventSpec] = {
    "ConfigChange": EventSpec(kind=EventKind.CONFIG_CHANGED, can=CAN_REFUSE, subject="source", extras=(SEQUENCE,)),
    "CwdChanged": EventSpec(kind=EventKind.CWD_CHANGED, can=Capability.NOTE, extras=WATCH_EXTRAS),
    "DirectoryAdded": EventSpec(kind=EventKind.DIRECTORY_ADDED, subject="source"),
    # ASK needs no output: without an answer, the agent asks the user.
    "Elicitation": EventSpec(
        kind=EventKind.ELICITATION,
        can=CAN_REFUSE | Capability.ASK | Capability.REWRITE_ANSWER,
        subject="mcp_server_name",
        extras=(SEQUENCE,),
    ),
    "ElicitationResult": EventSpec(
        kind=EventKind.ELICITATION_RESULT,
        can=CAN_REFUSE | Capability.REWRITE_ANSWER,
        subject="mcp_server_name",
        extras=(SEQUENCE,),
    ),
    "FileChanged": EventSpec(
        kind=EventKind.FILE_CHANGED, can=Capability.NOTE, subject="file_path", extras=WATCH_EXTRAS
    ),
    "InstructionsLoaded": EventSpec(kind=EventKind.INSTRUCTIONS_LOADED, subject="load_reason"),
    "MessageDisplay": EventSpec(kind=EventKind.MESSAGE_DISPLAY, can=Capability.REWRITE_MESSAGE, timeout=10),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, subject="notification_type"),
    "PermissionDenied": EventSpec(
        kind=EventKind.PERMISSION_DENIED,
        can=Capability.RETRY | Capability.NOTE,
        subject="tool_name",
        extras=(SEQUENCE,),
    ),
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST,
        can=CAN_ANSWER | CAN_PERMIT | Capability.REWRITE_INPUT,
        subject="tool_name",
        extras=("updatedPermissions", SEQUENCE),
    ),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, subject="trigger"),
    "PostModelSwitch": EventSpec(
        kind=EventKind.MODEL_SWITCH_AFTER, can=CAN_INFORM, subject="source", extras=(SEQUENCE,)
    ),
    "PostToolBatch": EventSpec(kind=EventKind.TOOL_BATCH, can=CAN_ANSWER | Capability.CONTEXT, extras=(SEQUENCE,)),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=CAN_ANSWER | Capability.CONTEXT | Capability.REWRITE_OUTPUT,
        after_the_fact=True,
        subject="tool_name",
        extras=("classifierContext", SEQUENCE),
    ),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED,
        can=CAN_ANSWER | Capability.CONTEXT,
        after_the_fact=True,
        subject="tool_name",
        extras=(SEQUENCE,),
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=CAN_REFUSE, subject="trigger", extras=(SEQUENCE,)),
    "PreModelSwitch": EventSpec(
        kind=EventKind.MODEL_SWITCH_BEFORE, can=CAN_REFUSE | CAN_PERMIT, subject="source", extras=(SEQUENCE,)
    ),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=CAN_ANSWER | CAN_PERMIT | Capability.REWRITE_INPUT | Capability.CONTEXT,
        subject="tool_name",
        extras=(SEQUENCE,),
    ),
    # The agent's shared budget for all SessionEnd hooks.
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=1.5, subject="reason"),
    "SessionStart": EventSpec(
        kind=EventKind.SESSION_START,
        can=CAN_INFORM,
        subject="source",
        extras=("initialUserMessage", "reloadSkills", "sessionTitle", *WATCH_EXTRAS),
    ),
    "Setup": EventSpec(kind=EventKind.SETUP, can=CAN_INFORM, subject="trigger", extras=(SEQUENCE,)),
    # Context at a stop is a reminder: the agent continues, and its user reads no refusal.
    "Stop": EventSpec(kind=EventKind.TURN_END, can=CAN_ANSWER | Capability.CONTEXT, extras=(SEQUENCE,)),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, subject="error"),
    "SubagentStart": EventSpec(
        kind=EventKind.SUBAGENT_START, can=CAN_INFORM, subject="agent_type", extras=(SEQUENCE,)
    ),
    "SubagentStop": EventSpec(
        kind=EventKind.SUBAGENT_END,
        can=CAN_ANSWER | Capability.CONTEXT,
        subject="agent_type",
        extras=(SEQUENCE,),
    ),
    "TaskCompleted": EventSpec(kind=EventKind.TASK_COMPLETED, can=CAN_ANSWER, extras=(SEQUENCE,)),
    "TaskCreated": EventSpec(kind=EventKind.TASK_CREATED, can=CAN_REFUSE, extras=(SEQUENCE,)),
    "TeammateIdle": EventSpec(kind=EventKind.TEAMMATE_IDLE, can=CAN_ANSWER, extras=(SEQUENCE,)),
    "UserPromptExpansion": EventSpec(
        kind=EventKind.PROMPT_EXPANSION,
        can=CAN_ANSWER | Capability.CONTEXT,
        subject="command_name",
        extras=("suppressOriginalPrompt", SEQUENCE),
    ),
    "UserPromptSubmit": EventSpec(
        kind=EventKind.PROMPT,
        can=CAN_ANSWER | Capability.CONTEXT,
        timeout=30,
        extras=("sessionTitle", "suppressOriginalPrompt", SEQUENCE),
    ),
    # A hook here makes the worktree in place of the agent and prints its path; otherwise no worktree is made.
    "WorktreeCreate": EventSpec(kind=EventKind.WORKTREE_CREATE, can=Capability.DENY | Capability.REWRITE_ANSWER),
    "WorktreeRemove": EventSpec(kind=EventKind.WORKTREE_REMOVE),
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
