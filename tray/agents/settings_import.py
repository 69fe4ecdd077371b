"""Imports hooks from an agent's settings file: moves them to a file of ours that is a source of hooks.

They stay as they were written, in <config>/imported/AGENT/, in a file that hooktray.yaml names for that agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tray.agents.connection import Extracted, FindProblem, Plan, RelayEntry, Site, source_change
from tray.edit.backups import Backups
from tray.edit.file_changes import File, FileChange, read_state, resolve_links
from tray.edit.json_edit import is_blank
from tray.errors import HooktrayError


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsImporter:
    """Plans the move of one agent's hooks.

    `extract` returns the text that stays, the text that moves, how many hooks move, and why each other one stays.
    """

    agent: str
    file_name: str  # of the imported hooks; as the agent's own file is called
    settings: Callable[[Site], Path]
    relay_entries: Callable[[Site], Sequence[RelayEntry]]
    extract: Callable[[Site, bytes, Path, Path, FindProblem], Extracted]
    restore: Callable[[bytes, Path, bytes, Path], bytes]
    empty: bytes  # a settings file with nothing in it

    def path(self, site: Site) -> Path:
        """The file with the imported hooks."""
        return site.paths.config.parent / "imported" / self.agent / self.file_name

    def has_imported(self, site: Site) -> bool:
        return self.path(site).exists()

    def import_hooks(self, site: Site, problem: FindProblem) -> Plan:
        """Move the hooks that Hooktray can run. The others stay in place, and the notes say why."""
        _check_scope(site)
        destination, display_path = self.path(site), self.settings(site)
        path = resolve_links(display_path)
        settings, earlier = read_state(path), read_state(destination)
        if earlier is not None:
            hint = f"`hooktray import-hooks {self.agent} --undo` puts them back first"
            raise HooktrayError(f"{destination}: holds hooks that were imported before", hint=hint)
        text = settings.text if isinstance(settings, File) else b""
        nothing: Extracted = b"", b"", 0, []
        extracted = nothing if is_blank(text) else self.extract(site, text, path, destination, problem)
        stays, goes, moved, reasons = extracted
        if not isinstance(settings, File) or not (moved or reasons):
            raise HooktrayError(f"{path}: no hook of yours is in it", hint="there is nothing to import")
        if not moved:
            hint = "; ".join(dict.fromkeys(reasons))
            raise HooktrayError(f"{path}: no hook in it can be imported", hint=hint)
        after = File(text=stays, mode=settings.mode)
        changes = [
            FileChange(path=destination, before=None, after=File(text=goes)),
            FileChange(path=path, before=settings, after=after, origin=settings, display_path=display_path),
            source_change(site, self._entry(site), present=True),
        ]
        return Plan(changes=tuple(filter(None, changes)), notes=self._notes(site, moved, reasons))

    def undo_import(self, site: Site, backups: Backups) -> Plan:
        """Put the hooks back: restore the old bytes if nobody edited the file since, else append each hook."""
        _check_scope(site)
        source = self.path(site)
        # The settings may be those of another folder.
        backup = next((each for each in backups.of_agent(self.agent) if each.path != source), None)
        display_path = backup.path if backup else self.settings(site)
        path, imported = resolve_links(display_path), read_state(source)
        settings, import_backup = read_state(path), backups.get(source)
        if not isinstance(imported, File):
            hint = f"`hooktray import-hooks {self.agent}` comes first"
            raise HooktrayError(f"{source}: there is nothing to put back", hint=hint)
        if backup and backup.after == settings and import_backup and import_backup.after == imported:
            after = backup.before
        else:
            has_text = isinstance(settings, File) and not is_blank(settings.text)
            current = settings if isinstance(settings, File) and has_text else File(text=self.empty)
            after = replace(current, text=self.restore(current.text, path, imported.text, source))
        changes = [
            FileChange(path=path, before=settings, after=after, display_path=display_path),
            FileChange(path=source, before=imported, after=None),
            source_change(site, self._entry(site), present=False),
        ]
        return Plan(changes=tuple(filter(None, changes)))

    def _notes(self, site: Site, moved: int, reasons: Sequence[str]) -> tuple[str, ...]:
        notes = [f"{number} of your hooks stay: {reason}." for reason, number in Counter(reasons).items()]
        hooks = "hook" if moved == 1 else "hooks"
        notes.append(
            f"{moved} {hooks} moved; none runs until you have approved it in the tray's menu. Each then runs once on "
            f"a test event; `hooktray import-hooks {self.agent} --undo` puts all of them back."
        )
        if not self.relay_entries(site):
            notes.append(f"Until `hooktray connect {self.agent}` no event reaches them.")
        return tuple(notes)

    def _entry(self, site: Site) -> Mapping[str, Any]:
        return {self.agent: str(self.path(site)), "agent": self.agent}


def _check_scope(site: Site) -> None:
    if site.scope != "user":
        raise HooktrayError("a project's hooks stay with their project", hint="leave out --scope")
