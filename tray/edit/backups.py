"""What we wrote into other people's files and what was there before, kept in our state folder."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import NotRequired, TypedDict

import msgspec
from msgspec.structs import replace

from tray.edit.file_changes import File, FileChange, FileState, Link, MovedHooks
from tray.paths import unwritable_error


class StateRecord(TypedDict, total=False):
    """The state of a file: its text in base64 with its mode, or where a link leads."""

    text: str
    mode: int
    link: str


class MovedRecord(TypedDict):
    """Hooks that were moved out of the file."""

    before: StateRecord | None
    text: str
    path: str


class BackupRecord(TypedDict):
    """A backup as it is kept."""

    agent: str
    path: str
    before: StateRecord | None
    after: StateRecord | None
    moved: NotRequired[MovedRecord | None]
    replaced: NotRequired[list[StateRecord | None]]
    folders: list[str]


CONNECTIONS = "connections"  # where they are, below the state folder
UNREADABLE = (OSError, ValueError, KeyError, TypeError)


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an agent's that we wrote: what is to be put back, what we made of it, the folders we had to make.

    `before` is what `disconnect` puts back. While the file is being written it may still be the earlier one of ours,
    `replaced`, for which the same is to be put back.
    """

    agent: str
    path: Path
    before: FileState
    after: FileState
    moved: MovedHooks | None = None
    replaced: tuple[FileState, ...] = ()
    folders: tuple[Path, ...] = ()

    def is_as_written(self, current: FileState) -> bool:
        """Whether the file was not edited since we wrote it."""
        return current in (self.after, *self.replaced)


class Backups:
    """One small file for each file that we wrote. One that cannot be read counts as none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, path: Path) -> Backup | None:
        try:
            return _parse(json.loads(self._file(path).read_bytes()))
        except UNREADABLE:
            return None

    def as_written(self, path: Path, current: FileState) -> Backup | None:
        """What we know of this file, if it is still as we wrote it; of moved hooks only while their file is there."""
        backup = self.get(path)
        if backup is None or not backup.is_as_written(current):
            return None
        if backup.moved is None or os.path.lexists(backup.moved.path):
            return backup
        # Where a crash ended the move at once, the hooks are still in this file.
        has_hooks = current != backup.after
        return replace(backup, before=backup.moved.before if has_hooks else backup.before, moved=None)

    def of_agent(self, agent: str) -> list[Backup]:
        """Every file of this agent's that we wrote, by path."""
        found, named = [], json.dumps(agent).encode()
        for file in self._folder.glob("*.json"):
            with contextlib.suppress(*UNREADABLE):
                text = file.read_bytes()
                if named not in text:
                    continue  # most are of another agent, and need not be parsed
                document = json.loads(text)
                if document["agent"] == agent:
                    found.append(_parse(document))
        return sorted(found, key=attrgetter("path"))

    def begin(self, agent: str, changes: Sequence[FileChange]) -> None:
        """Note what will be written, before it is."""
        for change in changes:
            known, written = self.get(change.path), self.as_written(change.path, change.before)
            missing = [folder for folder in change.path.parents if not folder.exists()]
            self.save(
                Backup(
                    agent=agent,
                    path=change.path,
                    before=change.origin,
                    after=change.after,
                    moved=change.moved or (written.moved if written else None),
                    replaced=(change.before,) if written else (),
                    folders=tuple(sorted({*missing, *(known.folders if known else ())})),
                )
            )

    def finish(self, changes: Sequence[FileChange]) -> None:
        """Note that it was written."""
        for change in changes:
            if backup := self.get(change.path):
                self.save(replace(backup, moved=change.moved, replaced=()))

    def save(self, backup: Backup) -> None:
        """Raises HooktrayError."""
        document: BackupRecord = {
            "agent": backup.agent,
            "path": os.fsdecode(backup.path),
            "before": _encode(backup.before),
            "after": _encode(backup.after),
            "moved": _encode_moved(backup.moved),
            "replaced": list(map(_encode, backup.replaced)),
            "folders": [str(folder) for folder in backup.folders],
        }
        draft = self._file(backup.path).with_suffix(".part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w") as file:
                json.dump(document, file)
            draft.replace(self._file(backup.path))
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise unwritable_error(self._folder, error) from error

    def delete(self, path: Path) -> None:
        with contextlib.suppress(OSError):  # a note about an earlier state of a file has no use
            self._file(path).unlink()

    def _file(self, path: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:24]}.json"


def _encode(state: FileState) -> StateRecord | None:
    if isinstance(state, File):
        return {"text": base64.b64encode(state.text).decode(), "mode": state.mode}
    return {"link": state.target} if state else None


def _decode(document: StateRecord | None) -> FileState:
    if document is None:
        return None
    if "link" in document:
        return Link(document["link"])
    return File(text=base64.b64decode(document["text"]), mode=document["mode"])


def _encode_moved(moved: MovedHooks | None) -> MovedRecord | None:
    if moved is None:
        return None
    text = base64.b64encode(moved.text).decode()
    return {"before": _encode(moved.before), "text": text, "path": str(moved.path)}


def _decode_moved(document: MovedRecord | None) -> MovedHooks | None:
    if document is None:
        return None
    text = base64.b64decode(document["text"])
    return MovedHooks(before=_decode(document["before"]), text=text, path=Path(document["path"]))


def _parse(document: BackupRecord) -> Backup:
    return Backup(
        agent=document["agent"],
        path=Path(document["path"]),
        before=_decode(document["before"]),
        after=_decode(document["after"]),
        moved=_decode_moved(document.get("moved")),
        replaced=tuple(map(_decode, document.get("replaced", ()))),
        folders=tuple(map(Path, document["folders"])),
    )
