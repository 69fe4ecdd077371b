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

from tray.agents import relay_command
from tray.agents.connection import EntryContent, Plan, RelayEntry, Site, source_change
from tray.agents.shelley.protocol import AGENT, EVENTS
from tray.edit.file_changes import File, FileChange, FileState, Link, read_state
from tray.errors import HooktrayError

FIXED_EVENTS = tuple(name for name in EVENTS if "/" not in name)
COMMAND_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
ECHO_EVENT = "system-prompt"  # silence would end the conversation
MODE = 0o755


def hooks_folder(site: Site) -> Path:
    return site.home / ".config" / "shelley" / "hooks"


def moved_folder(site: Site) -> Path:
    """Where the user's own executables are while connected."""
    return site.paths.config.parent / "shelley-hooks"


def is_installed(site: Site) -> bool:
    return hooks_folder(site).parent.is_dir()


def connect(site: Site) -> Plan:
    if sys.platform == "win32":
        raise HooktrayError("Shelley's hooks do not run on Windows", hint="connect it where it runs")
    changes: list[FileChange] = []
    notes: list[str] = []
    moved = [name for name in _names(site) if _is_wanted(site, name) and _plan_event(site, name, changes, notes)]
    # An earlier `connect` that did not come to its end may have moved some, and not have named their folder.
    moved = list(dict.fromkeys((*moved, *_moved_files(site))))
    source = source_change(site, _entry(site), present=True) if moved else None
    if source:
        notes.append(f"Kept in {moved_folder(site)}, and not run before you have approved it: {', '.join(moved)}.")
        changes.append(source)
    return Plan(changes=tuple(changes), notes=tuple(notes))


def disconnect(site: Site) -> Plan:
    changes: list[FileChange] = []
    notes: list[str] = []
    for name in dict.fromkeys((*_files(site), *_moved_files(site))):
        path, moved = hooks_folder(site) / name, moved_folder(site) / name
        current, moved_state = read_state(path), read_state(moved)
        if _is_ours(current) or (current is None and moved_state is not None):
            changes += _put_back(site, path, moved)  # first: a crash leaves it in both places, never in none
            changes += [FileChange(path=moved, before=moved_state, after=None)] if moved_state else []
        elif moved_state is not None and moved_state == _as_moved(path, current):
            changes.append(FileChange(path=moved, before=moved_state, after=None))  # a crash left it in both
        elif moved_state is not None:
            notes.append(f"{moved} stays: {path} is somebody else's by now.")
    source = None if notes else source_change(site, _entry(site), present=False)
    return Plan(changes=tuple(filter(None, (*changes, source))), notes=tuple(notes))


def _put_back(site: Site, path: Path, moved: Path) -> list[FileChange]:
    """What was there before us, or what the user has made of it since."""
    current, backup = read_state(path), site.backups.get(path)
    moved_state, moved_backup = read_state(moved), site.backups.get(moved)
    is_edited = moved_state is not None and not (moved_backup and moved_backup.after == moved_state)
    after = moved_state if is_edited else backup.before if backup else None
    return [] if after == current else [FileChange(path=path, before=current, after=after)]


def _entry(site: Site) -> Mapping[str, str]:
    return {AGENT: str(moved_folder(site)), "agent": AGENT}


def relay_entries(site: Site) -> tuple[RelayEntry, ...]:
    return tuple(_relay_entries(site))


def _relay_entries(site: Site) -> Iterator[RelayEntry]:
    whole = all(_is_ours(read_state(hooks_folder(site) / name)) for name in _files(site) if name not in FIXED_EVENTS)
    for name in _files(site):
        path = hooks_folder(site) / name
        state = read_state(path)
        if command := _relay_command(state):
            # A slash command that came later runs without us.
            up_to_date = whole and bool(site.relay) and state == _shim(site, name)
            yield RelayEntry(
                event=name,
                argv=(str(path),),
                path=str(path),
                state_folder=command.state_folder,
                required_files=command.required_files,
                up_to_date=up_to_date,
            )


def contents(path: Path, state: FileState) -> tuple[EntryContent, ...]:
    """The agent runs the file if it may be executed."""
    command = _relay_command(state)
    if command is None or not isinstance(state, File):
        return ()
    handler = {"command": state.text.decode("utf-8", "replace"), "executable": bool(state.mode & 0o111)}
    return (EntryContent(event=command.event, handler=handler),)


def trust(site: Site) -> str:
    return "trusted"  # it runs whatever is there


def switch_files(site: Site) -> tuple[Path, ...]:
    return ()


def probe_payload(session: str, cwd: str) -> Mapping[str, Any]:
    """A new conversation: Shelley's payloads do not say which event they are."""
    return {"prompt": "", "model": "", "cwd": cwd, "readonly": {"conversation_id": session}}


def _is_wanted(site: Site, name: str) -> bool:
    """Whether our executable goes there: also where the user has one, and for each slash command."""
    path = hooks_folder(site) / name
    return name not in FIXED_EVENTS or site.needs(AGENT, name) or path.exists() or path.is_symlink()


def _names(site: Site) -> Iterator[str]:
    """The fixed names, and the slash commands that are there."""
    yield from FIXED_EVENTS
    slash = hooks_folder(site) / "slash"
    if slash.is_dir():
        yield from (f"slash/{path.name}" for path in sorted(slash.iterdir()) if COMMAND_NAME.fullmatch(path.name))


def _files(site: Site) -> list[str]:
    return [name for name in _names(site) if not (hooks_folder(site) / name).is_dir()]


def _moved_files(site: Site) -> Iterator[str]:
    for name in sorted(moved_folder(site).rglob("*")):
        if name.is_symlink() or name.is_file():
            yield str(name.relative_to(moved_folder(site)))


def _plan_event(site: Site, name: str, changes: list[FileChange], notes: list[str]) -> bool:
    """Our executable in the place of one name; whether the user's own had to move for it."""
    path, destination = hooks_folder(site) / name, moved_folder(site) / name
    shim = _shim(site, name)
    is_dir = path.is_dir()
    current = None if is_dir else read_state(path)
    if is_dir or (current is not None and not _is_ours(current) and not _runs(path)):
        notes.append(
            f"{path} is not executable, so Shelley does not run it; it was left as it is, and so was {name}."
        )
        return False
    if current is None or _is_ours(current):
        if current != shim:
            backup = site.backups.get(path)
            origin = backup.before if backup else None
            changes.append(FileChange(path=path, before=current, after=shim, origin=origin))
        return False
    moved, present = _as_moved(path, current), read_state(destination)
    backup = site.backups.as_written(destination, present)
    if present not in (None, moved) and not (backup and backup.agent == AGENT):
        raise HooktrayError(f"{destination}: stands in the way of your own {name}", hint="move one of the two away")
    if present != moved:
        changes.append(FileChange(path=destination, before=present, after=moved))
    changes.append(FileChange(path=path, before=current, after=shim, origin=current))
    return True


def _as_moved(path: Path, current: FileState) -> FileState:
    """The same at its new place: a link leads on to where it led."""
    return Link(str(path.resolve())) if isinstance(current, Link) else current


def _shim(site: Site, name: str) -> File:
    otherwise = "cat" if name == ECHO_EVENT else "cat >/dev/null"
    return File(text=relay_command.shim((*site.relay, AGENT, name), otherwise=otherwise), mode=MODE)


def _runs(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o111)


def _is_ours(state: FileState) -> bool:
    return _relay_command(state) is not None


def _relay_command(state: FileState) -> relay_command.RelayCommand | None:
    """The relay command of our executable; None for any other."""
    if not isinstance(state, File) or len(state.text) > 4096 or not state.text.startswith(b"#!/bin/sh\n"):
        return None
    command = relay_command.parse(state.text.decode("utf-8", "replace").strip().splitlines()[-1])
    return command if command and command.agent == AGENT else None
