"""Starchild: a workspace's config/shell_hooks.yaml, whose entries its user approves there."""

from __future__ import annotations

import re

from tray.agents import wire
from tray.agents.agent import Agent, Marks, NativeTool, ProtectedFiles, part
from tray.agents.starchild import protocol
from tray.model.event import Capability

SETTING = "a hook setting of Starchild"
FILE = {"file_path": ("path", "file_path", "filename")}  # its own hooks look for all three
TOOLS = {
    "Bash": NativeTool("bash"),
    "Edit": NativeTool("edit_file", FILE),
    "Read": NativeTool("read_file", FILE),
    "Write": NativeTool("write_file", FILE),
}


AGENT = Agent(
    id=protocol.AGENT,
    name="Starchild",
    events=protocol.EVENTS,
    default_can=protocol.CAN_REFUSE,
    extra_can={"pre_tool_call": Capability.ALLOW | Capability.ASK},  # its hooks may answer in Claude Code's form
    protocol=protocol,
    answers=protocol.ANSWERS,
    tools=TOOLS,
    marks=Marks(is_alike=wire.has_texts("event", "session_id", "agent_id"), event_names=re.compile(r"[a-z]\w*")),
    programs=frozenset({"starchild"}),
    variables=frozenset({"STARCHILD_SESSION_ID"}),
    protected=(
        ProtectedFiles(kind=SETTING, pattern=re.compile(r".*/shell_hooks\.ya?ml")),
        # Its switch is in a file whose name many projects use for something else.
        ProtectedFiles(
            kind=SETTING,
            pattern=re.compile(r".*/config/agent\.ya?ml"),
            beside=("shell_hooks.yaml", "shell_hooks.yml"),
        ),
    ),
    settings_files=("config/shell_hooks.yaml",),
    guarded_members={"*/config/agent.y*ml": re.compile("shell_hooks")},
    path_words=("agent.y", "hook"),
    unnamed_event="pre_tool_call",
    trusts_each_entry=True,
    connector=part("tray.agents.starchild.connector:CONNECTOR"),
    reader=part("tray.agents.starchild.source"),
    importer=part("tray.agents.starchild.connector:IMPORTER"),
)
