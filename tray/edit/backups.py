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

from tray.edit.file_changes import File, FileChange, FileState, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """One file of an agent's that we wrote: what stood there, what we made of it, the folders we had to make."""

    agent: str
    path: Path
    before: FileState
    after: FileState
    folders: tuple[Path, ...] = ()


class Backups:
    """One small file for each file that we wrote. A page that cannot be read is as good as none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, path: Path) -> Backup | None:
        try:
            return _parse(json.loads(self._file(path).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def of_agent(self, agent: str) -> list[Backup]:
        """Every file of this agent's that we wrote, by path."""
        found = []
        for page in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found.append(_parse(json.loads(page.read_bytes())))
        return sorted((kept for kept in found if kept.agent == agent), key=lambda kept: kept.path)

    def original(self, path: Path, current: FileState, without: FileState) -> FileState:
        """What to put back some day: what stood there before us, if nobody edited since, else `without` ours."""
        kept = self.get(path)
        return kept.before if kept and kept.after == current else without

    def record(self, agent: str, changes: Sequence[FileChange], folders: Sequence[Path]) -> None:
        for change in filter(lambda one: one.backed_up, changes):
            old = self.get(change.path)
            made = {*(old.folders if old else ()), *(one for one in folders if change.path.is_relative_to(one))}
            page = Backup(
                agent=agent,
                path=change.path,
                before=change.origin,
                after=change.after,
                folders=tuple(sorted(made)),
            )
            self.save(page)

    def save(self, backup: Backup) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        page = {
            "agent": backup.agent,
            "path": str(backup.path),
            "before": _encode(backup.before),
            "after": _encode(backup.after),
            "folders": [str(folder) for folder in backup.folders],
        }
        draft = self._file(backup.path).with_suffix(".part")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(page, file)
        draft.replace(self._file(backup.path))

    def delete(self, path: Path) -> None:
        self._file(path).unlink(missing_ok=True)

    def _file(self, path: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:24]}.json"


def _encode(there: FileState) -> Mapping[str, Any] | None:
    if isinstance(there, File):
        return {"text": base64.b64encode(there.text).decode(), "mode": there.mode}
    return {"link": there.target} if there else None


def _decode(page: Mapping[str, Any] | None) -> FileState:
    if page is None:
        return None
    if "link" in page:
        return Link(page["link"])
    return File(text=base64.b64decode(page["text"]), mode=page["mode"])


def _parse(page: Mapping[str, Any]) -> Backup:
    return Backup(
        agent=page["agent"],
        path=Path(page["path"]),
        before=_decode(page["before"]),
        after=_decode(page["after"]),
        folders=tuple(map(Path, page["folders"])),
    )
