"""OpenCode: a plugin of ours runs inside it. It has no hook files, so there is nothing to read or to import."""

from __future__ import annotations

import re

from tray.agents import forms
from tray.agents.agent import Agent, Marks, NativeTool, Payload, ProtectedFiles, ShellTexts, part
from tray.agents.claude_shape import CAPITALISED
from tray.agents.claude_shape.shape import DEFAULT_CAN
from tray.agents.opencode.protocol import EVENTS, ID, MARK, NAME, PROTOCOL
from tray.model.decision import Rewrite, Target
from tray.model.event import Event, EventKind, FormFormat
from tray.model.form import Answers, Form

PLUGIN = f"a plugin of {NAME}"
SETTING = f"a setting of {NAME}"
NO_HOOK_FILES = f"{NAME} has no hook files: plugins run inside it"
FILE = {"file_path": ("filePath",)}
TOOLS = {
    "AskUserQuestion": NativeTool("question"),
    "Bash": NativeTool("bash"),
    "Edit": NativeTool(
        "edit",
        {**FILE, "old_string": ("oldString",), "new_string": ("newString",), "replace_all": ("replaceAll",)},
        others=("apply_patch", "patch"),
    ),
    "Glob": NativeTool("glob"),
    "Grep": NativeTool("grep", {"glob": ("include",)}),
    "LS": NativeTool("list"),
    "MultiEdit": NativeTool("multiedit", FILE),
    "Read": NativeTool("read", FILE),
    "Skill": NativeTool("skill", {"skill": ("name",)}),
    "Task": NativeTool("task"),
    "TodoWrite": NativeTool("todowrite"),
    "WebFetch": NativeTool("webfetch"),
    "WebSearch": NativeTool("websearch"),
    "Write": NativeTool("write", FILE),
}


def _is_sender(payload: Payload) -> bool:
    return MARK in payload


def _read_form(event: Event) -> Form | None:
    if event.kind is not EventKind.ELICITATION:
        return None
    return forms.read(event.payload.get("questions"), multiple="multiple", own_words="custom")


def _fill_form(event: Event, answers: Answers) -> Rewrite:
    content = {question: list(chosen) for question, chosen in answers.items()}
    return Rewrite(target=Target.ANSWER, value={"action": "accept", "content": content})


AGENT = Agent(
    id=ID,
    name=NAME,
    events=EVENTS,
    default_can=DEFAULT_CAN,
    protocol=PROTOCOL,
    answers=PROTOCOL.shape.answers,
    tools=TOOLS,
    also_does={"apply_patch": ("Write",), "patch": ("Write",)},
    marks=Marks(keys=(MARK,), is_sender=_is_sender, is_alike=_is_sender, event_names=CAPITALISED),
    programs=frozenset({"opencode"}),
    variables=frozenset({"OPENCODE", "OPENCODE_CLIENT", "OPENCODE_PID"}),
    starters=frozenset({"opencode"}),
    headless=re.compile(r"run"),
    keeps_call_ids=True,
    off_options=frozenset({"--pure"}),
    off_variables=frozenset(
        {"OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_PURE", "OPENCODE_TEST_MANAGED_CONFIG_DIR", "XDG_CONFIG_HOME"}
    ),
    home_variable="OPENCODE_CONFIG_DIR",
    protected=(
        ProtectedFiles(kind=PLUGIN, pattern=re.compile(r".*/\.?opencode/plugins?(?:/.*)?")),
        ProtectedFiles(kind=SETTING, pattern=re.compile(r".*/opencode\.jsonc?|.*/opencode/(?:config|tui)\.jsonc?")),
    ),
    protected_in_home=(
        ProtectedFiles(kind=PLUGIN, pattern=re.compile(r"/+plugins?(?:/.*)?")),
        ProtectedFiles(kind=SETTING, pattern=re.compile(r"/+(?:opencode|config|tui)\.jsonc?")),
    ),
    shell_texts=ShellTexts(files=re.compile(r".*/\.?opencode/commands?/.+\.md"), lines=re.compile(r"!`[^`\n]+`")),
    settings_files=(
        ".config/opencode/plugins/hooktray.js",
        ".opencode/plugin/own.ts",
        ".config/opencode/opencode.json",
    ),
    path_words=("opencode",),
    no_hook_files=NO_HOOK_FILES,
    forms=FormFormat(read=_read_form, fill=_fill_form),
    connector=part("tray.agents.opencode.connector:CONNECTOR"),
    connect_options=part("tray.agents.opencode.connector:CONNECTOR.connect_options"),
)
