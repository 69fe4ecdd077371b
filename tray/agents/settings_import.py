"""Imports hooks from an agent's settings file: moves them to a file of ours that is a source of hooks.

They stay as they were written, in <config>/imported/AGENT/, in a file that hooktray.yaml names for that agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tray.agents.connection import Extracted, HookCheck, Plan, Site, source_change
from tray.agents.settings_connector import SettingsConnector
from tray.edit.file_changes import File, FileChange, MovedHooks, read_state, resolve_links
from tray.edit.json_edit import is_blank
from tray.errors import HooktrayError
from tray.model.event import EventSpec
from tray.model.hook import AsyncMode
from tray.reading.entries import SourceHooks

UNSUPPORTED = "Hooktray cannot run them there"


def stay_reason(
    found: SourceHooks,
    events: Mapping[str, EventSpec],
    check: HookCheck,
    *,
    unconnected: Mapping[str, str] = {},
    unsupported: str = UNSUPPORTED,
) -> str:
    """Returns why hooks stay; "" if Hooktray can run all of them as the agent does, without a warning."""
    for event in (hook.match.native for hook in found.hooks):
        if why := unconnected.get(event):
            return f"{event} {why}, so `connect` writes no line of ours there"
    if found.warnings or any(hook.inactive for hook in found.hooks):
        return unsupported
    for hook in found.hooks:
        event = hook.match.native
        limit, is_awaited = events[event].timeout, hook.async_mode is AsyncMode.NO and not events[event].observe_only
        if hook.timeout > limit and is_awaited:
            return f"a `timeout` is longer than the {limit:g} s that our line has on {event}"
    return next(filter(None, map(check.problem, found.hooks)), "")


class SettingsImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Plans the move of one agent's hooks. Each agent's importer has `extract` and `restore`."""

    agent: str
    file_name: str  # of the imported hooks; as the agent's own file is called
    connector: SettingsConnector
    empty: bytes = b"{}\n"  # a settings file with nothing in it

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        """The text that stays, the text that moves, how many hooks move, and why each other one stays."""
        raise NotImplementedError

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        """The settings with the imported hooks appended."""
        raise NotImplementedError

    def path(self, site: Site) -> Path:
        """The file with the imported hooks."""
        return site.paths.config.parent / "imported" / self.agent / self.file_name

    def has_imported(self, site: Site) -> bool:
        return self.path(site).exists()

    def import_hooks(self, site: Site, check: HookCheck) -> Plan:
        """Move the hooks that Hooktray can run. The others stay in place, and the notes say why."""
        check_scope(site)
        destination, display_path = self.path(site), self.connector.settings_path(site)
        path = resolve_links(display_path)
        settings, present = read_state(path), read_state(destination)
        source = source_change(site, self._entry(site), present=True)
        text = settings.text if isinstance(settings, File) else b""
        nothing: Extracted = b"", b"", 0, []
        extracted = nothing if is_blank(text) else self.extract(site, text, path, destination, check)
        stays, goes, moved, reasons = extracted
        # Without the source, an earlier import was not finished: the same hooks, or the rest of the work, go on here.
        if present is not None and source and not moved:
            return Plan(changes=(source,))
        if present is not None and not (source and isinstance(present, File) and present.text == goes):
            hint = f"`hooktray import-hooks {self.agent} --undo` puts them back first"
            raise HooktrayError(f"{destination}: holds hooks that were imported before", hint=hint)
        if not isinstance(settings, File) or not (moved or reasons):
            raise HooktrayError(f"{path}: no hook of yours is in it", hint="there is nothing to import")
        if not moved:
            hint = "; ".join(dict.fromkeys(reasons))
            raise HooktrayError(f"{path}: no hook in it can be imported", hint=hint)
        after = File(text=stays, mode=settings.mode)
        before = self._without_ours(site, path, settings)
        origin = self._imported(site, before, path, goes, check) or self._stripped(after, path)
        changes = [
            FileChange(path=destination, before=present, after=File(text=goes)),
            FileChange(
                path=path,
                before=settings,
                after=after,
                origin=origin,
                moved=MovedHooks(before=before, text=goes, path=destination),
                display_path=display_path,
            ),
            source,
        ]
        return Plan(changes=tuple(filter(None, changes)), notes=self._notes(site, moved, reasons))

    def undo_import(self, site: Site) -> Plan:
        """Put the hooks back: restore the old bytes if the file was not edited since, else append each hook."""
        check_scope(site)
        source = self.path(site)
        imported = read_state(source)
        if not isinstance(imported, File):
            hint = f"`hooktray import-hooks {self.agent}` comes first"
            raise HooktrayError(f"{source}: there is nothing to put back", hint=hint)
        # The settings may be those of another folder.
        known = site.backups.of_agent(self.agent)
        moved_from = (one.path for one in known if one.moved and one.moved.text == imported.text)
        display_path = next(moved_from, self.connector.settings_path(site))
        path = resolve_links(display_path)
        changes = [
            self._restored(site, path, display_path, imported.text),
            source_change(site, self._entry(site), present=False),
            FileChange(path=source, before=imported, after=None),
        ]
        return Plan(changes=tuple(filter(None, changes)))

    def _restored(self, site: Site, path: Path, display_path: Path, imported: bytes) -> FileChange | None:
        """The change that puts the hooks back; None when they are back."""
        current, backup = read_state(path), site.backups.get(path)
        moved = backup.moved if backup and backup.moved and backup.moved.text == imported else None
        if moved and current == moved.before:
            return None
        if moved and backup and backup.is_as_written(current) and isinstance(moved.before, File):
            origin = moved.before
            is_connected = isinstance(current, File) and self._stripped(current, path) != current
            after = replace(origin, text=self.connector.add(site, origin.text, path)) if is_connected else origin
        else:
            has_text = isinstance(current, File) and not is_blank(current.text)
            found = current if isinstance(current, File) and has_text else File(text=self.empty)
            after = replace(found, text=self.restore(found.text, path, imported, self.path(site)))
            origin = self._stripped(after, path)
        if after == current:
            return None
        return FileChange(
            path=path,
            before=current,
            after=after,
            origin=origin,
            keeps_ours=origin != after,
            display_path=display_path,
        )

    def _without_ours(self, site: Site, path: Path, settings: File) -> File:
        """The file as it was before `connect`: its own bytes if it was not edited since."""
        backup = site.backups.as_written(path, settings)
        before = (backup.moved or backup).before if backup else None
        return before if isinstance(before, File) else self._stripped(settings, path)

    def _imported(self, site: Site, before: File, path: Path, goes: bytes, check: HookCheck) -> File | None:
        """The file without the moved hooks and without ours; None where these were not the same ones."""
        stays, same, _, _ = self.extract(site, before.text, path, self.path(site), check)
        return replace(before, text=stays) if same == goes else None

    def _stripped(self, state: File, path: Path) -> File:
        return state if is_blank(state.text) else replace(state, text=self.connector.strip(state.text, path))

    def _notes(self, site: Site, moved: int, reasons: Sequence[str]) -> tuple[str, ...]:
        notes = [f"{number} of your hooks stay: {reason}." for reason, number in Counter(reasons).items()]
        hooks = "hook moves" if moved == 1 else "hooks move"
        notes.append(
            f"{moved} {hooks}; none runs until you have approved it in the tray's menu. Each then runs once on "
            f"a test event; `hooktray import-hooks {self.agent} --undo` puts all of them back."
        )
        if not self.connector.relay_entries(site):
            notes.append(f"Until `hooktray connect {self.agent}` no event reaches them.")
        return tuple(notes)

    def _entry(self, site: Site) -> Mapping[str, Any]:
        return {self.agent: str(self.path(site)), "agent": self.agent}


def check_scope(site: Site) -> None:
    """Raises HooktrayError for the hooks of a project."""
    if site.scope not in ("", "user"):
        raise HooktrayError("a project's hooks stay with their project", hint="leave out --scope")
