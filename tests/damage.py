"""Damage of a database that no process has open, made where a test wants it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def damage_table(path: Path, table: str) -> None:
    """The first page of this table (or index) holds nothing that SQLite could read; the others stay as they are."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
