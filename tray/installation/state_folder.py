"""Holds the locks of the state folder, and finds what in it changed since the tray opened it.

Two locks keep a second tray out. The first is in the folder: only the tray that holds the lock of the folder at the
path goes on. The second is beside the folder (`state.lock`): it keeps a second tray out while the first tray makes a
deleted folder anew. If the second lock cannot be taken, or is deleted too, the first lock decides.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sqlite3
import sys
from pathlib import Path

from tray.file_lock import FileLock
from tray.files import Identity, identity
from tray.paths import Paths, unwritable_error
from tray.store.db import Database

LOCK = "lock"
CLAIM_ATTEMPTS = 20  # folders that may vanish while their lock is taken
LOCK_TIMEOUT = 0.2  # seconds; a lock file that is deleted while it is locked looks taken for a moment
NO_FILE: Identity = (0, 0)  # of a part that was deleted at once; no file has this identity
DELETED_SUFFIX = " (deleted)"  # what Linux adds to the path of an open folder


class StatePart(enum.Enum):
    """What is watched."""

    FOLDER = enum.auto()
    LOCK = enum.auto()
    DATABASE = enum.auto()
    COPIES = enum.auto()
    SOCKET = enum.auto()


# Held open, because the number of an open inode is not given to a new one. O_PATH opens no file: closing such a
# descriptor drops none of SQLite's locks on the database.
HELD = (StatePart.FOLDER, StatePart.COPIES, StatePart.DATABASE)


class AnotherTrayError(Exception):
    """Another tray holds the lock of the folder that is at the path now."""


class StateFolder:
    """Used by one thread at a time."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.outer_lock = paths.state.with_name(f"{paths.state.name}.lock")
        self._places = {
            StatePart.FOLDER: paths.state,
            StatePart.LOCK: paths.state / LOCK,
            StatePart.DATABASE: paths.database,
            StatePart.COPIES: paths.copies,
            StatePart.SOCKET: paths.socket,
        }
        self._identities: dict[StatePart, Identity] = {}
        self._locks: dict[Path, FileLock] = {}
        self._open: dict[StatePart, int] = {}
        self._connection: sqlite3.Connection | None = None  # to the database, for as long as it counts

    def claim(self) -> None:
        """Make the folder where it is missing, and take its locks; raises AnotherTrayError and HooktrayError."""
        with contextlib.suppress(OSError):
            self.outer_lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock(self.outer_lock, required=False)
            for _ in range(CLAIM_ATTEMPTS):
                self._paths.prepare()
                with contextlib.suppress(FileNotFoundError):  # the folder was deleted just now
                    if self._lock(self._places[StatePart.LOCK]):
                        self.remember(StatePart.LOCK)
                        return
        except OSError as error:
            raise unwritable_error(self._paths.state, error) from error
        raise unwritable_error(self._paths.state, FileNotFoundError("it is deleted again and again"))

    def release(self) -> None:
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()
        for part in HELD:
            self._close(part)
        self._let_go()

    def remember(self, *parts: StatePart) -> None:
        """Remember these parts as the tray's own, as they are at their paths now."""
        for part in parts:
            if part in HELD:
                self._close(part)
                if sys.platform == "linux":  # elsewhere numbers are not used again soon
                    with contextlib.suppress(OSError):
                        self._open[part] = os.open(self._places[part], os.O_PATH | os.O_NOFOLLOW)
            self._identities[part] = identity(self._places[part]) or NO_FILE

    def hold(self, database: Database) -> None:
        """From here on only this database counts. Call it before the first answer."""
        self.remember(StatePart.FOLDER, StatePart.DATABASE, StatePart.COPIES)
        database.file = self._identities[StatePart.DATABASE]
        if sys.platform != "win32":  # which could not set the file aside then
            self._let_go()
            with contextlib.suppress(sqlite3.Error):  # every other connection meets the same
                self._connection = database.hold_open()

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def remember_socket(self, found: Identity | None) -> None:
        """Remember the socket that the tray has bound; by now another file may be at its path."""
        self._identities[StatePart.SOCKET] = found or identity(self._places[StatePart.SOCKET]) or NO_FILE

    def changed(self) -> frozenset[StatePart]:
        """Returns the parts that are no longer at their paths.

        Windows does not let a program delete or move an open file; the database is not always open.
        """
        known = self._identities.items()
        found = frozenset(part for part, file in known if identity(self._places[part]) != file)
        return found & {StatePart.DATABASE} if sys.platform == "win32" else found

    def current_path(self) -> str:
        """Returns where the opened folder is now; "" if it was deleted, or the system does not show it."""
        if StatePart.FOLDER not in self._open:
            return ""
        try:
            path = os.readlink(f"/proc/self/fd/{self._open[StatePart.FOLDER]}")  # noqa: PTH115 - the suffix is not a path
        except OSError:
            return ""
        if path.endswith(DELETED_SUFFIX) and identity(path) != self._identities.get(StatePart.FOLDER):
            return ""
        return path

    def _lock(self, path: Path, *, required: bool = True) -> bool:
        """True if this tray has the lock of the file at the path, which may be deleted while the tray takes it."""
        current = self._locks.get(path)
        if current is not None and _is_at_its_path(current, path):
            return True
        lock = FileLock(path)
        try:
            if not lock.acquire(LOCK_TIMEOUT):
                raise AnotherTrayError
        except OSError:
            if required:
                raise
            return False
        if not _is_at_its_path(lock, path):
            lock.release()
            return False
        if current is not None:
            current.release()
        self._locks[path] = lock
        return True

    def _close(self, part: StatePart) -> None:
        if part in self._open:
            os.close(self._open.pop(part))


def _is_at_its_path(lock: FileLock, path: Path) -> bool:
    """Windows does not let a program delete or move an open file."""
    return lock.locked_file is not None and (sys.platform == "win32" or lock.locked_file == identity(path))
