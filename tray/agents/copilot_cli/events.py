"""Copilot CLI's events under the names that `connect` registers, and its other names for them."""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents.agent import timed
from tray.agents.claude_shape.shape import ClaudeShape
from tray.model.decision import Target
from tray.model.event import Capability, EventKind, EventSpec

AGENT = "copilot-cli"
TRANSFORMED = "userPromptTransformed"  # the only event with one name
CAN_DECIDE = Capability.ALLOW | Capability.ASK | Capability.DENY
# The agent's default is 30 s and it has no maximum. A person may be asked about what can be refused.
LONG = 600.0
SHORT = 30.0

SPECS: Mapping[str, EventSpec] = {
    "ErrorOccurred": EventSpec(kind=EventKind.TURN_FAILED),
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, can=Capability.CONTEXT, subject="notification_type"),
    # ASK needs no output: without an answer, the agent asks the user.
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST, can=CAN_DECIDE | Capability.STOP, subject="tool_name"
    ),
    # A refusal withholds the output from the model.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.DENY | Capability.REWRITE_OUTPUT | Capability.CONTEXT,
        subject="tool_name",
    ),
    "PostToolUseFailure": EventSpec(kind=EventKind.TOOL_FAILED, can=Capability.CONTEXT, subject="tool_name"),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, subject="trigger"),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=CAN_DECIDE | Capability.REWRITE_INPUT | Capability.CONTEXT,
        subject="tool_name",
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, can=Capability.CONTEXT, subject="agent_name"),
    "SubagentStop": EventSpec(
        kind=EventKind.SUBAGENT_END, can=Capability.DENY | Capability.REWRITE_MESSAGE, subject="agent_name"
    ),
    "UserPromptSubmit": EventSpec(
        kind=EventKind.PROMPT, can=Capability.DENY | Capability.REWRITE_PROMPT | Capability.CONTEXT
    ),
    TRANSFORMED: EventSpec(kind=EventKind.MODEL_BEFORE, can=Capability.REWRITE_PROMPT),
}
EVENTS = timed(
    SPECS,
    SHORT,
    dict.fromkeys(
        ("PermissionRequest", "PostToolUse", "PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit"), LONG
    ),
)
SHAPE = ClaudeShape(agent=AGENT, events=EVENTS, project_variables=("CLAUDE_PROJECT_DIR", "COPILOT_PROJECT_DIR"))
BLOCKED = frozenset({"PostToolUse", "Stop", "SubagentStop", "UserPromptSubmit"})  # by {"decision": "block"}
REWRITES: Mapping[str, tuple[Target, str]] = {
    "PreToolUse": (Target.INPUT, "modifiedArgs"),
    "SubagentStop": (Target.MESSAGE, "modifiedResponse"),
    "UserPromptSubmit": (Target.PROMPT, "modifiedPrompt"),
    TRANSFORMED: (Target.PROMPT, "modifiedTransformedPrompt"),
}
# The prompt was reported already, before the agent put the date around it.
UNCONNECTED_EVENTS: Mapping[str, str] = {TRANSFORMED: "repeats each prompt"}
# By the other name. Hooks under it get another form of payload, and their answers mean the same.
NAMES: Mapping[str, str] = {
    "agentStop": "Stop",
    "errorOccurred": "ErrorOccurred",
    "notification": "Notification",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "preCompact": "PreCompact",
    "preToolUse": "PreToolUse",
    "sessionEnd": "SessionEnd",
    "sessionStart": "SessionStart",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "userPromptSubmitted": "UserPromptSubmit",
}
