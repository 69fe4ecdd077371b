"""Cursor's events, and which of them `connect` registers so that each tool call is reported once."""

from __future__ import annotations

from collections.abc import Mapping

from tray.model.event import Capability, EventKind, EventSpec

ID = "cursor"
NAME = "Cursor"
TIMEOUT = 60.0  # seconds; Cursor's own default, and the only number that is known to be waited for
# An allow is not listed: it is the neutral answer, because newer versions refuse when a permission hook is silent.
CAN_ASK = Capability.ASK | Capability.DENY

EVENTS: Mapping[str, EventSpec] = {
    "afterAgentResponse": EventSpec(kind=EventKind.MODEL_AFTER, timeout=TIMEOUT),
    "afterAgentThought": EventSpec(kind=EventKind.MESSAGE_DISPLAY, timeout=TIMEOUT),
    "afterFileEdit": EventSpec(kind=EventKind.TOOL_AFTER, timeout=TIMEOUT),
    "afterMCPExecution": EventSpec(kind=EventKind.TOOL_AFTER, timeout=TIMEOUT, subject="tool_name"),
    "afterShellExecution": EventSpec(kind=EventKind.TOOL_AFTER, timeout=TIMEOUT, subject="command"),
    "afterTabFileEdit": EventSpec(kind=EventKind.FILE_CHANGED, timeout=TIMEOUT),
    "beforeMCPExecution": EventSpec(kind=EventKind.TOOL_BEFORE, can=CAN_ASK, timeout=TIMEOUT, subject="tool_name"),
    "beforeReadFile": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, timeout=TIMEOUT),
    "beforeShellExecution": EventSpec(kind=EventKind.TOOL_BEFORE, can=CAN_ASK, timeout=TIMEOUT, subject="command"),
    "beforeSubmitPrompt": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT, timeout=TIMEOUT),
    "beforeTabFileRead": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, timeout=TIMEOUT),
    "postToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.REWRITE_OUTPUT | Capability.CONTEXT,
        timeout=TIMEOUT,
        subject="tool_name",
        after_the_fact=True,
    ),
    "postToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED,
        can=Capability.CONTEXT,
        timeout=TIMEOUT,
        subject="tool_name",
        after_the_fact=True,
    ),
    "preCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=Capability.NOTE, timeout=TIMEOUT, subject="trigger"),
    # It accepts an `ask` here and does not heed it.
    "preToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=Capability.DENY | Capability.REWRITE_INPUT,
        timeout=TIMEOUT,
        subject="tool_name",
    ),
    "sessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=TIMEOUT, subject="reason"),
    "sessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, timeout=TIMEOUT),
    "stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY, timeout=TIMEOUT),
    "subagentStart": EventSpec(
        kind=EventKind.SUBAGENT_START, can=Capability.DENY, timeout=TIMEOUT, subject="subagent_type"
    ),
    "subagentStop": EventSpec(
        kind=EventKind.SUBAGENT_END, can=Capability.DENY, timeout=TIMEOUT, subject="subagent_type"
    ),
}
# By {"permission": "deny"}. Newer versions also refuse if a hook of these prints nothing.
PERMISSION_EVENTS = frozenset(
    {
        *("beforeMCPExecution", "beforeReadFile", "beforeShellExecution", "beforeTabFileRead"),
        *("preToolUse", "subagentStart"),
    }
)
# What a hook can say there although Cursor passes over it.
EXTRA_CAN: Mapping[str, Capability] = {
    **dict.fromkeys(("beforeMCPExecution", "beforeShellExecution"), Capability.REWRITE_INPUT),
    **dict.fromkeys(("beforeReadFile", "beforeTabFileRead"), Capability.ASK | Capability.REWRITE_INPUT),
    "preToolUse": Capability.ASK | Capability.CONTEXT,
    "subagentStart": Capability.ASK,
}
SHELL, MCP = "Shell", "MCP:"  # names of tools; that of each MCP tool begins so
# Commands and MCP tools are reported where the user can be asked, and by cursor-agent too; the rest here.
OTHER_TOOLS = f"^(?!{SHELL}$|{MCP})"
UNCONNECTED_EVENTS: Mapping[str, str] = {
    "afterAgentResponse": "repeats what you read",
    "afterAgentThought": "comes with each thought",
    "afterFileEdit": "repeats postToolUse",
    "afterMCPExecution": "repeats postToolUse",
    "afterShellExecution": "repeats postToolUse",
    "afterTabFileEdit": "comes with each completion that you accept",
    "beforeReadFile": "repeats preToolUse",
    "beforeTabFileRead": "comes with each completion",
}
# The names under which it runs hooks of Claude Code's settings.
CLAUDE_NAMES: Mapping[str, str] = {
    "PostToolUse": "postToolUse",
    "PreCompact": "preCompact",
    "PreToolUse": "preToolUse",
    "SessionEnd": "sessionEnd",
    "SessionStart": "sessionStart",
    "Stop": "stop",
    "SubagentStop": "subagentStop",
    "UserPromptSubmit": "beforeSubmitPrompt",
}
