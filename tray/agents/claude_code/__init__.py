"""Claude Code: hooks in settings files, plugins, skills and subagents. Its tool names are the canonical ones."""

from __future__ import annotations

import re

from tray.agents import forms, wire
from tray.agents.agent import (
    Agent,
    HookRules,
    Marks,
    NativeTool,
    Payload,
    Placeholders,
    ShellTexts,
    Variables,
    part,
    protected,
)
from tray.agents.claude_code.conditions import is_met
from tray.agents.claude_code.protocol import EVENTS, ID, NAME, PROTOCOL, SETTINGS
from tray.agents.claude_shape.shape import DEFAULT_CAN
from tray.model.decision import Rewrite, Target
from tray.model.event import Event, EventKind, FormFormat
from tray.model.form import Answers, Form

SETTING = "a hook setting of Claude Code"
PLUGIN = "a plugin of Claude Code, whose code can answer in place of hooks"
PLUGIN_FOLDER = "a place for plugins of Claude Code, whose code can answer in place of hooks"
# Below a skill's folder: with one of these the skill is a plugin, too.
MODS = r"/(?:(?:dev-mods|plugins)(?:/.*)?|skills/[^/]+/(?:\.claude-plugin(?:/.*)?|hooks(?:/.*)?|[^/]+\.[cm]?[jt]sx?))"
QUESTION_TOOL = "AskUserQuestion"


def _read_form(event: Event) -> Form | None:
    """Claude Code asks for permission to ask; with the answers in the tool's input it asks no more."""
    if event.kind is not EventKind.PERMISSION_REQUEST or event.tool is None or event.tool.name != QUESTION_TOOL:
        return None
    return forms.read(event.tool.input.get("questions"), multiple="multiSelect")


def _fill_form(event: Event, answers: Answers) -> Rewrite:
    """Several answers to one question are one text there."""
    asked = event.tool.input if event.tool else {}
    texts = {question: ", ".join(chosen) for question, chosen in answers.items()}
    return Rewrite(target=Target.INPUT, value={**asked, "answers": texts})


def _is_certain(payload: Payload, environment: Variables) -> bool:
    """The transcript is …/projects/<folder>/<session>.jsonl, or a variable of its hooks names the session."""
    session = wire.text(payload, "session_id")
    if not session:
        return False
    path = wire.path_parts(payload, "transcript_path")
    by_file = path[-1] == f"{session}.jsonl" and path[-3:-2] == ["projects"]
    return by_file or environment.get("CLAUDE_CODE_SESSION_ID") == session


AGENT = Agent(
    id=ID,
    name=NAME,
    events=EVENTS,
    default_can=DEFAULT_CAN,
    protocol=PROTOCOL,
    answers=PROTOCOL.shape.answers,
    # `Task` stays an alias of `Agent`.
    tools={"NotebookEdit": NativeTool("NotebookEdit"), "Task": NativeTool("Agent")},
    older_tools={"KillBash": "TaskStop", "KillShell": "TaskStop"},
    marks=Marks(
        is_alike=wire.has_texts("hook_event_name", "session_id", "transcript_path", "cwd", capital="hook_event_name"),
        is_certain=_is_certain,
        event_names=re.compile(r"[A-Z]\w*"),
    ),
    rules=HookRules(
        deduplicated=True,
        plugin_files=("hooks.json", "plugin.json"),
        word_lists=frozenset({"FileChanged", "StopFailure"}),
        older_tool_names=True,
        text_counts=True,
        json_over_http=True,
        context_at_stop=True,
        refusal_stops=True,
        refusal_cap_variable="CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
        placeholders=Placeholders(
            plugin="CLAUDE_PLUGIN_ROOT", storage="CLAUDE_PLUGIN_DATA", project="CLAUDE_PROJECT_DIR"
        ),
        folder_variables=frozenset({"CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR"}),
        is_condition_met=is_met,
    ),
    programs=frozenset({"claude"}),
    presence_variable="CLAUDE_CLIENT_PRESENCE_FILE",
    variables=frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR"}),
    starters=frozenset({"claude", "npx"}),
    headless=re.compile(r"-p|--print"),
    headless_marks={"CLAUDE_CODE_ENTRYPOINT": re.compile(r"sdk-.+|.+-github-action")},
    off_options=frozenset({"--bare", "--restricted", "--safe-mode", "--setting-sources", "--settings"}),
    off_variables=frozenset({"CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"}),
    without_hooks=re.compile("disableAllHooks"),
    adds_plugins=re.compile(
        r"^--plugin-(?:dir|url)\b|^plugins?\n(?:marketplace\n)?(?:add|enable|i|install|update)$"
        r"|^/plugins? (?:marketplace )?(?:add|enable|i|install)\b",  # as a prompt
        re.MULTILINE,
    ),
    home_variable=SETTINGS.variable,
    protected=(
        protected(SETTING, r".*/\.claude(?:/settings(?:\.local)?\.json|/hooks(?:/.*)?)?"),
        protected("a plugin's hooks", r".*/\.claude/plugins(?:/.*)?/hooks(?:/.*|\.json)"),
        protected(PLUGIN, rf".*/\.claude{MODS}"),
        protected(PLUGIN_FOLDER, r".*/\.claude/skills(?:/[^/]+)?", asks=True),
        protected(PLUGIN_FOLDER, r".*/\.claude-plugin(?:/.*)?", asks=True),
        protected(SETTING, r".*/managed-settings(?:\.d/.*|\.json)"),
    ),
    protected_in_home=(
        protected(SETTING, r"(?:/settings(?:\.local)?\.json|/hooks(?:/.*)?)?"),
        protected("a plugin's hooks", r"/plugins(?:/.*)?/hooks(?:/.*|\.json)"),
        protected(PLUGIN, f"/*{MODS}"),
    ),
    shell_texts=ShellTexts(
        files=re.compile(r"(?=.*\.md\Z).*/\.claude/(?:.*/)?(?:agents|commands|skills)/.+"),
        lines=re.compile(r"!`[^`\n]+`|^```!|^hooks\s*:", re.MULTILINE),
    ),
    settings_files=(
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/hooks/guard",
        ".claude/plugins/hooks.json",
    ),
    path_words=(".claude", "hook", "settings"),
    forms=FormFormat(read=_read_form, fill=_fill_form),
    runs_own=part("tray.agents.claude_code.connector:runs_own"),
    main_agent_key="agent_type",  # `--agent` sets it; the payload then has no agent_id
    keeps_call_ids=True,
    unconnected_events=frozenset(SETTINGS.unconnected_events),
    connector=part("tray.agents.claude_code.connector:CONNECTOR"),
    reader=part("tray.agents.claude_code.source"),
    importer=part("tray.agents.claude_code.connector:IMPORTER"),
    connect_options=part("tray.agents.claude_code.connector:CONNECTOR.connect_options"),
)
