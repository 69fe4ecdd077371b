"""What connecting or disconnecting one agent would do: the changes, and what the user should know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tray.connect.book import Book
from tray.connect.edit import Change, File, There, look, settled
from tray.connect.json_text import is_blank
from tray.connect.yaml_text import append, items, remove
from tray.errors import HooktrayError
from tray.paths import Paths

Work = Callable[[bytes], bytes]
PROBED = "HooktrayProbe"  # an event that no hook is for


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where to look: the user's home and environment, the folder they are in, our own places."""

    paths: Paths
    relay: tuple[str, ...]  # up to AGENT [EVENT]
    home: Path
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    scope: str = "user"  # of Claude Code; "" = wherever our lines are
    workspace: str = ""  # of Starchild
    now: str = ""  # ISO 8601

    @property
    def book(self) -> Book:
        return Book(self.paths.state / "connections")

    def folder(self, variable: str, *usual: str) -> Path:
        """A configuration folder of an agent's: what the environment says, else below the user's home."""
        named = self.environment.get(variable, "")
        return self.cwd / named if named else self.home.joinpath(*usual)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Changes to make, all or none; notes for the user."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One of our entries in an agent's settings: the event, and how the agent starts it."""

    event: str
    argv: tuple[str, ...]
    place: str
    state: str = ""  # the folder that it leads to
    needs: tuple[str, ...] = ()  # the files that it cannot do without
    current: bool = True  # it stands there as it is written today


def others_written(site: Site, agent: str, own: Path) -> tuple[Path, ...]:
    """The files that we wrote for this agent in other folders, as far as they are still there."""
    kept = [one.path for one in site.book.of(agent)]
    return tuple(path for path in kept if path != settled(own) and path.is_file())


def edited(site: Site, path: Path, fresh: Callable[[], bytes], add: Work, strip: Work) -> Change | None:
    """The change that `add` makes to a settings file; None when it says already what it shall."""
    real = settled(path)
    now = bare = look(real)
    if isinstance(now, File) and not is_blank(now.text):
        text, mode, without = add(now.text), now.mode, strip(now.text)
        bare = now if without == now.text else File(text=without, mode=mode)
    else:
        text, mode = fresh(), now.mode if isinstance(now, File) else 0o600
    after = File(text=text, mode=mode)
    origin = site.book.origin(real, now, bare)
    return None if after == now else Change(path=real, before=now, after=after, origin=origin, shown=path)


def restored(site: Site, agent: str, path: Path, strip: Work) -> Change | None:
    """The change that takes ours out again: the old bytes if nobody edited since, else without our entries."""
    real = settled(path)
    now, kept = look(real), site.book.get(real)
    if kept and kept.agent == agent and kept.after == now:
        back: There = kept.before
    elif isinstance(now, File) and not is_blank(now.text):
        back = File(text=strip(now.text), mode=now.mode)
    else:
        return None
    return None if back == now else Change(path=real, before=now, after=back, shown=path)


def sourced(site: Site, entry: Mapping[str, Any], *, there: bool) -> Change | None:
    """The change that names a source in hooktray.yaml, or takes its name out; None when nothing is to be done."""
    path = settled(site.paths.config)
    now = look(path)
    text = now.text if isinstance(now, File) else b""
    is_there = entry in items(text, str(path), "sources")
    if is_there == there:
        return None
    new = (
        append(text, str(path), "sources", [entry])
        if there
        else remove(text, str(path), "sources", lambda one: one == entry)
    )
    after = File(text=new, mode=now.mode if isinstance(now, File) else 0o600) if new.strip() else None
    return Change(path=path, before=now, after=after, shown=site.paths.config, noted=False)


def reading(path: Path) -> bytes:
    """The text of a file; empty when there is none. Raises HooktrayError when it cannot be read."""
    try:
        found = look(settled(path))
    except HooktrayError:
        return b""
    return found.text if isinstance(found, File) else b""
