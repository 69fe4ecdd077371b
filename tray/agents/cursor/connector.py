"""Connects Cursor: adds an entry for each event to ~/.cursor/hooks.json, which the editor and cursor-agent read.

{"version": 1, "hooks": {"stop": [{"type": "command", "command": "[ -x … ] && … || …", "timeout": 60}]}}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.claude_shape.connector import ShapedConnector
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape, PayloadKeys
from tray.agents.connection import PROBE_EVENT, Site
from tray.agents.cursor.events import EVENTS, ID, NAME, OTHER_TOOLS, TIMEOUT, UNCONNECTED_EVENTS
from tray.agents.cursor.protocol import neutral
from tray.edit.json_edit import JsonText

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


class CursorConnector(ShapedConnector, frozen=True):
    """Its entries answer by themselves where Hooktray is gone, and do not tell of a command or an MCP tool twice."""

    def command(self, words: tuple[str, ...]) -> dict[str, Any]:
        return {"command": relay_command.answering_line(words, neutral(words[-1], b"").stdout)}

    def desired(self, relay: tuple[str, ...]) -> dict[str, Any]:
        entries = super().desired(relay)
        entries["preToolUse"]["matcher"] = OTHER_TOOLS
        return entries

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """Cursor wants a version in the file; what it makes of the user's hooks without one is not known."""
        document = JsonText(text, str(path))
        if isinstance(document.value, dict) and "version" not in document.value:
            hint = 'add "version": 1 to it, as Cursor\'s documentation wants; nothing was written'
            raise document.error(document.root, 'has no "version"', hint)
        return super().add(site, text, path)

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        sender = {"generation_id": "probe", "cursor_version": "", "workspace_roots": [cwd]}
        return {"conversation_id": session, **sender, "hook_event_name": PROBE_EVENT}


CONNECTOR = CursorConnector(SHAPE, FILE, NAME)
