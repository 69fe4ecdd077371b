"""Starchild's hooks go below us and come back entry by entry, each as it was written."""

from __future__ import annotations

import json
import shlex
from pathlib import Path, PurePath
from typing import Any

from tray.connect.plan import Site
from tray.connect.starchild import ours, switch, workspace
from tray.connect.yaml_text import append, items, remove, verbatim
from tray.engine.approval.checks import cannot_work
from tray.errors import HooktrayError
from tray.model.hook import Command
from tray.sources.starchild import parse

CANNOT = "Hooktray cannot run them there, unless their files are written with full paths"


def take(site: Site, text: bytes, path: Path, aside: Path) -> tuple[bytes, bytes, int, list[str]]:
    """What stays, what goes, how many entries go, and for each that stays why."""
    if switch(site) is False:
        hint = "`/hooks on` there switches them on"
        raise HooktrayError(f"{path}: Starchild runs none of its hooks as it stands", hint=hint)
    found = [entry for entry in items(text, str(path), "hooks") if not ours(entry)]
    why = [_kept(entry, workspace(site), aside) for entry in found]
    moved = [entry for entry, reason in zip(found, why, strict=True) if not reason]
    stays = remove(text, str(path), "hooks", lambda entry: entry in moved)
    kept = verbatim(text, "hooks", lambda entry: entry in moved)
    return stays, append(b"", str(aside), "hooks", kept), len(moved), [reason for reason in why if reason]


def give(text: bytes, path: Path, own: bytes, aside: Path) -> bytes:
    """The settings with every entry that was put aside behind those that are there."""
    items(own, str(aside), "hooks")  # says where it cannot be read
    return append(text, str(path), "hooks", verbatim(own, "hooks", lambda entry: True))


def _kept(entry: Any, folder: Path, aside: Path) -> str:
    """Why an entry stays; "" when it would run below us, without any warning, and means the same in any place."""
    found = parse(json.dumps({"hooks": [entry]}).encode(), aside)
    if found.warnings or len(found.hooks) != 1:
        return CANNOT
    action = found.hooks[0].action
    if isinstance(action, Command) and any(_relative(word, folder) for word in shlex.split(action.line)):
        return CANNOT
    return cannot_work(found.hooks[0])


def _relative(word: str, folder: Path) -> bool:
    """Whether it names a file of the workspace by where that stands."""
    if PurePath(word).is_absolute() or not word:
        return False
    return word.startswith(("./", "../")) or (folder / word).exists()
