"""The count of rows that could not be written: in the database, or beside it while that cannot be written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tray.store.db import Database

SAVE = "INSERT INTO meta VALUES ('dropped', ?) ON CONFLICT (key) DO UPDATE SET value = value + excluded.value"
SAVE_FILE = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING"
LIMIT = 1 << 20  # bytes of the file


def count(database: Database) -> int:
    """All rows that were ever dropped."""
    with database.connect() as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'dropped'").fetchone()
    return (row["value"] if row else 0) + _file_count(_file(database))


def prepare(database: Database) -> None:
    """Have the file beside there, with a block of its own: a few more digits then fit on a disk that is full."""
    with contextlib.suppress(OSError):
        handle = os.open(_file(database), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if not os.fstat(handle).st_size:
                os.write(handle, b"\n")
        finally:
            os.close(handle)


def add(database: Database, number: int) -> None:
    """Note some more beside the database; several processes may do so at once."""
    with contextlib.suppress(OSError):
        handle = os.open(_file(database), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, f"{number}\n".encode())
        finally:
            os.close(handle)


def merge_file(database: Database) -> None:
    """Move the count beside the database into it."""
    file = _file(database)
    taken = file.with_name(file.name + ".taken")
    if not _file_count(file):
        return
    with contextlib.suppress(OSError):
        if not taken.exists():  # else an earlier try was cut short
            file.replace(taken)
        with database.write() as connection:
            key = f"dropped {taken.stat().st_mtime_ns}"  # counted once, also when the file could not be removed
            if connection.execute(SAVE_FILE, (key, 1)).rowcount:
                connection.execute("DELETE FROM meta WHERE key LIKE 'dropped %' AND key <> ?", (key,))
                connection.execute(SAVE, (_read(taken),))
        taken.unlink()
        prepare(database)


def _file_count(file: Path) -> int:
    return _read(file) + _read(file.with_name(file.name + ".taken"))


def _read(file: Path) -> int:
    try:
        with file.open("rb") as lines:
            return sum(int(word) for word in lines.read(LIMIT).split() if word.isdigit())
    except OSError:
        return 0


def _file(database: Database) -> Path:
    return database.path.with_name(database.path.name + ".lost")
