"""Factory Droid: Claude-shaped hooks in ~/.factory/hooks.json. After its documentation; it was not run.

In:  {"session_id":"s1","transcript_path":"/t","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Execute",
      "tool_input":{"command":"rm -rf build"}}
Out: exit 2 with the reason on stderr. https://docs.factory.ai/harness/hooks
"""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents import wire
from tray.agents.agent import Marks, NativeTool
from tray.agents.claude_shape import CAPITALISED, claude_shaped, shaped_marks
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, RefusalStyle
from tray.model.event import Capability, EventKind, EventSpec

TIMEOUT = 60.0  # seconds
# Nothing but a refusal by exit 2 is known well enough; so an ask and another input become refusals.
EVENTS: Mapping[str, EventSpec] = {
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, timeout=TIMEOUT),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER, can=Capability.CONTEXT, timeout=TIMEOUT, subject="tool_name", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=TIMEOUT, subject="trigger"),
    "PreToolUse": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, timeout=TIMEOUT, subject="tool_name"),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=TIMEOUT, subject="reason"),
    "SessionStart": EventSpec(
        kind=EventKind.SESSION_START, can=Capability.CONTEXT, timeout=TIMEOUT, subject="source"
    ),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY, timeout=TIMEOUT),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=Capability.DENY, timeout=TIMEOUT),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT, timeout=TIMEOUT),
}
REFUSED_BY = ("PreToolUse", "Stop", "SubagentStop", "UserPromptSubmit")

SHAPE = ClaudeShape(
    agent="droid",
    events=EVENTS,
    refusals=dict.fromkeys(REFUSED_BY, RefusalStyle.EXIT_2),
    takes_notes=False,
    json_on_any_exit=False,
    text_context=frozenset({"SessionStart", "UserPromptSubmit"}),
    project_variables=("FACTORY_PROJECT_DIR",),
)

AGENT = claude_shaped(
    name="Factory Droid",
    shape=SHAPE,
    file=SettingsFile(
        folder=".factory",
        name="hooks.json",
        key="",
        fallback="settings.json",
        off_switch="hooksDisabled",
        timeout=TIMEOUT,
        restart_hint="Droid reads it when a session starts, and wants you to review the change in `/hooks`.",
    ),
    tools={
        "Bash": NativeTool("Execute"),
        "Edit": NativeTool("Edit", others=("ApplyPatch",)),
        "Write": NativeTool("Create"),
    },
    marks=Marks(
        is_alike=shaped_marks(SHAPE).is_alike,
        shares_shape=True,
        event_names=CAPITALISED,
        variables=("FACTORY_PROJECT_DIR",),
        event=wire.hook_event_name,
    ),
    also_does={"ApplyPatch": ("Write",)},
    programs=frozenset({"droid"}),
    variables=frozenset({"FACTORY_PROJECT_DIR"}),
)
