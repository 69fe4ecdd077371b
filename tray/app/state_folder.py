"""The state folder that this tray holds: its locks, and whether everything in it is still what the tray opened.

Two locks keep a second tray out. The first is in the folder: only the tray that holds the lock of the folder at the
path goes on. The second is beside the folder (`state.lock`): it keeps a second tray out while the first tray makes a
deleted folder anew. If the second lock cannot be taken, or is deleted too, the first lock decides.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from tray.files import Identity, identity
from tray.paths import Paths, unwritable

LOCK = "lock"
TRIES = 20  # folders that may vanish while their lock is taken
PATIENCE = 0.2  # seconds; a lock file that was deleted under its taker looks taken for a moment
NOTHING: Identity = (0, 0)  # of a part that was deleted at once; no file has this identity
GONE = " (deleted)"  # what Linux adds to the path of an open folder


class Part(enum.Enum):
    """What is watched."""

    FOLDER = enum.auto()
    LOCK = enum.auto()
    DATABASE = enum.auto()
    COPIES = enum.auto()
    SOCKET = enum.auto()


FOLDERS = (Part.FOLDER, Part.COPIES)


class AnotherTrayError(Exception):
    """Another tray holds the lock of the folder that is at the path now."""


class StateFolder:
    """Used by one thread at a time."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.beside = paths.state.with_name(f"{paths.state.name}.lock")
        self._places = {
            Part.FOLDER: paths.state,
            Part.LOCK: paths.state / LOCK,
            Part.DATABASE: paths.database,
            Part.COPIES: paths.copies,
            Part.SOCKET: paths.socket,
        }
        self._known: dict[Part, Identity] = {}
        self._locks: dict[Path, FileLock] = {}
        self._open: dict[Part, int] = {}  # descriptors: the number of an open inode is not given to a new one

    def claim(self) -> None:
        """Make the folder where it is missing, and take its locks; raises AnotherTrayError and HooktrayError."""
        with contextlib.suppress(OSError):
            self.beside.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock(self.beside, required=False)
            for _ in range(TRIES):
                self._paths.prepare()
                with contextlib.suppress(FileNotFoundError):  # the folder was deleted just now
                    if self._lock(self._places[Part.LOCK]):
                        self.took(Part.LOCK)
                        return
        except OSError as error:
            raise unwritable(self._paths.state, error) from error
        raise unwritable(self._paths.state, FileNotFoundError("it is deleted again and again"))

    def release(self) -> None:
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()
        for part in FOLDERS:
            self._close(part)

    def took(self, *parts: Part) -> None:
        """Remember these parts as ours, as they are at their paths now."""
        for part in parts:
            if part in FOLDERS:
                self._hold(part)
            self._known[part] = identity(self._places[part]) or NOTHING

    def changed(self) -> frozenset[Part]:
        """The parts that are no longer at their paths. Windows does not let a program delete or move an open file."""
        if sys.platform == "win32":
            return frozenset()
        return frozenset(part for part, known in self._known.items() if identity(self._places[part]) != known)

    def whereabouts(self) -> str:
        """Where the folder that we opened is now; "" when it was deleted, or the system does not say."""
        if Part.FOLDER not in self._open:
            return ""
        try:
            path = os.readlink(f"/proc/self/fd/{self._open[Part.FOLDER]}")  # noqa: PTH115 - it may end with GONE
        except OSError:
            return ""
        return "" if path.endswith(GONE) and identity(path) != self._known.get(Part.FOLDER) else path

    @property
    def old(self) -> Path | None:
        """The folder that we opened, wherever it is now; None when it was deleted."""
        return Path(f"/proc/self/fd/{self._open[Part.FOLDER]}") if self.whereabouts() else None

    def _lock(self, path: Path, *, required: bool = True) -> bool:
        """Whether the lock of the file at the path is ours now. It may have been deleted while we took it."""
        held = self._locks.get(path)
        if held is not None and _is_at_its_path(held, path):
            return True
        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=PATIENCE, poll_interval=PATIENCE / 4)
        except Timeout:
            raise AnotherTrayError from None
        except OSError:
            if required:
                raise
            return False
        if not _is_at_its_path(lock, path):
            lock.release()
            return False
        if held is not None:
            held.release()
        self._locks[path] = lock
        return True

    def _hold(self, part: Part) -> None:
        self._close(part)
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                self._open[part] = os.open(self._places[part], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

    def _close(self, part: Part) -> None:
        if part in self._open:
            os.close(self._open.pop(part))


def _is_at_its_path(lock: FileLock, path: Path) -> bool:
    descriptor = lock._context.lock_file_fd
    if sys.platform == "win32" or descriptor is None:
        return lock.is_locked
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == identity(path)
