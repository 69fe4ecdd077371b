"""Gemini CLI: hooks in the groups of Claude Code in ~/.gemini/settings.json, with events and answers of its own."""

from __future__ import annotations

import re

from tray.agents import wire
from tray.agents.agent import HookRules, Marks, NativeTool, Payload, Placeholders, ShellTexts, part, protected
from tray.agents.claude_shape import ADDS_EXTENSIONS, CAPITALISED, claude_shaped
from tray.agents.gemini_cli.protocol import EVENTS, NAME, PROTOCOL, SETTINGS, SHAPE
from tray.model.event import Capability

SETTING = f"a setting of {NAME}"
# By Hooktray's name; `others` are tools that do the same, and names from earlier versions.
TOOLS = {
    "AskUserQuestion": NativeTool("ask_user"),
    "Bash": NativeTool("run_shell_command", {"run_in_background": ("is_background",)}),
    "Edit": NativeTool("replace"),
    "ExitPlanMode": NativeTool("exit_plan_mode"),
    "Glob": NativeTool("glob", {"path": ("dir_path",)}),
    "Grep": NativeTool("grep_search", {"path": ("dir_path",)}, others=("search_file_content",)),
    "LS": NativeTool("list_directory", {"path": ("dir_path",)}),
    "Read": NativeTool("read_file", others=("read_many_files",)),
    "Skill": NativeTool("activate_skill"),
    "Task": NativeTool("invoke_agent"),
    "TodoWrite": NativeTool("write_todos"),
    "WebFetch": NativeTool("web_fetch"),
    "WebSearch": NativeTool("google_web_search"),
    "Write": NativeTool("write_file"),
}
OWN_EVENTS = EVENTS.keys() - {"Notification", "SessionEnd", "SessionStart"} | {"BeforeToolSelection"}


def _is_sender(payload: Payload) -> bool:
    """A timestamp, and an event of its own or a transcript ….gemini/tmp/…/chats/session-….jsonl."""
    if not wire.text(payload, "timestamp"):
        return False
    path = wire.path_parts(payload, "transcript_path")
    is_own_event = wire.hook_event_name(payload, "") in OWN_EVENTS
    return is_own_event or (path[-2:-1] == ["chats"] and path[-1].startswith("session-"))


AGENT = claude_shaped(
    name=NAME,
    shape=SHAPE,
    file=SETTINGS,
    protocol=PROTOCOL,
    tools=TOOLS,
    marks=Marks(
        keys=("timestamp",),
        is_sender=_is_sender,
        yields=True,
        is_alike=_is_sender,
        event_names=CAPITALISED,
        variables=("GEMINI_SESSION_ID",),
        event=wire.hook_event_name,
    ),
    rules=HookRules(
        deduplicated=True,
        exact_names=False,
        text_counts=True,
        placeholders=Placeholders(project="GEMINI_PROJECT_DIR"),
        folder_variables=frozenset(SHAPE.project_variables),
    ),
    programs=frozenset({"gemini"}),
    variables=frozenset({"GEMINI_CLI"}),
    without_hooks=re.compile("hooksConfig"),
    protected=(
        protected("an extension", r".*/\.gemini/extensions(?:/.*)?"),
        protected(SETTING, r".*/\.gemini(?:/\.env|/trusted(?:_hooks|folders)\.json)?"),
        protected(SETTING, r".*/gemini-?cli/(?:settings|system-defaults)\.json"),
    ),
    off_options=frozenset({"--no-hooks"}),
    off_variables=frozenset(
        {"GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_TRUST_WORKSPACE"}
    ),
    adds_plugins=ADDS_EXTENSIONS,
    shell_texts=ShellTexts(files=re.compile(r".*/\.gemini/commands/.+"), lines=re.compile(r"!\{")),
    headless=re.compile(r"-p|--prompt(=.*)?"),
    home_variable="GEMINI_CLI_HOME",
    extra_can={"BeforeTool": Capability.ASK},
    settings_files=(".gemini/settings.json", ".gemini/extensions/guard/gemini-extension.json"),
    path_words=("gemini", "settings"),
    runs_own=part("tray.agents.gemini_cli.connector:runs_own"),
    connector=part("tray.agents.gemini_cli.connector:CONNECTOR"),
    reader=part("tray.agents.gemini_cli.source:READER"),
)
