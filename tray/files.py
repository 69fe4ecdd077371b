"""Files as bytes and by identity, with few system calls: an answer waits for them."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
from pathlib import Path

CHUNK = 64 * 1024
# A pipe in the place of a file reads as empty instead of waiting for a writer.
FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
LIMIT = 16 * 1024 * 1024  # bytes at most of a file that people or other programs write
ROW_SPACE = 128 * 1024  # bytes on the disk below which SQLite may be unable to write a row


Identity = tuple[int, int]  # device and inode


def identity(path: str | os.PathLike[str]) -> Identity | None:
    """Which file, folder or socket is at the path; None when nothing is, or nothing that we may look at."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def content(path: str, limit: int = sys.maxsize) -> bytes:
    """All of it, up to `limit`; OSError as from open(). Path.read_bytes makes twice as many system calls."""
    opened = os.open(path, FLAGS)
    try:
        pieces = []
        while piece := os.read(opened, min(CHUNK, limit)):
            pieces.append(piece)
            limit -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(opened)


def user_file(path: str | os.PathLike[str], limit: int = LIMIT) -> bytes:
    """Returns the content of a file that is not ours. Raises OSError, also if it is not a regular file or too large.

    So a pipe in its place cannot block a command, and a device cannot fill the memory.
    """
    text = file_head(path, limit if limit == sys.maxsize else limit + 1)
    if len(text) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} bytes", os.fspath(path))
    return text


def sync_folder(folder: Path) -> None:
    """Has the names in the folder on the disk, so that a power failure keeps a file that was just put there."""
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot
            raise
    finally:
        os.close(opened)


def write_private(path: Path, text: bytes) -> None:
    """Writes a private file atomically; the bytes are on the disk when it returns. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)  # otherwise a power failure may leave the old file
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def is_disk_full(folder: Path) -> bool:
    """True if there may be no room for a row of the database."""
    try:
        return shutil.disk_usage(folder).free < ROW_SPACE
    except OSError:
        return False


def file_head(path: str | os.PathLike[str], size: int) -> bytes:
    """Returns the first bytes of a file. Raises OSError, also if it is not a regular file."""
    mode = os.stat(path).st_mode  # noqa: PTH116 - many callers have a text
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a file", os.fspath(path))
    return content(os.fspath(path), size)
