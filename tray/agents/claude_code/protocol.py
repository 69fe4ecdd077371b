"""The values of Claude Code's hook format, https://code.claude.com/docs/en/hooks. Other agents took it over."""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents import outputs
from tray.agents.claude_code.events import AGENT, EVENTS, MESSAGES, SEQUENCE, TITLES, TOPICS, UNCONNECTED_EVENTS
from tray.agents.claude_code.samples import COMMON, SAMPLES
from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import PERMISSIONS, TOP, ClaudeShape, RefusalStyle, Types
from tray.model.decision import Verdict
from tray.model.event import EventKind

NAME = "Claude Code"
WATCH: Types = {"watchPaths": (list,)}
CONTEXT: Types = {"additionalContext": (str,)}
TITLE: Types = {"sessionTitle": (str,)}
SUPPRESS: Types = {"suppressOriginalPrompt": (bool,)}
TRIGGERS = ("auto", "manual")
# The fields of hookSpecificOutput besides those that follow from what an event can carry.
FIELDS: Mapping[str, Types] = {
    "CwdChanged": WATCH,
    "FileChanged": WATCH,
    "Notification": CONTEXT,
    "PostToolUse": {"classifierContext": (str,)},
    "SessionStart": {**WATCH, "initialUserMessage": (str,), "reloadSkills": (bool,), **TITLE},
    "UserPromptExpansion": SUPPRESS,
    "UserPromptSubmit": {**TITLE, **SUPPRESS},
}
SHAPE = ClaudeShape(
    agent=AGENT,
    events=EVENTS,
    topics=TOPICS,
    titles=TITLES,
    messages=MESSAGES,
    refusals={"TaskCompleted": RefusalStyle.EXIT_2, "TeammateIdle": RefusalStyle.EXIT_2},
    top_extras=frozenset({SEQUENCE}),
    permissions={**PERMISSIONS, "defer": Verdict.ASK},  # pauses the call until a program decides
    top={**TOP, SEQUENCE: (str,)},
    fields=FIELDS,
    text_context=frozenset({"SessionStart", "UserPromptExpansion", "UserPromptSubmit"}),
    # `continue: false` has no effect there. On a PermissionRequest, only `decision` has one, and exit 2 has none.
    stop_ignored=frozenset({"SessionStart", "TaskCreated"}),
    topic_words={
        EventKind.COMPACT_AFTER: TRIGGERS,
        EventKind.COMPACT_BEFORE: TRIGGERS,
        EventKind.SESSION_END: ("other", "clear", "resume", "logout", "prompt_input_exit"),
        EventKind.SESSION_START: ("startup", "resume", "clear", "compact", "fork"),
    },
    older_output_keys=("tool_output", "tool_result"),
    output_from_text=outputs.from_text,
    project_variables=("CLAUDE_PROJECT_DIR",),
    session_variables=("CLAUDE_CODE_SESSION_ID",),
    samples=SAMPLES,
    sample_common=COMMON,
)
PROTOCOL = ShapedProtocol(SHAPE)
SETTINGS = SettingsFile(
    folder=".claude",
    variable="CLAUDE_CONFIG_DIR",
    off_switch="disableAllHooks",
    timeouts={"MessageDisplay": 10.0, "UserPromptSubmit": 30.0},
    milliseconds_from=1000,  # seconds were milliseconds in the first versions
    handler_types=("command", "agent", "http", "mcp_tool", "prompt"),
    takes_args=True,
    unconnected_events=UNCONNECTED_EVENTS,
    restart_hint=(
        "Running sessions take it up. In a folder that is new to Claude Code it first asks whether you trust that."
    ),
)
