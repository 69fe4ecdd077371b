"""GitHub Copilot CLI: hooks in files of their own, which VS Code runs as well."""

from __future__ import annotations

import re

from tray.agents import wire
from tray.agents.agent import ENVELOPE, Agent, HookRules, Marks, NativeTool, Payload, Placeholders, part, protected
from tray.agents.copilot_cli import hook_format, protocol
from tray.agents.copilot_cli.events import AGENT as ID
from tray.agents.copilot_cli.events import EVENTS, UNCONNECTED_EVENTS

HOOK = "a hook file of Copilot CLI"
SETTING = "a setting of Copilot CLI"
# The names in `others` are those of hooks under Claude Code's names of events, of further tools, and of VS Code's own
# tools, whose names for arguments come second.
FILE = {"file_path": ("path", "filePath")}
EDIT = {"old_string": ("old_str", "oldString"), "new_string": ("new_str", "newString")}
TOOLS = {
    "AskUserQuestion": NativeTool("ask_user"),
    "Bash": NativeTool("bash", others=("Bash", "powershell", "runInTerminal", "run_in_terminal", "shell")),
    "Edit": NativeTool(
        "edit",
        {**FILE, **EDIT},
        others=(
            *("Edit", "apply_patch", "editFiles", "insert_edit_into_file", "multi_replace_string_in_file"),
            *("replace_string_in_file", "str_replace_editor"),
        ),
    ),
    "Glob": NativeTool("glob", others=("Glob",)),
    "Grep": NativeTool("grep", others=("Grep",)),
    "NotebookEdit": NativeTool("edit_notebook_file", {"notebook_path": ("filePath",)}),
    "Read": NativeTool("view", FILE, others=("Read", "readFile", "read_file")),
    "Task": NativeTool("task", {"subagent_type": ("agent_type",)}, others=("Task",)),
    "TodoWrite": NativeTool("update_todo", others=("TodoWrite",)),
    "WebFetch": NativeTool("web_fetch", others=("WebFetch",)),
    "WebSearch": NativeTool("web_search", others=("WebSearch",)),
    "Write": NativeTool(
        "create", {**FILE, "content": ("file_text",)}, others=("Write", "createFile", "create_file", "write")
    ),
}


def _is_sender(payload: Payload) -> bool:
    """True for one of its three forms (see `protocol`). Other agents send no time in a payload of such a shape.

    Grok's payloads have a time and the names of all three forms, but also a workspace.
    """
    if "workspaceRoot" in payload:
        return False
    if isinstance(payload.get("timestamp"), int) and wire.text(payload, "sessionId"):
        return True
    if not wire.text(payload, "timestamp"):
        return False
    if wire.text(payload, protocol.LOCAL_KEY):
        return bool(wire.text(payload, "sessionId"))
    path = wire.path_parts(payload, "transcript_path")
    is_own = "transcript_path" not in payload or path[-1] == "events.jsonl"
    return is_own and bool(wire.text(payload, "hook_event_name"))


AGENT = Agent(
    id=ID,
    name="Copilot CLI",
    events=EVENTS,
    protocol=protocol,
    answers=hook_format.ANSWERS,
    tools=TOOLS,
    also_does={"apply_patch": ("Write",), "str_replace_editor": ("Write",)},
    marks=Marks(
        keys=("timestamp",),
        is_sender=_is_sender,
        yields=True,
        is_alike=_is_sender,
        event_names=re.compile(r"[A-Z]\w*|userPromptTransformed"),
        variables=("COPILOT_CLI",),
    ),
    rules=HookRules(
        sequential=True,
        older_tool_names=True,  # under Claude Code's names of events, matchers have its names of tools
        placeholders=Placeholders(project="COPILOT_PROJECT_DIR"),
    ),
    programs=frozenset({"copilot"}),
    variables=frozenset({"COPILOT_AGENT_SESSION_ID"}),
    headless=re.compile(r"-p|--prompt(=.*)?"),
    without_hooks=re.compile(r"disableAllHooks"),
    envelope=ENVELOPE | {"sessionId", "transcriptPath"},
    home_variable="COPILOT_HOME",
    protected=(
        protected(HOOK, r".*/\.copilot(?:/hooks(?:/.*)?)?|.*/\.github/hooks(?:/.*\.json)?"),
        protected(SETTING, r".*/\.copilot/(?:settings|config)\.json|.*/\.github/copilot/settings(?:\.local)?\.json"),
        protected(SETTING, r"(?:/etc/github-copilot|.*/github/copilot)/policy\.d(?:/.*)?"),
    ),
    protected_in_home=(
        protected(HOOK, r"/+hooks(?:/.*)?"),
        protected(SETTING, r"/+(?:settings|config)\.json"),
    ),
    guarded_members={"*/.github/hooks/*.json": re.compile("hook", re.IGNORECASE)},
    settings_files=(".copilot/hooks/guard.json", ".copilot/settings.json", ".github/hooks/guard.json"),
    path_words=("copilot", "hook", "settings"),
    unconnected_events=frozenset(UNCONNECTED_EVENTS),
    runs_own=part("tray.agents.native_runs:in_folder"),
    connector=part("tray.agents.copilot_cli.connector:CONNECTOR"),
    reader=part("tray.agents.copilot_cli.source:READER"),
    importer=part("tray.agents.copilot_cli.hook_import"),
    connect_options=part("tray.agents.copilot_cli.connector:CONNECTOR.connect_options"),
)
