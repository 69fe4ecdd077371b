"""A lock among processes: of a file, which is made where it is missing and stays when the lock is released."""

from __future__ import annotations

import os
import sys
import time

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

POLL_INTERVAL = 0.05  # seconds from one attempt to the next
# O_TRUNC: to who watches the file, each attempt is a change.
FLAGS = os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)


class FileLock:
    """Held until it is released or its process ends. Two locks of one file exclude each other in one process, too."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, timeout: float) -> bool:
        """Whether it is ours within so many seconds; OSError when the file cannot be opened or locked at all."""
        until = time.monotonic() + timeout
        while not self._acquire_now():
            if time.monotonic() >= until:
                return False
            time.sleep(POLL_INTERVAL)
        return True

    def release(self) -> None:
        """Closing the file ends the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def locked_file(self) -> tuple[int, int] | None:
        """Device and inode of the file that is locked, which may have been deleted meanwhile; None while none is."""
        if self._descriptor is None:
            return None
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino

    def _acquire_now(self) -> bool:
        opened = os.open(self._path, FLAGS, 0o600)
        try:
            _lock(opened)
        except (BlockingIOError, PermissionError):  # another has it: on Linux and macOS, on Windows
            os.close(opened)
            return False
        except BaseException:
            os.close(opened)
            raise
        self._descriptor = opened
        return True


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
