"""Qwen Code: Claude-shaped hooks in ~/.qwen/settings.json, and tools with names of its own."""

from __future__ import annotations

import re

from tray.agents import wire
from tray.agents.agent import HookRules, Marks, NativeTool, Payload, Placeholders, ShellTexts, part, protected
from tray.agents.claude_shape import ADDS_EXTENSIONS, CAPITALISED, claude_shaped
from tray.agents.qwen_code.protocol import NAME, PROTOCOL, SETTINGS, SHAPE

SETTING = f"a setting of {NAME}"
# By Hooktray's name; `others` are names that earlier versions had.
TOOLS = {
    "AskUserQuestion": NativeTool("ask_user_question"),
    "Bash": NativeTool("run_shell_command"),
    "Edit": NativeTool("edit", others=("replace",)),
    "ExitPlanMode": NativeTool("exit_plan_mode"),
    "Glob": NativeTool("glob"),
    "Grep": NativeTool("grep_search", others=("search_file_content",)),
    "LS": NativeTool("list_directory"),
    "NotebookEdit": NativeTool("notebook_edit"),
    "Read": NativeTool("read_file"),
    "Skill": NativeTool("skill"),
    "Task": NativeTool("agent", others=("task",)),
    "TaskStop": NativeTool("task_stop"),
    "TodoWrite": NativeTool("todo_write"),
    "WebFetch": NativeTool("web_fetch"),
    "WebSearch": NativeTool("web_search"),
    "Write": NativeTool("write_file"),
}
# What its matchers may say besides a tool's own name and Claude Code's.
MATCHER_NAMES = {
    "agent": ("AgentTool", "TaskTool", "task"),
    "edit": ("EditTool", "replace"),
    "glob": ("FindFiles", "GlobTool"),
    "grep_search": ("GrepTool", "SearchFiles", "search_file_content"),
    "list_directory": ("ListFiles", "ListFilesTool", "ReadFolder"),
    "read_file": ("ReadFile", "ReadFileTool"),
    "run_shell_command": ("Shell", "ShellTool"),
    "todo_write": ("TodoList", "TodoWriteTool"),
    "web_fetch": ("WebFetchTool",),
    "web_search": ("WebSearchTool",),
    "write_file": ("WriteFile", "WriteFileTool"),
}


def _is_sender(payload: Payload) -> bool:
    """Claude Code's shape with a timestamp, and a transcript ….qwen/projects/…/chats/<session>.jsonl."""
    if not (wire.text(payload, "timestamp") and wire.text(payload, "hook_event_name")):
        return False
    path = wire.path_parts(payload, "transcript_path")
    in_chats = path[-2:] == ["chats", f"{wire.text(payload, 'session_id')}.jsonl"]
    return in_chats or "########" in wire.text(payload, "prompt_id")


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
        variables=("QWEN_CODE_SESSION_ID", "QWEN_PROJECT_DIR"),
        event=wire.hook_event_name,
    ),
    rules=HookRules(
        deduplicated=True,
        exact_names=False,
        whole_aliases=True,
        text_counts=True,
        refusal_cap_variable="QWEN_CODE_STOP_HOOK_BLOCK_CAP",
        placeholders=Placeholders(project="QWEN_PROJECT_DIR"),
        folder_variables=frozenset(SHAPE.project_variables),
    ),
    programs=frozenset({"qwen"}),
    variables=frozenset({"QWEN_CODE", "QWEN_CODE_SESSION_ID", "QWEN_PROJECT_DIR"}),
    without_hooks=re.compile("disableAllHooks"),
    protected=(
        protected("an extension", r".*/\.qwen/extensions(?:/.*)?"),
        protected(SETTING, r".*/\.qwen(?:/\.env|/trustedfolders\.json)?"),
        protected(SETTING, r".*/qwen-?code/(?:settings|system-defaults)\.json"),
    ),
    off_options=frozenset({"--bare", "--safe-mode"}),
    off_variables=frozenset(
        {"QWEN_CODE_SAFE_MODE", "QWEN_CODE_SYSTEM_DEFAULTS_PATH", "QWEN_CODE_SYSTEM_SETTINGS_PATH"}
    ),
    adds_plugins=ADDS_EXTENSIONS,
    shell_texts=ShellTexts(files=re.compile(r".*/\.qwen/commands/.+"), lines=re.compile(r"!\{")),
    headless=re.compile(r"-p|--prompt(=.*)?"),
    keeps_call_ids=True,
    matcher_names=MATCHER_NAMES,
    settings_files=(".qwen/settings.json", ".qwen/extensions/guard/qwen-extension.json"),
    path_words=("qwen", "settings"),
    reader=part("tray.agents.qwen_code.source:READER"),
)
