"""Antigravity, the desktop app and its command line `agy`: named hooks in ~/.gemini/config/hooks.json."""

from __future__ import annotations

import re

from tray.agents.agent import ENVELOPE, Agent, HookRules, Marks, NativeTool, Payload, ProtectedFiles, part
from tray.agents.google_antigravity import protocol
from tray.agents.google_antigravity.protocol import EVENTS, ID, NAME, TOOL_EVENTS, UNCONNECTED_EVENTS
from tray.model.event import Capability

FILE = {"file_path": ("TargetFile",)}
TOOLS = {
    "Bash": NativeTool("run_command", {"command": ("CommandLine",)}),
    "Edit": NativeTool(
        "replace_file_content",
        {
            **FILE,
            "old_string": ("TargetContent",),
            "new_string": ("ReplacementContent",),
            "replace_all": ("AllowMultiple",),
        },
    ),
    "Glob": NativeTool("find_by_name", {"path": ("SearchDirectory",), "pattern": ("Pattern",)}),
    "Grep": NativeTool("grep_search", {"path": ("SearchPath",), "pattern": ("Query",)}),
    "LS": NativeTool("list_dir", {"path": ("DirectoryPath",)}),
    "MultiEdit": NativeTool("multi_replace_file_content", FILE),
    "Read": NativeTool("view_file", {"file_path": ("AbsolutePath",)}),
    "Task": NativeTool("invoke_subagent"),
    "WebFetch": NativeTool("read_url_content"),
    "Write": NativeTool("write_to_file", {**FILE, "content": ("CodeContent",)}),
}


def _is_sender(payload: Payload) -> bool:
    if "stepIdx" in payload and isinstance(payload.get("toolCall"), dict):
        return True
    own = {"artifactDirectoryPath", "executionNum"}
    return "conversationId" in payload and not payload.keys().isdisjoint(own)


def _event(payload: Payload, word: str) -> str:
    """Payloads name no event: it is the one in the command, or "" if the payload cannot be of that event."""
    if "toolCall" in payload:
        return word if word in TOOL_EVENTS else ""
    if not payload.keys().isdisjoint({"executionNum", "fullyIdle", "terminationReason"}):
        return "Stop"
    return word if word in EVENTS.keys() - {*TOOL_EVENTS, "Stop"} else ""


AGENT = Agent(
    id=ID,
    name=NAME,
    events=EVENTS,
    default_can=Capability.ASK | Capability.DENY,
    protocol=protocol,
    answers=protocol.ANSWERS,
    tools=TOOLS,
    marks=Marks(keys=("conversationId", "stepIdx"), is_sender=_is_sender, is_alike=_is_sender, event=_event),
    rules=HookRules(exact_names=False),  # a matcher is a pattern
    programs=frozenset({"agy", "antigravity"}),
    starters=frozenset({"agy", "antigravity"}),
    envelope=ENVELOPE | {"artifactDirectoryPath", "conversationId", "modelName", "transcriptPath", "workspacePaths"},
    protected=(
        ProtectedFiles(
            kind=f"a hook setting of {NAME}",
            pattern=re.compile(r".*/\.gemini/config(?:/hooks\.json)?|.*/\.agents/hooks\.json"),
        ),
    ),
    settings_files=(".gemini/config/hooks.json", ".agents/hooks.json"),
    path_words=("gemini", "hooks"),
    unconnected_events=frozenset(UNCONNECTED_EVENTS),
    probe_event="PreInvocation",
    runs_own=part("tray.agents.native_runs:in_file"),
    connector=part("tray.agents.google_antigravity.connector:CONNECTOR"),
    reader=part("tray.agents.google_antigravity.source"),
    importer=part("tray.agents.google_antigravity.connector:IMPORTER"),
)
