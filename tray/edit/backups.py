"""What we wrote into other people's files and what was there before, kept in our state folder."""

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
    """One file of an agent's that we wrote: what was there, what we made of it, the folders we had to make."""

    agent: str
    path: Path
    before: FileState
    after: FileState
    folders: tuple[Path, ...] = ()


class Backups:
    """One small file for each file that we wrote. One that cannot be read counts as none."""

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
        for file in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found.append(_parse(json.loads(file.read_bytes())))
        return sorted((backup for backup in found if backup.agent == agent), key=lambda backup: backup.path)

    def original(self, path: Path, current: FileState, without: FileState) -> FileState:
        """What to put back some day: what was there before us, if nobody edited since, else `without` ours."""
        backup = self.get(path)
        return backup.before if backup and backup.after == current else without

    def record(self, agent: str, changes: Sequence[FileChange], folders: Sequence[Path]) -> None:
        for change in filter(lambda one: one.backed_up, changes):
            earlier = self.get(change.path)
            made = set(earlier.folders if earlier else ())
            made |= {one for one in folders if change.path.is_relative_to(one)}
            backup = Backup(
                agent=agent,
                path=change.path,
                before=change.origin,
                after=change.after,
                folders=tuple(sorted(made)),
            )
            self.save(backup)

    def save(self, backup: Backup) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        document = {
            "agent": backup.agent,
            "path": str(backup.path),
            "before": _encode(backup.before),
            "after": _encode(backup.after),
            "folders": [str(folder) for folder in backup.folders],
        }
        draft = self._file(backup.path).with_suffix(".part")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(document, file)
        draft.replace(self._file(backup.path))

    def delete(self, path: Path) -> None:
        self._file(path).unlink(missing_ok=True)

    def _file(self, path: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:24]}.json"


def _encode(state: FileState) -> Mapping[str, Any] | None:
    if isinstance(state, File):
        return {"text": base64.b64encode(state.text).decode(), "mode": state.mode}
    return {"link": state.target} if state else None


def _decode(document: Mapping[str, Any] | None) -> FileState:
    if document is None:
        return None
    if "link" in document:
        return Link(document["link"])
    return File(text=base64.b64decode(document["text"]), mode=document["mode"])


def _parse(document: Mapping[str, Any]) -> Backup:
    return Backup(
        agent=document["agent"],
        path=Path(document["path"]),
        before=_decode(document["before"]),
        after=_decode(document["after"]),
        folders=tuple(map(Path, document["folders"])),
    )
