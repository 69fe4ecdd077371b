"""Claude Code's settings files."""

from __future__ import annotations

from tray.agents.claude_code.events import UNCONNECTED_EVENTS
from tray.agents.claude_shape.settings import SettingsFile

NAME = "Claude Code"
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
