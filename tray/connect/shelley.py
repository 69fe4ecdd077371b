"""Shelley: a small executable of ours for each hook name; what stood there moves below us and is chained as a hook.

~/.config/shelley/hooks/chat-message is ours; the user's own is <config>/shelley-hooks/chat-message, a source of
hooktray.yaml that waits for approval like any other. `disconnect` puts it back.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tray.connect import line
from tray.connect.edit import Change, File, Link, There, look
from tray.connect.plan import Plan, Site, Wire, sourced
from tray.dialects import DIALECTS
from tray.errors import HooktrayError

AGENT = "shelley"
NAME = "Shelley"
FIXED = tuple(name for name in DIALECTS[AGENT].EVENTS if "/" not in name)
COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
ECHOED = "system-prompt"  # silence would end the conversation
MODE = 0o755


def folder(site: Site) -> Path:
    return site.home / ".config" / "shelley" / "hooks"


def aside(site: Site) -> Path:
    """Where the user's own executables are meanwhile."""
    return site.paths.config.parent / "shelley-hooks"


def is_installed(site: Site) -> bool:
    return folder(site).parent.is_dir()


def connect(site: Site) -> Plan:
    if sys.platform == "win32":
        raise HooktrayError("Shelley's hooks do not run on Windows", hint="connect it where it runs")
    changes: list[Change] = []
    notes: list[str] = []
    moved = [name for name in _names(site) if _take(site, name, changes, notes)]
    if moved:
        notes.append(f"Kept in {aside(site)}, and not run before you have approved it: {', '.join(moved)}.")
        source = sourced(site, _entry(site), there=True)
        changes += [source] if source else []
    return Plan(changes=tuple(changes), notes=tuple(notes))


def disconnect(site: Site) -> Plan:
    changes: list[Change] = []
    notes: list[str] = []
    for name in dict.fromkeys((*_files(site), *_put_aside(site))):
        path, own = folder(site) / name, aside(site) / name
        now, theirs = look(path), look(own)
        if _is_ours(now) or (now is None and theirs is not None):
            changes += [Change(path=own, before=theirs, after=None)] if theirs else []
            changes += _put_back(site, path, own)
        elif theirs is not None:
            notes.append(f"{own} stays: {path} is somebody else's by now.")
    source = None if notes else sourced(site, _entry(site), there=False)
    return Plan(changes=tuple(filter(None, (*changes, source))), notes=tuple(notes))


def _put_back(site: Site, path: Path, own: Path) -> list[Change]:
    """What stood there before us, or what the user has made of it since."""
    now, theirs, kept, moved = look(path), look(own), site.book.get(path), site.book.get(own)
    is_edited = theirs is not None and not (moved and moved.after == theirs)
    after = theirs if is_edited else kept.before if kept else None
    return [] if after == now else [Change(path=path, before=now, after=after)]


def _entry(site: Site) -> Mapping[str, str]:
    return {AGENT: str(aside(site)), "agent": AGENT}


def wires(site: Site) -> tuple[Wire, ...]:
    return tuple(_wires(site))


def _wires(site: Site) -> Iterator[Wire]:
    for name in _files(site):
        path = folder(site) / name
        there = look(path)
        if said := _said(there):
            current = bool(site.relay) and there == _shim(site, name)
            yield Wire(
                event=name, argv=(str(path),), place=str(path), state=said.state, needs=said.needs, current=current
            )


def trust(site: Site) -> str:
    return "trusted"  # it runs whatever stands there


def probe(session: str, cwd: str) -> Mapping[str, Any]:
    """A new conversation: Shelley's payloads do not say which event they are."""
    return {"prompt": "", "model": "", "cwd": cwd, "readonly": {"conversation_id": session}}


def _names(site: Site) -> Iterator[str]:
    """The fixed names, and the slash commands that are there."""
    yield from FIXED
    slash = folder(site) / "slash"
    if slash.is_dir():
        yield from (f"slash/{path.name}" for path in sorted(slash.iterdir()) if COMMAND.fullmatch(path.name))


def _files(site: Site) -> list[str]:
    return [name for name in _names(site) if not (folder(site) / name).is_dir()]


def _put_aside(site: Site) -> Iterator[str]:
    for name in sorted(aside(site).rglob("*")):
        if name.is_symlink() or name.is_file():
            yield str(name.relative_to(aside(site)))


def _take(site: Site, name: str, changes: list[Change], notes: list[str]) -> bool:
    """Our executable in the place of one name; whether the user's own had to move for it."""
    path, own = folder(site) / name, aside(site) / name
    shim = _shim(site, name)
    if (path.exists() or path.is_symlink()) and not _runs(path):
        notes.append(f"{path} is no executable, so Shelley does not run it; it was left as it is, and so was {name}.")
        return False
    now = look(path)
    if now is None or _is_ours(now):
        if now != shim:
            origin = site.book.origin(path, now, None)
            changes.append(Change(path=path, before=now, after=shim, origin=origin))
        return False
    if look(own) is not None:
        raise HooktrayError(f"{own}: stands in the way of your own {name}", hint="move one of the two away")
    moved = Link(str(path.resolve())) if isinstance(now, Link) else now
    changes.append(Change(path=own, before=None, after=moved))
    changes.append(Change(path=path, before=now, after=shim, origin=now))
    return True


def _shim(site: Site, name: str) -> File:
    otherwise = "cat" if name == ECHOED else "cat >/dev/null"
    return File(text=line.shim((*site.relay, AGENT, name), otherwise=otherwise), mode=MODE)


def _runs(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o111)


def _is_ours(there: There) -> bool:
    return _said(there) is not None


def _said(there: There) -> line.Line | None:
    """What one of our executables says; None for anybody else's."""
    if not isinstance(there, File) or len(there.text) > 4096 or not there.text.startswith(b"#!/bin/sh\n"):
        return None
    found = line.parse(there.text.decode("utf-8", "replace").strip().splitlines()[-1])
    return found if found and found.agent == AGENT else None
