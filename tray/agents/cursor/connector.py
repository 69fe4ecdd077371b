"""Connects Cursor, and imports its hooks: an entry for each event in the file that editor and cursor-agent read.

~/.cursor/hooks.json: {"version": 1, "hooks": {"stop": [{"command": "[ -x … ] && … || …", "timeout": 60}]}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.claude_shape.connector import ShapedConnector
from tray.agents.claude_shape.hook_import import GroupImport
from tray.agents.connection import PROBE_EVENT, Site
from tray.agents.cursor.events import NAME, OTHER_TOOLS
from tray.agents.cursor.protocol import neutral
from tray.agents.cursor.source import FILE, READER, SHAPE, sees_commands
from tray.edit.json_edit import JsonText
from tray.model.hook import Hook

WHY = (
    "Hooktray hears of commands and MCP tools by beforeShellExecution and beforeMCPExecution: declare them there, or "
    'give them a matcher such as "Write"'
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


class CursorImport(GroupImport, frozen=True):
    """A hook of preToolUse that means commands too would not be asked about them any more."""

    def own_reason(self, event: str, hooks: Sequence[Hook]) -> str:
        is_wide = event == "preToolUse" and any(sees_commands(hook.match.tool) for hook in hooks)
        return WHY if is_wide else ""


CONNECTOR = CursorConnector(SHAPE, FILE, NAME)
IMPORTER = CursorImport.of(CONNECTOR, READER)
