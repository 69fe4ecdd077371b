"""Imports Claude Code's hooks, and undoes that."""

from __future__ import annotations

from collections.abc import Sequence

from tray.agents.claude_code.connector import CONNECTOR
from tray.agents.claude_code.settings_hooks import READER
from tray.agents.claude_shape.hook_import import GroupImport
from tray.model.hook import Hook


class WatchedFilesImport(GroupImport, frozen=True):
    """Leaves FileChanged hooks with a matcher in place, because Claude Code watches the files that it names."""

    def own_reason(self, event: str, hooks: Sequence[Hook]) -> str:
        is_watching = event == "FileChanged" and any(hook.match.tool for hook in hooks)
        return "from their matcher Claude Code knows which files to watch" if is_watching else ""


IMPORTER = WatchedFilesImport.of(CONNECTOR, READER)
