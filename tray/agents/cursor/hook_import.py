"""Imports Cursor's hooks, entry by entry. Those that our entries cannot replace stay."""

from __future__ import annotations

from collections.abc import Sequence

from tray.agents.claude_shape.hook_import import GroupImport
from tray.agents.cursor.connector import CONNECTOR
from tray.agents.cursor.source import READER, sees_commands
from tray.model.hook import Hook

WHY = (
    "Hooktray hears of commands and MCP tools by beforeShellExecution and beforeMCPExecution: declare them there, or "
    'give them a matcher such as "Write"'
)


class CursorImport(GroupImport, frozen=True):
    """A hook of preToolUse that means commands too would not be asked about them any more."""

    def own_reason(self, event: str, hooks: Sequence[Hook]) -> str:
        is_wide = event == "preToolUse" and any(sees_commands(hook.match.tool) for hook in hooks)
        return WHY if is_wide else ""


IMPORTER = CursorImport.of(CONNECTOR, READER)
