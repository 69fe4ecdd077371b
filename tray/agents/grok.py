"""Grok's command line: Claude-shaped hooks in files of ~/.grok/hooks, and payloads with other keys.

In:  {"hookEventName":"PreToolUse","sessionId":"s","cwd":"/p","workspaceRoot":"/p","toolName":"bash",
      "toolInput":{"command":"rm -rf build"}}
Out: {"decision":"deny","reason":"no"}, before a tool only. https://docs.x.ai/build/features/hooks.md

After its documentation; it was not run. It reads the hook files of Claude Code and of Cursor as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents import wire
from tray.agents.agent import ENVELOPE, Marks, Payload, ProtectedFiles, part
from tray.agents.claude_shape import CAPITALISED, claude_shaped
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, PayloadKeys, RefusalStyle
from tray.lazy_dataclass import replace
from tray.lazy_pattern import lazy_pattern
from tray.model.event import Capability, EventKind, EventSpec

TIMEOUT = 60.0  # seconds, of our entries; Grok's default is 5
EVENTS: Mapping[str, EventSpec] = {
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, timeout=TIMEOUT),
    "PermissionDenied": EventSpec(kind=EventKind.PERMISSION_DENIED, timeout=TIMEOUT, subject="toolName"),
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, timeout=TIMEOUT),
    "PostToolUse": EventSpec(kind=EventKind.TOOL_AFTER, timeout=TIMEOUT, subject="toolName", after_the_fact=True),
    "PostToolUseFailure": EventSpec(
        kind=EventKind.TOOL_FAILED, timeout=TIMEOUT, subject="toolName", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=TIMEOUT),
    "PreToolUse": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, timeout=TIMEOUT, subject="toolName"),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=TIMEOUT),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, timeout=TIMEOUT),
    "Stop": EventSpec(kind=EventKind.TURN_END, timeout=TIMEOUT),
    "StopFailure": EventSpec(kind=EventKind.TURN_FAILED, timeout=TIMEOUT),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, timeout=TIMEOUT),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, timeout=TIMEOUT),
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, timeout=TIMEOUT),
}
KEYS = PayloadKeys(event="hookEventName", session="sessionId", tool="toolName", input="toolInput", call="toolUseId")

SHAPE = ClaudeShape(
    agent="grok",
    events=EVENTS,
    keys=KEYS,
    refusals={"PreToolUse": RefusalStyle.BLOCK},
    refusal_words=("deny", "block"),
    takes_notes=False,
    json_on_any_exit=False,
    project_variables=("GROK_WORKSPACE_ROOT",),
    sample_common={
        "sessionId": "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11",
        "cwd": "/home/dev/project",
        "workspaceRoot": "/home/dev/project",
    },
)


def _is_sender(payload: Payload) -> bool:
    return "workspaceRoot" in payload and not payload.keys().isdisjoint({KEYS.event, KEYS.input, KEYS.tool})


AGENT = replace(
    claude_shaped(
        name="Grok CLI",
        shape=SHAPE,
        file=SettingsFile(folder=".grok", name="hooks/hooktray.json", timeout=5, handler_types=("command", "http")),
        marks=Marks(
            keys=("workspaceRoot",),
            is_sender=_is_sender,
            is_alike=_is_sender,
            event_names=CAPITALISED,
            variables=("GROK_WORKSPACE_ROOT",),
            event=lambda payload, word: wire.event_name(payload, KEYS.event) or word,
        ),
        programs=frozenset({"grok"}),
        variables=frozenset({"GROK_WORKSPACE_ROOT"}),
        protected=(
            ProtectedFiles(
                kind="a hook file of Grok CLI",
                pattern=lazy_pattern(r".*/\.grok/(?:hooks(?:/.*)?|trusted_folders\.toml)"),
            ),
        ),
    ),
    envelope=ENVELOPE | {"sessionId", "workspaceRoot"},
    runs_own=part("tray.agents.native_runs:in_folder"),
    importer=None,
    import_hint="name your files of ~/.grok/hooks in `sources` of hooktray.yaml, and move them to another folder",
)
