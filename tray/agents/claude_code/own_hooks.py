"""Which hooks Claude Code runs by itself: of its settings files, of skills and subagents, and of enabled plugins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tray.agents.claude_shape.connector import read_object
from tray.agents.connection import Site
from tray.agents.native_runs import declared_in, in_project
from tray.edit.file_changes import resolve_links
from tray.model.hook import Hook

PROJECT_FILES = (".claude/settings.json", ".claude/settings.local.json")
INSTALLED = "plugins/installed_plugins.json"


def runs_own(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    path = declared_in(hook)
    if path in connected or in_project(hook, connected, PROJECT_FILES):
        return True
    if hook.match.skill or hook.match.subagent:
        return any(path.is_relative_to(file.parent) for file in connected)
    return any(path.is_relative_to(folder) for file in connected for folder in _plugins(file))


def _plugins(settings: Path) -> Iterator[Path]:
    """The folders of the plugins that this settings file switches on.

    {"version": 2, "plugins": {"lint@market": [{"scope": "user", "installPath": "…/cache/market/lint/1.0.0"}]}}
    """
    enabled = read_object(settings).get("enabledPlugins")
    installed = read_object(settings.parent / INSTALLED).get("plugins")
    on = {name for name, value in enabled.items() if value is True} if isinstance(enabled, dict) else set()
    for name, records in installed.items() if isinstance(installed, dict) else ():
        for record in records if isinstance(records, list) and name in on else ():
            place = record.get("installPath") if isinstance(record, dict) else None
            if isinstance(place, str) and place:
                yield resolve_links(Path(place))
