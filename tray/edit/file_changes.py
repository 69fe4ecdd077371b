"""Careful editing of other people's files: whole or not at all, through links, never over another program's edit."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tray.errors import FULL, MAKE_ROOM, HooktrayError
from tray.files import sync_folder, user_file

SIZE_LIMIT = 16 * 1024 * 1024  # bytes of a file that we edit
READ_ONLY = "make this file system writable and try again"


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A regular file's bytes and mode. On Windows only the bytes are compared: a mode is one read-only bit there."""

    text: bytes
    mode: int = 0o600

    def __eq__(self, other: object) -> bool:
        same_mode = isinstance(other, File) and (sys.platform == "win32" or self.mode == other.mode)
        return isinstance(other, File) and same_mode and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Link(msgspec.Struct, frozen=True):
    """A symbolic link, whatever it leads to."""

    target: str


FileState = File | Link | None


class MovedHooks(msgspec.Struct, frozen=True, kw_only=True):
    """Hooks that were moved out of a file: the file with them and without anything of ours, and their new file."""

    before: FileState
    text: bytes  # of the new file
    path: Path  # of the new file


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is at a path and what is to be there; None = nothing.

    `origin` is what `disconnect` puts back, `moved` what `import-hooks --undo` does; `display_path` is the path
    as the user knows it. After a change that `keeps_ours`, the file still has something to be put back some day.
    """

    path: Path
    before: FileState
    after: FileState
    origin: FileState = None
    moved: MovedHooks | None = None
    keeps_ours: bool = False
    display_path: Path | None = None
    backed_up: bool = True  # `Backups` records what was there


def read_state(path: Path) -> FileState:
    """What is there; raises HooktrayError for what we do not edit."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _access_error(path, error) from error
    if stat.S_ISLNK(found.st_mode):
        return Link(os.readlink(path))  # noqa: PTH115 - the very text of it
    if not stat.S_ISREG(found.st_mode):
        raise HooktrayError(f"{path}: is not a file", hint="move it away and try again; nothing was written")
    if found.st_size > SIZE_LIMIT:
        raise HooktrayError(f"{path}: has {found.st_size} bytes, {SIZE_LIMIT} are the limit", hint="make it smaller")
    try:
        return File(text=user_file(path, SIZE_LIMIT), mode=stat.S_IMODE(found.st_mode))
    except OSError as error:
        raise _access_error(path, error) from error


def resolve_links(path: Path) -> Path:
    """Where a settings file really is: links are kept, and what they lead to is edited."""
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise HooktrayError(f"{path}: this link leads in a circle", hint="mend the link; nothing was written")
    if path.is_symlink() and not real.parent.is_dir():
        raise HooktrayError(
            f"{path}: leads to {real}, whose folder is not there", hint="mend the link; nothing was written"
        )
    return real


def check_writable(path: Path, found: FileState) -> None:
    """Raises HooktrayError for a file that its owner does not want written, or that we could not keep as it is."""
    if not isinstance(found, File):
        return
    if not found.mode & 0o222:
        raise HooktrayError(f"{path}: is read-only", hint="chmod u+w it first, if you want it changed")
    if sys.platform != "win32" and path.stat().st_nlink > 1:
        raise HooktrayError(
            f"{path}: has a second hard link, which would keep the old text", hint="make it a file of its own"
        )


def apply(changes: Sequence[FileChange]) -> None:
    """All of them or none, with the folders that they need."""
    done: list[FileChange] = []
    made: list[Path] = []
    try:
        for change in changes:
            check_writable(change.path, change.before)
            remove_drafts(change.path)
        for change in changes:
            made += _folders(change.path.parent)
            _replace(change.path, change.before, change.after)
            done.append(change)
    except BaseException as error:
        for change in reversed(done):
            with contextlib.suppress(OSError, HooktrayError):
                _replace(change.path, change.after, change.before)
        remove_folders(made)
        if isinstance(error, OSError):
            raise _write_error(changes[len(done)].path, error) from error
        raise


def remove_drafts(path: Path) -> None:
    """What a crash left of earlier attempts to write this file."""
    with contextlib.suppress(OSError):
        for one in path.parent.iterdir():
            if one.name.startswith(_draft_prefix(path)):
                one.unlink()


def _draft_prefix(path: Path) -> str:
    return f".{path.name}.hooktray-"


def remove_folders(folders: Sequence[Path]) -> None:
    """The innermost first; one that holds something stays."""
    for folder in sorted(folders, reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _folders(folder: Path) -> list[Path]:
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir()
    return missing


def _replace(path: Path, before: FileState, after: FileState) -> None:
    if after is None:
        _check_unchanged(path, before)
        path.unlink(missing_ok=True)
        return
    handle, name = tempfile.mkstemp(prefix=_draft_prefix(path), dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after.text if isinstance(after, File) else b"")
            file.flush()
            _copy_attributes(file.fileno(), path, before, after)
            os.fsync(file.fileno())
        if isinstance(after, Link):
            draft.unlink()
            draft.symlink_to(after.target)
        _check_unchanged(path, before)  # as late as can be
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def _check_unchanged(path: Path, before: FileState) -> None:
    if read_state(path) != before:
        raise HooktrayError(
            f"{path}: was changed by somebody else in the meantime; it was left as it is", hint="try again"
        )


def _copy_attributes(handle: int, path: Path, before: FileState, after: FileState) -> None:
    """The new file looks like the old one: mode, owner, extended attributes."""
    if sys.platform == "win32" or not isinstance(after, File):
        return
    if isinstance(before, File):
        old = path.stat()
        if (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
            os.fchown(handle, old.st_uid, old.st_gid)
        if sys.platform == "linux":
            for name in os.listxattr(path):
                with contextlib.suppress(OSError):  # the system's own, such as security labels
                    os.setxattr(handle, name, os.getxattr(path, name))
    os.fchmod(handle, after.mode)


def _write_error(path: Path, error: OSError) -> HooktrayError:
    why = error.strerror or str(error)
    remedies = {**dict.fromkeys(FULL, MAKE_ROOM), errno.EROFS: READ_ONLY}
    hint = remedies.get(error.errno or 0, "make the file and its folder writable for you")
    return HooktrayError(f"{path}: {why}; nothing was written", hint=hint)


def _access_error(path: Path, error: OSError) -> HooktrayError:
    why = error.strerror or str(error)
    return HooktrayError(f"{path}: {why}; nothing was written", hint="make it readable and writable for you")
