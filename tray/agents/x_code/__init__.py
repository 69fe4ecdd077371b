"""X-Code CLI: plugins whose hooks run one after another; its only files are those of its plugins."""

from __future__ import annotations

import re

from tray.agents.agent import Agent, HookRules, Marks, NativeTool, Payload, Placeholders, ProtectedFiles, part
from tray.agents.x_code import protocol

PLUGIN = "a plugin of X-Code"
# Its documentation has `path`, its source `filePath`.
FILE = {"file_path": ("filePath", "path")}
EDIT = {"old_string": ("oldString",), "new_string": ("newString",), "replace_all": ("replaceAll",)}
GREP = {
    "output_mode": ("outputMode",),
    "head_limit": ("headLimit",),
    "-A": ("contextAfter",),
    "-B": ("contextBefore",),
    "-C": ("context",),
    "-i": ("caseInsensitive",),
}
TOOLS = {
    "AskUserQuestion": NativeTool("askUser"),
    "Bash": NativeTool("shell"),
    "Edit": NativeTool("edit", {**FILE, **EDIT}),
    "EnterPlanMode": NativeTool("enterPlanMode"),
    "ExitPlanMode": NativeTool("exitPlanMode"),
    "Glob": NativeTool("glob", {"path": ("cwd",)}),
    "Grep": NativeTool("grep", GREP),
    "LS": NativeTool("listDir", {"path": ("dirPath",)}),
    "Read": NativeTool("readFile", FILE),
    "Skill": NativeTool("activateSkill", {"skill": ("name",)}),
    "Task": NativeTool("task"),
    "TodoWrite": NativeTool("todoWrite"),
    "ToolSearch": NativeTool("toolSearch"),
    "WebFetch": NativeTool("webFetch"),
    "WebSearch": NativeTool("webSearch"),
    "Write": NativeTool("writeFile", FILE),
}


def _is_alike(payload: Payload) -> bool:
    return isinstance(payload.get("event"), str) and isinstance(payload.get("session"), dict)


AGENT = Agent(
    id=protocol.AGENT,
    name="X-Code CLI",
    events=protocol.EVENTS,
    protocol=protocol,
    answers=protocol.ANSWERS,
    tools=TOOLS,
    marks=Marks(is_alike=_is_alike, event_names=re.compile(r"[A-Z]\w*")),
    rules=HookRules(
        sequential=True,
        exact_names=False,
        placeholders=Placeholders(
            plugin="pluginDir", storage="pluginDataDir", cwd="cwd", home="homedir", separator="sep"
        ),
        plugin_input=protocol.with_plugin,
    ),
    programs=frozenset({"x-code", "xc", "xcode-cli"}),
    variables=frozenset({"X_CODE_PLUGIN_ROOT"}),
    off_options=frozenset({"--no-hooks", "--no-plugins"}),
    starters=frozenset({"npx", "x-code", "xc", "xcode-cli"}),
    home_variable="X_CODE_HOME",
    protected=(
        ProtectedFiles(
            kind=PLUGIN,
            pattern=re.compile(r".*/\.x-code/plugins(?:/.*)?/(?:hooks(?:/.*)?|hooks\.json|plugin\.json)"),
        ),
        ProtectedFiles(kind=PLUGIN, pattern=re.compile(r".*/\.x-code(?:/plugins(?:\.json)?)?")),
    ),
    protected_in_home=(ProtectedFiles(kind=PLUGIN, pattern=re.compile(r"/plugins(/.*)?/(hooks|plugin)\.json")),),
    settings_files=(".x-code/plugins/hooks.json", ".x-code/plugins/plugin.json"),
    path_words=(".x-code", "hook", "plugins", "settings"),
    runs_own=part("tray.agents.x_code.connector:runs_own"),
    connector=part("tray.agents.x_code.connector:CONNECTOR"),
    reader=part("tray.agents.x_code.source"),
    importer=part("tray.agents.x_code.hook_import"),
)
