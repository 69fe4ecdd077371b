"""Cline's command line: one executable for each of its hooks, in ~/.cline/hooks."""

from __future__ import annotations

import re

from tray.agents.agent import ENVELOPE, Agent, Marks, NativeTool, Payload, ProtectedFiles, part
from tray.agents.cline import protocol
from tray.agents.cline.protocol import EVENTS, ID, NAME, SHELL
from tray.model.event import Capability

FILE = {"file_path": ("path",)}


def _is_sender(payload: Payload) -> bool:
    return {"hookName", "taskId", "workspaceRoots"} <= payload.keys()


AGENT = Agent(
    id=ID,
    name=NAME,
    events=EVENTS,
    default_can=Capability.ASK | Capability.DENY,
    extra_can={"PreToolUse": Capability.ASK},
    protocol=protocol,
    answers=protocol.ANSWERS,
    tools={
        "Bash": NativeTool(SHELL),  # its list of commands is one command here
        "Edit": NativeTool(
            "editor", {**FILE, "old_string": ("old_text",), "new_string": ("new_text",)}, others=("apply_patch",)
        ),
        "Grep": NativeTool("search_codebase", {"pattern": ("queries",)}),
        "Read": NativeTool("read_files"),
        "WebFetch": NativeTool("fetch_web_content"),
    },
    also_does={"editor": ("Write",), "apply_patch": ("Write",)},  # they make files, too
    marks=Marks(keys=("hookName",), is_sender=_is_sender, is_alike=_is_sender),
    programs=frozenset({"cline"}),
    variables=frozenset({"CLINE_ACTIVE"}),
    starters=frozenset({"cline"}),
    home_variable="CLINE_DIR",
    envelope=ENVELOPE
    | {"clineVersion", "hookName", "parent_agent_id", "sessionContext", "taskId", "userId", "workspaceInfo"}
    | {"workspaceRoots"},
    protected=(ProtectedFiles(kind=f"a hook of {NAME}", pattern=re.compile(r".*/\.cline(?:rules)?/hooks(?:/.*)?")),),
    protected_in_home=(ProtectedFiles(kind=f"a hook of {NAME}", pattern=re.compile(r"/+hooks(?:/.*)?")),),
    settings_files=(".cline/hooks/PreToolUse", ".clinerules/hooks/PreToolUse"),
    path_words=("cline", "hooks"),
    keeps_call_ids=True,
    probe_event="TaskStart",
    runs_own=part("tray.agents.native_runs:in_folder"),
    connector=part("tray.agents.cline.connector:CONNECTOR"),
    reader=part("tray.agents.cline.source"),
    import_hint="name their folder in `sources` of hooktray.yaml, and move them there",
)
