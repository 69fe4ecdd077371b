"""What connecting or disconnecting one agent would do: the changes, and what the user should know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tray.edit.backups import CONNECTIONS, Backups
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.yaml_edit import append, items, remove
from tray.errors import HooktrayError
from tray.model.hook import Hook
from tray.paths import Paths

Extracted = tuple[bytes, bytes, int, list[str]]  # what stays, what goes, how many hooks go, why each other stays
PROBE_EVENT = "HooktrayProbe"  # an event that no hook is for


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look: the user's home and environment, the folder they are in, our own places."""

    paths: Paths
    relay: tuple[str, ...]  # up to AGENT [EVENT]
    home: Path
    cwd: Path
    environment: Mapping[str, str] = {}
    scope: str = "user"  # of Claude Code; "" = wherever our entries are
    workspace: str = ""  # of Starchild
    now: str = ""  # ISO 8601
    needed: Mapping[str, frozenset[str]] | None = None  # events that need an entry, by agent; None = all

    def needs(self, agent: str, event: str) -> bool:
        """Whether `connect` adds an entry for this event; an entry that is there stays in any case."""
        return self.needed is None or event in self.needed.get(agent, ())

    @property
    def backups(self) -> Backups:
        return Backups(self.paths.state / CONNECTIONS)

    def folder(self, variable: str, *usual: str) -> Path:
        """A configuration folder of an agent's: from the environment, else below the user's home."""
        named = self.environment.get(variable, "")
        return self.cwd / named if named else self.home.joinpath(*usual)


class HookCheck(Protocol):
    """`problem` returns why Hooktray cannot run the hook; "" if it can."""

    def problem(self, hook: Hook) -> str: ...


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to make, all or none; notes for the user."""

    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()


class RelayEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One of our entries in an agent's settings: the event, and how the agent starts it."""

    event: str
    argv: tuple[str, ...]
    path: str
    state_folder: str = ""  # the folder that it leads to
    required_files: tuple[str, ...] = ()  # the files that it cannot do without
    up_to_date: bool = True  # `connect` would write the same today


class EntryContent(msgspec.Struct, frozen=True, kw_only=True):
    """One of our entries in full, as the agent reads it.

    `conditions` decide when the agent runs it: its group's matcher. `handler` is what the agent runs then.
    """

    event: str  # "" = what registers all of them
    handler: Mapping[str, Any]
    conditions: Mapping[str, Any] = {}


def other_files(site: Site, agent: str, own: Path) -> tuple[Path, ...]:
    """The files that we wrote for this agent in other folders, as far as they are still there."""
    ours = site.paths.config.parent
    backups = [one.path for one in site.backups.of_agent(agent) if not one.path.is_relative_to(ours)]
    return tuple(path for path in backups if path != resolve_links(own) and path.is_file())


def source_change(site: Site, entry: Mapping[str, Any], *, present: bool) -> FileChange | None:
    """The change that names a source in hooktray.yaml, or takes its name out; None when nothing is to be done."""
    path = resolve_links(site.paths.config)
    current = read_state(path)
    text = current.text if isinstance(current, File) else b""
    is_there = entry in items(text, str(path), "sources")
    if is_there == present:
        return None
    edit = append if present else remove
    return config_change(site, current, edit(text, str(path), "sources", [entry]))


def config_change(site: Site, current: FileState, text: bytes) -> FileChange:
    """The change of hooktray.yaml to this text; one that has nothing but ours becomes again what it was before."""
    path = resolve_links(site.paths.config)
    backup = site.backups.as_written(path, current)
    origin = backup.before if backup else current
    after: FileState = File(text=text, mode=current.mode if isinstance(current, File) else 0o600)
    if not text.strip():
        after = origin if backup else None
    return FileChange(
        path=path,
        before=current,
        after=after,
        origin=origin,
        keeps_ours=after != origin,
        display_path=site.paths.config,
    )


def read_or_empty(path: Path) -> bytes:
    """Returns the text of a file; empty if there is none, or it cannot be read."""
    try:
        state = read_state(resolve_links(path))
    except HooktrayError:
        return b""
    return state.text if isinstance(state, File) else b""
