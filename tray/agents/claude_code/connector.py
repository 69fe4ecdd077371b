"""Connects Claude Code, and imports its hooks, in the user's settings, the project's or the project's local ones.

Claude Code answers `/hooks` with a menu of its own, so the user's commands get `/hooktray`, which the tray answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from tray.agents.claude_code.protocol import NAME, SETTINGS, SHAPE
from tray.agents.claude_code.settings_hooks import READER
from tray.agents.claude_shape.connector import ShapedConnector, read_object
from tray.agents.claude_shape.hook_import import GroupImport
from tray.agents.connection import Plan, Site
from tray.agents.native_runs import declared_in, in_project
from tray.agents.settings_connector import OwnEntry
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.errors import HooktrayError
from tray.model.hook import Hook

COMMAND = b"""\
---
description: Hooks, decisions and the switch of Hooktray, answered by its tray
argument-hint: list, doctor, on, off, pause 30m, help
disable-model-invocation: true
---
<!-- Written by `hooktray connect`; `hooktray disconnect` takes it away. -->
Hooktray did not answer this command. Reply with one line only: Hooktray does not run; `hooktray run` starts it.
"""
COMMAND_FILE = Path("commands", "hooktray.md")
SCOPES = {"user": "settings.json", "project": "settings.json", "local": "settings.local.json"}
PROJECT_FILES = (".claude/settings.json", ".claude/settings.local.json")
INSTALLED = "plugins/installed_plugins.json"


class ScopedConnector(ShapedConnector, frozen=True):
    """A connector with scopes and trusted folders."""

    def connect(self, site: Site) -> Plan:
        plan, path = super().connect(site), resolve_links(self._command_path(site))
        if not _is_users(site):
            return plan
        current, after = read_state(path), File(text=COMMAND)
        if current is not None and not _is_ours(site, path, current):
            note = f"{path} is yours and stays, so `/hooktray` is not answered."
            return replace(plan, notes=(*plan.notes, note))
        if current == after:
            return plan
        change = FileChange(
            path=path, before=current, after=after, origin=None, display_path=self._command_path(site)
        )
        return replace(plan, changes=(*plan.changes, change))

    def disconnect(self, site: Site) -> Plan:
        plan, path = super().disconnect(site), resolve_links(self._command_path(site))
        current = read_state(path) if _is_users(site) else None
        if current is None or not _is_ours(site, path, current):
            return plan
        return replace(plan, changes=(*plan.changes, FileChange(path=path, before=current, after=None)))

    def _command_path(self, site: Site) -> Path:
        return self.folder(site) / COMMAND_FILE

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        return iter(()) if path.name == COMMAND_FILE.name else super().own_entries(text, path)

    def settings_path(self, site: Site) -> Path:
        scope = site.scope or "user"
        if scope not in SCOPES:
            raise HooktrayError(f"unknown scope `{scope}`", hint=f"write one of: {', '.join(SCOPES)}")
        folder = self.folder(site) if scope == "user" else site.cwd / self.file.folder
        return folder / SCOPES[scope]

    def settings_paths(self, site: Site) -> tuple[Path, ...]:
        """The file of this scope; without a scope, the user's file and every other file with our entries."""
        own = self.settings_path(site)
        return (own,) if site.scope else (own, *self.other_paths(site))

    def connect_options(self, site: Site, files: Sequence[str]) -> str:
        """The scope of these files, unless they are the user's."""
        if not files or str(self.settings_path(replace(site, scope="user"))) in files:
            return ""
        path = Path(files[0])
        scope = "local" if path.name == SCOPES["local"] else "project"
        return f" --scope {scope} in {path.parents[1]}"

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return tuple(self.settings_path(replace(site, scope=scope)) for scope in SCOPES)

    def trust(self, site: Site) -> str:
        """Whether the agent runs our entries, as far as its files say; else what prevents it.

        In a terminal session, no hook runs until the user trusts the folder. `claude -p` does not ask for trust.
        """
        if problem := self.comment_problem(self.settings_path(site)):
            return f"off: {problem}"
        for scope in SCOPES:
            path = self.settings_path(replace(site, scope=scope))
            if off := self.switch_reason(path):
                return off
        projects = read_object(site.folder(self.file.variable) / ".claude.json").get("projects")
        every = projects if isinstance(projects, dict) else {}
        known = {folder: project for folder, project in every.items() if isinstance(project, dict)}
        folders = map(str, (site.cwd, *site.cwd.parents))
        if any(known.get(folder, {}).get("hasTrustDialogAccepted") is True for folder in folders):
            return "trusted here"
        # In the home folder, the menu shows the state for all folders.
        if str(site.cwd) in known and site.cwd != site.home:
            return f"asks: start `claude` in {site.cwd} and say that you trust it: until then no hook runs"
        return ""


class WatchedFilesImport(GroupImport, frozen=True):
    """Leaves FileChanged hooks with a matcher in place, because Claude Code watches the files that it names."""

    def own_reason(self, event: str, hooks: Sequence[Hook]) -> str:
        is_watching = event == "FileChanged" and any(hook.match.tool for hook in hooks)
        return "from their matcher Claude Code knows which files to watch" if is_watching else ""


def _is_users(site: Site) -> bool:
    """Whether the user's own settings are meant, and not a project's."""
    return site.scope in ("", "user")


def _is_ours(site: Site, path: Path, current: FileState) -> bool:
    """Whether the command was not edited since we wrote it."""
    return current == File(text=COMMAND) or site.backups.as_written(path, current) is not None


CONNECTOR = ScopedConnector(SHAPE, SETTINGS, NAME)
IMPORTER = WatchedFilesImport.of(CONNECTOR, READER)


def runs_own(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True if a connected settings file, a skill or subagent beside it, or a plugin that is on declares the hook."""
    path = declared_in(hook)
    if path in connected or in_project(hook, connected, PROJECT_FILES):
        return True
    if hook.match.skill or hook.match.subagent:
        return any(path.is_relative_to(file.parent) for file in connected)
    return any(path.is_relative_to(folder) for file in connected for folder in _plugins(file))


def _plugins(settings: Path) -> Iterator[Path]:
    """Yields the folders of the plugins that this settings file switches on.

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
