"""Factory Droid: Claude-shaped hooks in ~/.factory/hooks.json, or in settings.json below `hooks`.

In:  {"session_id":"s1","transcript_path":"/home/dev/.factory/sessions/…","cwd":"/p","permission_mode":"auto-high",
      "hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"rm -rf build","summary":"…",…}}
Out: exit 2 with the reason on stderr; {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{…}}}

Seen with version 0.215.0; https://docs.factory.ai/harness/hooks. Droid ignores an ask in every mode, so it becomes
a refusal. Before a tool the first hook's decision counts, but each exit 2 refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tray.agents import wire
from tray.agents.agent import Marks, NativeTool, Payload, protected, timed
from tray.agents.claude_shape import CAPITALISED, claude_shaped, shaped_marks
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, RefusalStyle
from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec

if TYPE_CHECKING:
    from tray.agents.claude_shape.two_files import TwoFiles

TIMEOUT = 60.0  # seconds
STOP = Capability.DENY | Capability.STOP
SPECS: Mapping[str, EventSpec] = {
    "Notification": EventSpec(kind=EventKind.NOTIFICATION),
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER,
        can=Capability.CONTEXT | STOP,
        subject="tool_name",
        after_the_fact=True,
        feedback_only=True,
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, can=Capability.DENY, subject="trigger"),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=Capability.ALLOW | Capability.REWRITE_INPUT | STOP, subject="tool_name"
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, subject="source"),
    "Stop": EventSpec(kind=EventKind.TURN_END, can=STOP),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.CONTEXT | STOP),
}
EVENTS = timed(SPECS, TIMEOUT)
# The levels of autonomy; every payload has one.
MODES = frozenset({"auto-high", "auto-low", "auto-medium", "off", "spec"})
EXIT_2 = ("PostToolUse", "PreCompact", "UserPromptSubmit")  # only exit 2 refuses these

SHAPE = ClaudeShape(
    agent="droid",
    events=EVENTS,
    refusals=dict.fromkeys(EXIT_2, RefusalStyle.EXIT_2),
    takes_notes=False,
    checks_event_name=False,
    merges_input=True,
    stop_ignored=frozenset(name for name, spec in EVENTS.items() if Capability.STOP not in spec.can),
    text_context=frozenset({"SessionStart", "UserPromptSubmit"}),
    ends_with_newline=False,
    project_variables=("FACTORY_PROJECT_DIR",),
    sample_common={
        "session_id": "7c0f01ea-4f53-4097-8730-22286fe75d41",
        "transcript_path": "/home/dev/.factory/sessions/-home-dev-project/7c0f01ea-4f53-4097-8730-22286fe75d41.jsonl",
        "cwd": "/home/dev/project",
        "permission_mode": "auto-high",
    },
)


class DroidProtocol(ShapedProtocol, frozen=True):
    """Refuses a tool in both ways, because another hook's allow may come first."""

    def render(self, event: Event, decision: Decision) -> Answer:
        answer = super().render(event, decision)
        if event.name != "PreToolUse" or decision.verdict is not Verdict.DENY:
            return answer
        reason = (decision.reason or wire.DEFAULT_REASON).encode("utf-8", "replace")
        return replace(answer, stderr=reason + b"\n", code=2)


def _is_sender(payload: Payload) -> bool:
    """True for Claude Code's shape with one of Droid's own modes."""
    return wire.text(payload, "permission_mode") in MODES and bool(wire.text(payload, "hook_event_name"))


FILE = SettingsFile(
    folder=".factory",
    name="hooks.json",
    key="",
    off_switch="hooksDisabled",
    timeout=TIMEOUT,
    takes_comments=True,
    restart_hint="Droid reads it when a session starts, and wants you to review the change in `/hooks`.",
)
NAME = "Factory Droid"


def _files() -> TwoFiles:
    """Returns both files: an event's hooks in settings.json run only if hooks.json has none for it."""
    from tray.agents.claude_shape.two_files import TwoFiles

    settings = replace(FILE, name="settings.json", key="hooks", off_switch="hooks.hooksDisabled")
    return TwoFiles(SHAPE, FILE, "hooks/hooks.json", settings, NAME)


AGENT = claude_shaped(
    name=NAME,
    shape=SHAPE,
    file=FILE,
    protocol=DroidProtocol(SHAPE),
    tools={
        "Bash": NativeTool("Execute"),
        "Edit": NativeTool("Edit", {"old_string": ("old_str",), "new_string": ("new_str",)}, others=("ApplyPatch",)),
        "Write": NativeTool("Create"),
    },
    also_does={"ApplyPatch": ("Write",)},
    marks=Marks(
        transcript=".factory",
        is_sender=_is_sender,
        yields=True,
        is_alike=shaped_marks(SHAPE).is_alike,
        shares_shape=True,
        event_names=CAPITALISED,
        variables=("FACTORY_PROJECT_DIR",),
        event=wire.hook_event_name,
    ),
    programs=frozenset({"droid"}),
    variables=frozenset({"FACTORY_PROJECT_DIR"}),
    protected=(protected(f"a hook setting of {NAME}", r".*/\.factory/(?:hooks/hooks|settings)\.json"),),
    connector=_files,
    importer=_files,
)
