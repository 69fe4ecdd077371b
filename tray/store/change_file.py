"""A file that grows by a byte with each change: its stamp shows whether anybody changed something."""

from __future__ import annotations

import errno
import logging
import os
import stat
import threading
import time
from pathlib import Path

LIMIT = 1 << 20  # bytes; then it begins anew
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # whatever is there delays no caller
NO_STAMP = (0, 0, 0)

Stamp = tuple[int, int, int]  # inode, bytes, nanoseconds of the last change

log = logging.getLogger(__name__)


class ChangeFile:
    """All methods may be called from any thread and raise nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: _File | None = None
        self._opening = threading.Lock()

    def stamp(self) -> Stamp:
        """Another one after each change. The file stays open: to walk down its path takes 40 µs of an event."""
        try:
            file = self._file or self._open()
            status = os.fstat(file.number)
            if not status.st_nlink:  # taken away: the next change makes another one
                status = os.fstat(self._open().number)
        except OSError:  # a link, or a disk that is full or only to be read
            try:
                status = self._path.lstat()
            except OSError:
                return NO_STAMP
        return (status.st_ino, status.st_size, status.st_mtime_ns)

    def mark_changed(self) -> None:
        """Best effort: where there is no room for a byte, or no file, its time shows the change."""
        try:
            file = _File(self._path, os.O_WRONLY | os.O_APPEND)
            status = os.fstat(file.number)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a file")
            if is_large := status.st_size >= LIMIT:
                os.ftruncate(file.number, 0)
            os.write(file.number, b".")
            if is_large:  # so may it have been for another one, which leaves it with the same size
                _touch(file.number)
        except OSError:
            try:
                _touch(self._path)
            except OSError as error:
                log.warning("%s: other processes do not see what was changed now: %s", self._path, error)

    def _open(self) -> _File:
        with self._opening:
            self._file = _File(self._path, os.O_RDWR)  # an overlay shows a reader the file of before
            return self._file


class _File:
    """Open as long as a thread has it: another one may be looking at it when a new one takes its place."""

    number = -1

    def __init__(self, path: Path, mode: int) -> None:
        self.number = os.open(path, mode | os.O_CREAT | SAFE_FLAGS, 0o600)

    def __del__(self) -> None:
        if self.number >= 0:
            os.close(self.number)


def _touch(path: Path | int) -> None:
    now = time.time_ns()  # the kernel's own clock for files is milliseconds late
    if isinstance(path, int) or os.utime not in os.supports_follow_symlinks:
        os.utime(path, ns=(now, now))
    else:
        os.utime(path, ns=(now, now), follow_symlinks=False)
