"""The count of rows that could not be written: in the database, or beside it while that cannot be written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tray.store.db import Database

SAVE = "INSERT INTO meta VALUES ('dropped', ?) ON CONFLICT (key) DO UPDATE SET value = value + excluded.value"
LIMIT = 1 << 20  # bytes of the file


def count(database: Database) -> int:
    """All rows that were ever dropped."""
    with database.connect() as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'dropped'").fetchone()
    file, taken = _files(database)
    return (row["value"] if row else 0) + _read(file) + _read(taken)


def add(database: Database, number: int | str) -> None:
    """Note some more beside the database; several processes may do so at once."""
    with contextlib.suppress(OSError):
        handle = os.open(_files(database)[0], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, f"{number}\n".encode())
        finally:
            os.close(handle)


def merge_file(database: Database) -> None:
    """Move the count beside the database into it."""
    file, taken = _files(database)
    if not _read(file) + _read(taken):
        return
    with contextlib.suppress(OSError):
        if not taken.exists():  # else an earlier attempt was cut short
            file.replace(taken)
        with database.write() as connection:
            connection.execute(SAVE, (_read(taken),))
        taken.unlink()
    prepare(database)


def prepare(database: Database) -> None:
    """Creates a file that has a block of its own, so that a few more digits fit on a full disk."""
    if not _files(database)[0].exists():
        add(database, "")


def _read(file: Path) -> int:
    try:
        with file.open("rb") as lines:
            return sum(int(word) for word in lines.read(LIMIT).split() if word.isdigit())
    except OSError:
        return 0


def _files(database: Database) -> tuple[Path, Path]:
    """Returns the file, and the one whose count is being added."""
    name = database.path.name
    return database.path.with_name(f"{name}.lost"), database.path.with_name(f"{name}.lost.taken")
