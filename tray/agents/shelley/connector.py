"""Shelley: a small executable of ours for each hook name; what was there moves below us and is chained as a hook.

~/.config/shelley/hooks/chat-message is ours; the user's own is <config>/shelley-hooks/chat-message, a source of
hooktray.yaml that waits for approval like any other. `disconnect` puts it back.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents import relay_command
from tray.agents.connection import Plan, RelayEntry, Site, source_change
from tray.agents.executables import MODE, ExecutablesConnector
from tray.agents.shelley.protocol import AGENT, EVENTS
from tray.edit.file_changes import File, FileChange, FileState, Link, read_state
from tray.errors import HooktrayError

FIXED_EVENTS = tuple(name for name in EVENTS if "/" not in name)
COMMAND_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
ECHO_EVENT = "system-prompt"  # silence would end the conversation


def moved_folder(site: Site) -> Path:
    """Where the user's own executables are while connected."""
    return site.paths.config.parent / "shelley-hooks"


class ShelleyConnector(ExecutablesConnector, frozen=True, kw_only=True):
    """Moves the user's own files away, and writes Hooktray's in their places."""

    def folder(self, site: Site) -> Path:
        return site.home / ".config" / "shelley" / "hooks"

    def events(self, site: Site) -> list[str]:
        """Returns the names that are not folders."""
        return [name for name in self._names(site) if not self.path(site, name).is_dir()]

    def _names(self, site: Site) -> Iterator[str]:
        """Yields the fixed names, and the slash commands that exist."""
        yield from FIXED_EVENTS
        slash = self.folder(site) / "slash"
        if slash.is_dir():
            yield from (f"slash/{path.name}" for path in sorted(slash.iterdir()) if COMMAND_NAME.fullmatch(path.name))

    def executable(self, site: Site, event: str) -> File:
        otherwise = "cat" if event == ECHO_EVENT else "cat >/dev/null"
        return File(text=relay_command.shim((*site.relay, AGENT, event), otherwise=otherwise), mode=MODE)

    def connect(self, site: Site) -> Plan:
        if sys.platform == "win32":
            raise HooktrayError("Shelley's hooks do not run on Windows", hint="connect it where it runs")
        changes: list[FileChange] = []
        notes: list[str] = []
        moved = [name for name in self._names(site) if self._plan_event(site, name, changes, notes)]
        # An earlier `connect` that did not come to its end may have moved some, and not have named their folder.
        moved = list(dict.fromkeys((*moved, *_moved_files(site))))
        source = source_change(site, _entry(site), present=True) if moved else None
        if source:
            notes.append(
                f"Kept in {moved_folder(site)}, and not run before you have approved it: {', '.join(moved)}."
            )
            changes.append(source)
        return Plan(changes=tuple(changes), notes=tuple(notes))

    def _plan_event(self, site: Site, name: str, changes: list[FileChange], notes: list[str]) -> bool:
        """Plans Hooktray's executable for one name. Returns True if the user's own file must move for it.

        A name gets one if hooks need its event, if the user has a file there, and for each slash command.
        """
        path, destination = self.path(site, name), moved_folder(site) / name
        is_there = path.exists() or path.is_symlink()
        if not (is_there or name not in FIXED_EVENTS or site.needs(AGENT, name)):
            return False
        shim = self.executable(site, name)
        is_dir = path.is_dir()
        current = None if is_dir else read_state(path)
        is_free = not is_dir and (current is None or self.parse(current) is not None)
        if not is_free and (is_dir or not path.is_file() or not path.stat().st_mode & 0o111):
            notes.append(
                f"{path} is not executable, so Shelley does not run it; it was left as it is, and so was {name}."
            )
            return False
        if is_free:
            if current != shim:
                backup = site.backups.get(path)
                origin = backup.before if backup else None
                changes.append(FileChange(path=path, before=current, after=shim, origin=origin))
            return False
        moved, present = _as_moved(path, current), read_state(destination)
        backup = site.backups.as_written(destination, present)
        if present not in (None, moved) and not (backup and backup.agent == AGENT):
            raise HooktrayError(
                f"{destination}: stands in the way of your own {name}", hint="move one of the two away"
            )
        if present != moved:
            changes.append(FileChange(path=destination, before=present, after=moved))
        changes.append(FileChange(path=path, before=current, after=shim, origin=current))
        return True

    def disconnect(self, site: Site) -> Plan:
        changes: list[FileChange] = []
        notes: list[str] = []
        for name in dict.fromkeys((*self.events(site), *_moved_files(site))):
            path, moved = self.path(site, name), moved_folder(site) / name
            current, moved_state = read_state(path), read_state(moved)
            if self.parse(current) or (current is None and moved_state is not None):
                changes += _put_back(site, path, moved)  # first: a crash leaves it in both places, never in none
                changes += [FileChange(path=moved, before=moved_state, after=None)] if moved_state else []
            elif moved_state is not None and moved_state == _as_moved(path, current):
                changes.append(FileChange(path=moved, before=moved_state, after=None))  # a crash left it in both
            elif moved_state is not None:
                notes.append(f"{moved} stays: {path} is somebody else's by now.")
        source = None if notes else source_change(site, _entry(site), present=False)
        return Plan(changes=tuple(filter(None, (*changes, source))), notes=tuple(notes))

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        """No entry is up to date if a later slash command runs without Hooktray."""
        commands = [name for name in self.events(site) if name not in FIXED_EVENTS]
        is_whole = all(self.parse(read_state(self.path(site, name))) for name in commands)
        entries = super().relay_entries(site)
        return entries if is_whole else tuple(replace(one, up_to_date=False) for one in entries)

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        """A new conversation: Shelley's payloads do not say which event they are."""
        return {"prompt": "", "model": "", "cwd": cwd, "readonly": {"conversation_id": session}}


def _put_back(site: Site, path: Path, moved: Path) -> list[FileChange]:
    """What was there before us, or what the user has made of it since."""
    current, backup = read_state(path), site.backups.get(path)
    moved_state, moved_backup = read_state(moved), site.backups.get(moved)
    is_edited = moved_state is not None and not (moved_backup and moved_backup.after == moved_state)
    after = moved_state if is_edited else backup.before if backup else None
    return [] if after == current else [FileChange(path=path, before=current, after=after)]


def _entry(site: Site) -> Mapping[str, str]:
    return {AGENT: str(moved_folder(site)), "agent": AGENT}


def _moved_files(site: Site) -> Iterator[str]:
    for name in sorted(moved_folder(site).rglob("*")):
        if name.is_symlink() or name.is_file():
            yield str(name.relative_to(moved_folder(site)))


def _as_moved(path: Path, current: FileState) -> FileState:
    """The same at its new place: a link leads on to where it led."""
    return Link(str(path.resolve())) if isinstance(current, Link) else current


CONNECTOR = ShelleyConnector(agent=AGENT)
