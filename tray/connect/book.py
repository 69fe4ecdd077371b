"""What we wrote into other people's files and what stood there before, kept in our state folder."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tray.connect.edit import Change, File, Link, There


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One file of an agent's that we wrote: what stood there, what we made of it, the folders we had to make."""

    agent: str
    path: Path
    before: There
    after: There
    folders: tuple[Path, ...] = ()


class Book:
    """One small file for each file that we wrote. A page that cannot be read is as good as none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, path: Path) -> Kept | None:
        try:
            return _kept(json.loads(self._page(path).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def of(self, agent: str) -> list[Kept]:
        """Every file of this agent's that we wrote, by path."""
        found = []
        for page in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found.append(_kept(json.loads(page.read_bytes())))
        return sorted((kept for kept in found if kept.agent == agent), key=lambda kept: kept.path)

    def origin(self, path: Path, now: There, without: There) -> There:
        """What to put back some day: what stood there before us, if nobody edited since, else `without` ours."""
        kept = self.get(path)
        return kept.before if kept and kept.after == now else without

    def keep(self, agent: str, changes: Sequence[Change], folders: Sequence[Path]) -> None:
        for change in filter(lambda one: one.noted, changes):
            old = self.get(change.path)
            made = {*(old.folders if old else ()), *(one for one in folders if change.path.is_relative_to(one))}
            page = Kept(
                agent=agent,
                path=change.path,
                before=change.origin,
                after=change.after,
                folders=tuple(sorted(made)),
            )
            self.put(page)

    def put(self, kept: Kept) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        page = {
            "agent": kept.agent,
            "path": str(kept.path),
            "before": _said(kept.before),
            "after": _said(kept.after),
            "folders": [str(folder) for folder in kept.folders],
        }
        draft = self._page(kept.path).with_suffix(".part")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(page, file)
        draft.replace(self._page(kept.path))

    def forget(self, path: Path) -> None:
        self._page(path).unlink(missing_ok=True)

    def _page(self, path: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:24]}.json"


def _said(there: There) -> Mapping[str, Any] | None:
    if isinstance(there, File):
        return {"text": base64.b64encode(there.text).decode(), "mode": there.mode}
    return {"link": there.target} if there else None


def _there(page: Mapping[str, Any] | None) -> There:
    if page is None:
        return None
    if "link" in page:
        return Link(page["link"])
    return File(text=base64.b64decode(page["text"]), mode=page["mode"])


def _kept(page: Mapping[str, Any]) -> Kept:
    return Kept(
        agent=page["agent"],
        path=Path(page["path"]),
        before=_there(page["before"]),
        after=_there(page["after"]),
        folders=tuple(map(Path, page["folders"])),
    )
