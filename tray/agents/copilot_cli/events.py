"""Copilot CLI's events under the names that `connect` registers, and its other names for them."""

from __future__ import annotations

from collections.abc import Mapping

from tray.model.event import Capability, EventKind, EventSpec

AGENT = "copilot-cli"
TRANSFORMED = "userPromptTransformed"  # the only event with one name
CAN_DECIDE = Capability.ALLOW | Capability.ASK | Capability.DENY
# The agent's default is 30 s and it has no maximum. A person may be asked about what can be refused.
LONG = 600.0
SHORT = 30.0

EVENTS: Mapping[str, EventSpec] = {
    "ErrorOccurred": EventSpec(kind=EventKind.TURN_FAILED, timeout=SHORT),
    "Notification": EventSpec(
        kind=EventKind.NOTIFICATION, can=Capability.CONTEXT, timeout=SHORT, subject="notification_type"
    ),
    # ASK needs no output: without an answer, the agent asks the user.
    "PermissionRequest": EventSpec(
        kind=EventKind.PERMISSION_REQUEST, can=CAN_DECIDE | Capability.STOP, timeout=LONG, subject="tool_name"
    ),
    # A refusal withholds the output from the model.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.DENY | Capability.REWRITE_OUTPUT | Capability.CONTEXT,
        timeout=LONG,
        subject="tool_name",
    ),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, can=Capability.CONTEXT, timeout=SHORT, subject="tool_name"
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=SHORT, subject="trigger"),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=CAN_DECIDE | Capability.REWRITE_INPUT | Capability.CONTEXT,
        timeout=LONG,
        subject="tool_name",
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=SHORT),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, timeout=SHORT),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY, timeout=LONG),
    "SubagentStart": EventSpec(
        kind=EventKind.SUBAGENT_START, can=Capability.CONTEXT, timeout=SHORT, subject="agent_name"
    ),
    "SubagentStop": EventSpec(
        kind=EventKind.SUBAGENT_END,
        can=Capability.DENY | Capability.REWRITE_MESSAGE,
        timeout=LONG,
        subject="agent_name",
    ),
    "UserPromptSubmit": EventSpec(
        kind=EventKind.PROMPT,
        can=Capability.DENY | Capability.REWRITE_PROMPT | Capability.CONTEXT,
        timeout=LONG,
    ),
    TRANSFORMED: EventSpec(kind=EventKind.MODEL_BEFORE, can=Capability.REWRITE_PROMPT, timeout=SHORT),
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
