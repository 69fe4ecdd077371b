"""A connection that stays open, so that the database can be saved after its file was deleted or moved.

SQLite goes on reading a deleted file through a connection that has it open. Closing such a connection touches nothing
at the old path: SQLite looks whether its file is still there before it removes a journal.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from tray.files import Identity, identity
from tray.store.db import Database

COPY_SECONDS = 30.0  # that other programs may hold up the copy
WAL_SUFFIXES = ("-wal", "-shm")
TABLES = "SELECT count(*) FROM sqlite_master"
VERSION = "SELECT coalesce(max(seq), 0) + 0 * (SELECT count(*) FROM journal) FROM ledger"
COUNT = "SELECT (SELECT count(*) FROM ledger) + (SELECT count(*) FROM journal)"


class RescueConnection:
    """All methods may be called from any thread; they raise sqlite3.Error and OSError."""

    def __init__(self, database: Database) -> None:
        self._path = database.path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._wal_files: dict[Path, Identity] = {}
        self._data_version = 0

    def open(self) -> None:
        """Hold the file that is at the path now."""
        self.close()
        connection = _connect(self._path, "rw")
        try:
            connection.execute(TABLES).fetchall()  # which opens the write-ahead log, too
        except BaseException:
            connection.close()
            raise
        paths = (self._path.with_name(self._path.name + suffix) for suffix in WAL_SUFFIXES)
        with self._lock:
            self._connection = connection
            self._wal_files = {path: file for path in paths if (file := identity(path))}

    def ledger_version(self) -> int | None:
        """The last row of the ledger that can still be read, 0 without one; None when nothing can be read."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if self._connection is not None:
                return int(self._connection.execute(VERSION).fetchone()[0])
        return None

    def has_changed(self) -> bool:
        """Whether anybody wrote to the database since the last call."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if self._connection is not None:
                before = self._data_version
                self._data_version = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
                return self._data_version != before
        return False

    def save(self) -> int:
        """Write what is held to the path, as one transaction; returns how many decisions are in it."""
        with self._lock:
            if self._connection is None:
                raise sqlite3.OperationalError("the old database was not open")
            self._remove_our_leftovers()
            create(self._path)
            until = time.monotonic() + COPY_SECONDS
            try:
                with closing(_connect(self._path, "rw")) as target:
                    self._connection.backup(target, progress=lambda *_: _check_deadline(until))
                    target.execute("PRAGMA journal_mode = WAL")
            except sqlite3.Error:
                _remove_empty(self._path)
                raise
            return int(self._connection.execute("SELECT count(*) FROM journal").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _remove_our_leftovers(self) -> None:
        """Remove the write-ahead log of the deleted file: SQLite would take it for the log of the new one."""
        for path, file in self._wal_files.items():
            if identity(self._path) is None and identity(path) == file:
                path.unlink()


def create(path: Path) -> None:
    """An empty file for us only, unless there is one."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _remove_empty(path: Path) -> None:
    """Remove an empty file: other programs would take it for a database that is just being made."""
    with contextlib.suppress(OSError):
        if path.lstat().st_size == 0:
            path.unlink()


def has_content(path: Path) -> bool:
    """Whether the database at the path has a decision or an approval, or cannot be read."""
    try:
        with closing(_connect(path, "rw")) as connection:
            return bool(connection.execute(TABLES).fetchone()[0] and connection.execute(COUNT).fetchone()[0])
    except (sqlite3.Error, UnicodeDecodeError):
        return path.exists() and path.lstat().st_size > 0


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _check_deadline(until: float) -> None:
    if time.monotonic() > until:
        raise sqlite3.OperationalError("another program holds the new database")
