"""Devin's command line: Claude-shaped hooks in ~/.config/devin/config.json. After its documentation; it was not run.

In:  {"hook_event_name":"PreToolUse","tool_name":"exec","tool_input":{"command":"rm -rf build","shell_id":"main"}}
Out: {"decision":"block","reason":"no"}. https://docs.devin.ai/cli/extensibility/hooks/overview.md

Its payloads have no folder: that is in DEVIN_PROJECT_DIR.
"""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents import wire
from tray.agents.agent import Marks, NativeTool, Payload, protected, timed
from tray.agents.claude_shape import CAPITALISED, claude_shaped
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, RefusalStyle
from tray.model.event import Capability, EventKind, EventSpec

TIMEOUT = 60.0  # seconds
# What answers a PermissionRequest is not known; silence leaves the question to its user.
SPECS: Mapping[str, EventSpec] = {
    "PermissionRequest": EventSpec(kind=EventKind.PERMISSION_REQUEST, subject="tool_name", needs_you=True),
    "PostToolUse": EventSpec(kind=EventKind.TOOL_AFTER, subject="tool_name", after_the_fact=True),
    "PreToolUse": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, subject="tool_name"),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=Capability.DENY),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY),
}
EVENTS = timed(SPECS, TIMEOUT)

SHAPE = ClaudeShape(
    agent="devin",
    events=EVENTS,
    refusals={"PreToolUse": RefusalStyle.BLOCK},
    refusal_words=("block", "deny"),
    takes_notes=False,
    json_on_any_exit=False,
    project_variables=("DEVIN_PROJECT_DIR",),
    sample_common={"session_id": "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11"},
)


def _is_alike(payload: Payload) -> bool:
    return bool(wire.text(payload, "hook_event_name")) and payload.keys().isdisjoint({"conversation_id", "cwd"})


AGENT = claude_shaped(
    name="Devin",
    shape=SHAPE,
    file=SettingsFile(folder=".config/devin", name="config.json", head={"version": 1}, timeout=TIMEOUT),
    tools={
        "Bash": NativeTool("exec"),
        "Edit": NativeTool("edit"),
        "Grep": NativeTool("grep"),
        "Read": NativeTool("read"),
        "Write": NativeTool("write"),
    },
    marks=Marks(
        is_alike=_is_alike,
        shares_shape=True,
        event_names=CAPITALISED,
        variables=("DEVIN_PROJECT_DIR",),
        event=wire.hook_event_name,
    ),
    programs=frozenset({"devin"}),
    variables=frozenset({"DEVIN_PROJECT_DIR"}),
    protected=(protected("a hook file of Devin", r".*/\.devin/(?:hooks\.v1|config)\.json"),),
)
