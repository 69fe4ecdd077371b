"""Connects an agent by entries in its user's settings files, and changes no other byte of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tray.agents.connection import PROBE_EVENT, EntryContent, Plan, RelayEntry, Site, other_files, read_or_empty
from tray.agents.relay_command import RelayCommand
from tray.edit.backups import Backup
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.json_edit import is_blank
from tray.edit.merge import merge
from tray.errors import HooktrayError


class OwnEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One of Hooktray's entries in a file: `value` is the whole entry, `handler` the part that the agent runs."""

    event: str
    value: Any
    command: RelayCommand
    argv: tuple[str, ...]
    handler: Mapping[str, Any]
    conditions: Mapping[str, Any] = {}


class EntryConnector(msgspec.Struct, frozen=True):
    """A Connector for all kinds of files. `agent` is its id; `desired` returns Hooktray's whole entry for each event.

    `own_entries` returns Hooktray's entries in a file. It raises HooktrayError if the agent cannot read the file.
    """

    @property
    def agent(self) -> str:
        raise NotImplementedError

    def settings_path(self, site: Site) -> Path:
        """Returns the file that gets Hooktray's entries."""
        raise NotImplementedError

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        raise NotImplementedError

    def desired(self, relay: tuple[str, ...]) -> Mapping[str, Any]:
        raise NotImplementedError

    def settings_paths(self, site: Site) -> tuple[Path, ...]:
        """Returns the settings file, and other files that have entries of Hooktray's."""
        return (self.settings_path(site),)

    def other_paths(self, site: Site) -> Iterator[Path]:
        """Yields the files in other folders that still have entries of Hooktray's."""
        for path in other_files(site, self.agent, self.settings_path(site)):
            if any(self.own_entries(read_or_empty(path), path)):
                yield path

    def notes(self, site: Site) -> tuple[str, ...]:
        """Returns what the user should know after `connect`."""
        return ()

    def connect(self, site: Site) -> Plan:
        changes = [self.connect_change(site, path) for path in self.settings_paths(site)]
        return Plan(changes=tuple(filter(None, changes)), notes=self.notes(site))

    def disconnect(self, site: Site) -> Plan:
        changes = [self.disconnect_change(site, path) for path in self.settings_paths(site)]
        return Plan(changes=tuple(filter(None, changes)))

    def connect_change(self, site: Site, path: Path) -> FileChange | None:
        """Returns the change that adds Hooktray's entries to a file; None if the file needs none."""
        raise NotImplementedError

    def disconnect_change(self, site: Site, path: Path) -> FileChange | None:
        """Returns the change that removes Hooktray's entries; None if there are none."""
        raise NotImplementedError

    def needed(self, site: Site, entries: Mapping[str, Any], present: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Returns the entries that `connect` writes: for needed events, and for those in `present`."""
        return {event: one for event, one in entries.items() if event in present or site.needs(self.agent, event)}

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        desired = self.desired(site.relay) if site.relay else {}
        return tuple(
            RelayEntry(
                event=one.event,
                argv=one.argv,
                path=str(path),
                state_folder=one.command.state_folder,
                required_files=one.command.required_files,
                up_to_date=desired.get(one.event) == one.value,
            )
            for path in self.settings_paths(site)
            for one in self.own_entries(read_or_empty(path), path)
        )

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        text = state.text if isinstance(state, File) else b""
        return tuple(
            EntryContent(event=one.event, handler=one.handler, conditions=one.conditions)
            for one in self.own_entries(text, path)
        )

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (self.settings_path(site),)

    def trust(self, site: Site) -> str:
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {"hook_event_name": PROBE_EVENT, "session_id": session, "cwd": cwd}


class SettingsConnector(EntryConnector, frozen=True):
    """Edits Hooktray's entries in the text of a settings file.

    `create` returns the text of a new file, `add` the text with our entries as they are today, and `strip` the text
    without any of them.
    """

    def create(self, site: Site, path: Path) -> bytes:
        raise NotImplementedError

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        raise NotImplementedError

    def strip(self, text: bytes, path: Path) -> bytes:
        raise NotImplementedError

    def is_installed(self, site: Site) -> bool:
        return self.settings_path(site).parent.is_dir()

    def connect_change(self, site: Site, path: Path) -> FileChange | None:
        """Raises HooktrayError if the settings cannot hold the relay's path."""
        try:
            return self._added(site, path)
        except UnicodeEncodeError as error:
            what = f"{path}: the path of the relay is not UTF-8, which settings of agents have to be"
            raise HooktrayError(what, hint="use a folder with another name: hooktray --home DIR connect") from error

    def _added(self, site: Site, path: Path) -> FileChange | None:
        """If only Hooktray's entries have changed, the file gets exactly the bytes of the last `connect`."""
        real = resolve_links(path)
        current = stripped = read_state(real)
        if isinstance(current, File) and not is_blank(current.text):
            text, mode = self.add(site, current.text, path), current.mode
            rest = self.strip(current.text, path)
            stripped = current if rest == current.text else File(text=rest, mode=mode)
            backup = site.backups.get(real)
            if text != current.text and backup and (written := self._as_written(site, path, backup, text)):
                after = replace(written, mode=mode)
                return FileChange(
                    path=real,
                    before=current,
                    after=after,
                    origin=backup.before,
                    moved=backup.moved,
                    display_path=path,
                )
        else:
            text, mode = self.create(site, path), current.mode if isinstance(current, File) else 0o600
        after = File(text=text, mode=mode)
        if after == current:
            return None
        backup = site.backups.as_written(real, current)
        origin, moved = (backup.before, backup.moved) if backup else (stripped, None)
        return FileChange(path=real, before=current, after=after, origin=origin, moved=moved, display_path=path)

    def _as_written(self, site: Site, path: Path, backup: Backup, text: bytes) -> File | None:
        """The file as we wrote it, if `text` differs from it in our entries only, and they are those of today."""
        written = backup.after
        if not isinstance(written, File) or self.add(site, written.text, path) != written.text:
            return None
        return written if self.strip(written.text, path) == self.strip(text, path) else None

    def disconnect_change(self, site: Site, path: Path) -> FileChange | None:
        """Restores the old bytes if nothing was edited since, else removes Hooktray's entries."""
        real = resolve_links(path)
        current = read_state(real)
        backup = site.backups.as_written(real, current)
        moved = backup.moved if backup else None
        if backup and backup.agent == self.agent:
            after: FileState = backup.before
        elif isinstance(current, File) and not is_blank(current.text):
            edited = site.backups.get(real)
            undone = None
            if edited and edited.agent == self.agent and not edited.moved:
                undone = self._undone(path, edited, current)
            after = File(text=self.strip(current.text, path) if undone is None else undone, mode=current.mode)
        else:
            return None
        if after == current:
            return None
        return FileChange(
            path=real,
            before=current,
            after=after,
            origin=after,
            moved=moved,
            keeps_ours=bool(moved),
            display_path=path,
        )

    def _undone(self, path: Path, backup: Backup, current: File) -> bytes | None:
        """Returns the file before `connect`, with later edits of the user; None if they overlap with Hooktray's."""
        if not isinstance(backup.before, File) or not isinstance(backup.after, File):
            return None
        text = merge(backup.after.text, backup.before.text, current.text)
        try:
            return text if text is not None and self.strip(text, path) == text else None
        except HooktrayError:  # the merged text is not a settings file
            return None
