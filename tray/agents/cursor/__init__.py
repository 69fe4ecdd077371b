"""Cursor, the editor and its command line: hooks in ~/.cursor/hooks.json, a list of them for each event."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import ENVELOPE, Agent, HookRules, Marks, NativeTool, Payload, Placeholders, part, protected
from tray.agents.claude_shape import UNCAPITALISED
from tray.agents.cursor import hook_format, protocol
from tray.agents.cursor.events import EVENTS, EXTRA_CAN, ID, NAME, SHELL, UNCONNECTED_EVENTS
from tray.model.event import Capability

HOOK = f"a hook file of {NAME}"
PATH = {"file_path": ("file_path", "path", "target_file")}
TOOLS = {
    "Bash": NativeTool(SHELL),
    "Grep": NativeTool("Grep"),
    "Read": NativeTool("Read", PATH),
    "Write": NativeTool("Write", PATH, others=("Edit", "StrReplace")),
}


def _is_sender(payload: Payload) -> bool:
    return "cursor_version" in payload or ("conversation_id" in payload and "generation_id" in payload)


AGENT = Agent(
    id=ID,
    name=NAME,
    events=EVENTS,
    protocol=protocol,
    answers=hook_format.ANSWERS,
    tools=TOOLS,
    matcher_names={"Edit": ("Write",), "StrReplace": ("Write",)},
    also_does=dict.fromkeys(
        ("Write", "Edit", "StrReplace"), ("Edit", "MultiEdit")
    ),  # Cursor has one tool for all of them
    marks=Marks(
        keys=("conversation_id", "cursor_version"),
        is_sender=_is_sender,
        is_alike=_is_sender,
        event_names=UNCAPITALISED,
        variables=("CURSOR_VERSION",),
        event=wire.hook_event_name,
    ),
    rules=HookRules(
        exact_names=False,  # a matcher is a pattern
        placeholders=Placeholders(project="CURSOR_PROJECT_DIR"),
    ),
    programs=frozenset({"cursor-agent"}),
    variables=frozenset({"CURSOR_AGENT"}),
    off_variables=frozenset({"CURSOR_CONFIG_DIR"}),
    envelope=ENVELOPE | {"cursor_version", "generation_id", "model", "workspace_roots"},
    protected=(
        protected(HOOK, r".*/\.cursor(?:/hooks\.json|/hooks(?:/.*)?)?"),
        protected(HOOK, r"(?:/etc|.*/application support|.*/programdata)/cursor/hooks\.json"),
    ),
    settings_files=(".cursor/hooks.json", ".cursor/hooks/guard.sh"),
    path_words=("cursor", "hooks"),
    unconnected_events=frozenset(UNCONNECTED_EVENTS),
    default_can=Capability.ASK | Capability.DENY,
    extra_can=EXTRA_CAN,
    runs_own=part("tray.agents.native_runs:in_file"),
    connector=part("tray.agents.cursor.connector:CONNECTOR"),
    reader=part("tray.agents.cursor.source:READER"),
    importer=part("tray.agents.cursor.connector:IMPORTER"),
)
