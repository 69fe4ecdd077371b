"""Hooks of a Shelley hooks folder: one executable per name, and one per slash command below `slash/`."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tray.dialects import DIALECTS
from tray.model.event import EventKind
from tray.model.hook import Command, Failure, Match
from tray.sources.entries import Found, Sheet
from tray.strict import Document

AGENT = "shelley"
TIMEOUT = 30.0  # seconds, fixed
NAMES = ("chat-message", "end-of-turn", "new-conversation", "system-prompt")
SLASH = "slash"
COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def read(folder: Path, agents: Sequence[str]) -> Found:
    """The hooks of one folder. Raises OSError when it cannot be looked into."""
    there = set(os.listdir(folder))  # noqa: PTH208 - names are all we want
    hooks: list[Found] = []
    for name in [*(name for name in NAMES if name in there), *_slashes(folder)]:
        hooks.append(_hook(folder / name, name, agents))
    watched = (str(folder), str(folder / SLASH))
    return Found(
        hooks=tuple(hook for found in hooks for hook in found.hooks),
        warnings=tuple(warning for found in hooks for warning in found.warnings),
        watched=watched + tuple(path for found in hooks for path in found.watched),
    )


def _slashes(folder: Path) -> Iterator[str]:
    if (folder / SLASH).is_dir():
        names = sorted(os.listdir(folder / SLASH))  # noqa: PTH208
        yield from (f"{SLASH}/{name}" for name in names if COMMAND.fullmatch(name))


def _hook(path: Path, name: str, agents: Sequence[str]) -> Found:
    """One executable is one source of one hook: the file itself declares it."""
    sheet = Sheet(Document(value={}, path=str(path)), AGENT, agents=agents)
    if path.is_dir():
        return sheet.found()
    if not _executable(path):
        sheet.warn((), f"{name} has no executable bit, so it is no hook", f"chmod +x {shlex.quote(str(path))}")
        return sheet.found()
    action = Command(line=shlex.quote(str(path)), folder=str(path.parent))
    match, lacking = _match(sheet, name)
    failure = Failure.ALLOW if name == "end-of-turn" else Failure.BLOCK
    sheet.add((), match, action, name=name, timeout=TIMEOUT, failure=failure, inert=lacking)
    return sheet.found()


def _match(sheet: Sheet, name: str) -> tuple[Match, str]:
    """When it is asked, and what this version lacks for it."""
    events = DIALECTS[AGENT].EVENTS
    if name in events:
        return sheet.match((), name), ""
    slash = [event for event, spec in events.items() if spec.kind is EventKind.SLASH_COMMAND]
    if name.startswith(f"{SLASH}/") and slash:
        return sheet.match((), slash[0], tool=name.removeprefix(f"{SLASH}/")), ""
    return Match(event=name, agents=(AGENT,)), f"`{name}` is not in this version"


def _executable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o111)
    except OSError:
        return False
