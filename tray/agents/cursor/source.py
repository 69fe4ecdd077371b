"""Reads Cursor's hooks.

{"version": 1, "hooks": {"beforeShellExecution": [
    {"command": "./hooks/guard.sh", "matcher": "curl|wget", "timeout": 10, "failClosed": true}]}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import regex

from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.settings_hooks import ANY_TOOL, ShapedReader
from tray.agents.claude_shape.shape import ClaudeShape, PayloadKeys
from tray.agents.cursor.events import EVENTS, ID, MCP, NAME, SHELL, TIMEOUT, UNCONNECTED_EVENTS
from tray.model.hook import Failure
from tray.reading.entries import KeyPath, SourceReader

SHAPE = ClaudeShape(agent=ID, events=EVENTS, keys=PayloadKeys(session="conversation_id"))
FILE = SettingsFile(
    folder=".cursor",
    name="hooks.json",
    is_flat=True,
    head={"version": 1},
    timeout=TIMEOUT,
    handler_types=("command", "prompt"),
    unconnected_events=UNCONNECTED_EVENTS,
    restart_hint=(
        "Cursor takes it up when the file is saved. If Claude Code is connected as well, switch off "
        "*Third-party skills* in Cursor: else it also runs Hooktray's entry in there, where it cannot ask you."
    ),
)
# What the tool of an event is called, and whether the event's own matcher looks at the command instead.
TOOLS = {
    "afterFileEdit": "^Write$",
    "afterMCPExecution": f"^(?:{MCP}|mcp__)",
    "afterShellExecution": f"^{SHELL}$",
    "beforeMCPExecution": f"^(?:{MCP}|mcp__)",
    "beforeReadFile": "^Read$",
    "beforeShellExecution": f"^{SHELL}$",
    "beforeTabFileRead": "^Read$",
}
BY_COMMAND = frozenset({"afterShellExecution", "beforeShellExecution"})


class CursorReader(ShapedReader):
    """A HookReader. What each event's matcher looks at differs."""

    usual_type = "command"
    checks_all_matchers = True
    has_status = False
    entry_hint = handler_hint = 'write [{"command": "./guard.sh"}]'

    def patterns(self, event: str, matcher: str) -> tuple[str, str]:
        matcher = "" if matcher in ANY_TOOL else matcher
        if event in BY_COMMAND:
            return TOOLS[event], matcher
        if event in TOOLS and not matcher:
            return TOOLS[event], ""
        return super().patterns(event, matcher)

    def options(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> dict[str, Any]:
        return {"failure": Failure.BLOCK if reader.flag(at, fields, "failClosed") else Failure.ALLOW}


def sees_commands(matcher: str) -> bool:
    """Whether a matcher of preToolUse may mean a command or an MCP tool."""
    try:
        return matcher in ANY_TOOL or any(regex.search(matcher, name, timeout=0.05) for name in (SHELL, f"{MCP}x"))
    except (TimeoutError, regex.error):
        return True


READER = CursorReader(SHAPE, FILE, NAME)
