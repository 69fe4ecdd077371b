"""Cursor's events, and which of them `connect` registers so that each tool call is reported once."""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents.agent import timed
from tray.model.event import Capability, EventKind, EventSpec

ID = "cursor"
NAME = "Cursor"
TIMEOUT = 60.0  # seconds; Cursor's own default, and the only number that is known to be waited for
# An allow is not listed: it is the neutral answer, because newer versions refuse when a permission hook is silent.
CAN_ASK = Capability.ASK | Capability.DENY

SPECS: Mapping[str, EventSpec] = {
    "afterAgentResponse": EventSpec(kind=EventKind.MODEL_AFTER),
    "afterAgentThought": EventSpec(kind=EventKind.MESSAGE_DISPLAY),
    "afterFileEdit": EventSpec(kind=EventKind.TOOL_AFTER),
    "afterMCPExecution": EventSpec(kind=EventKind.TOOL_AFTER, subject="tool_name"),
    "afterShellExecution": EventSpec(kind=EventKind.TOOL_AFTER, subject="command"),
    "afterTabFileEdit": EventSpec(kind=EventKind.FILE_CHANGED),
    "beforeMCPExecution": EventSpec(kind=EventKind.TOOL_BEFORE, can=CAN_ASK, subject="tool_name"),
    "beforeReadFile": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY),
    "beforeShellExecution": EventSpec(kind=EventKind.TOOL_BEFORE, can=CAN_ASK, subject="command"),
    "beforeSubmitPrompt": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT),
    "beforeTabFileRead": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY),
    "postToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.REWRITE_OUTPUT | Capability.CONTEXT,
        subject="tool_name",
        after_the_fact=True,
    ),
    "postToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, can=Capability.CONTEXT, subject="tool_name", after_the_fact=True
    ),
    "preCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=Capability.NOTE, subject="trigger"),
    # It accepts an `ask` here and does not heed it.
    "preToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=Capability.DENY | Capability.REWRITE_INPUT, subject="tool_name"
    ),
    "sessionEnd": EventSpec(kind=EventKind.SESSION_END, subject="reason"),
    "sessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT),
    "stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY),
    "subagentStart": EventSpec(kind=EventKind.SUBAGENT_START, can=Capability.DENY, subject="subagent_type"),
    "subagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=Capability.DENY, subject="subagent_type"),
}
EVENTS = timed(SPECS, TIMEOUT)
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
