"""Keeps what was guarded when approvals were lost in the new database, until the user has reviewed the loss.

db.py notes the loss when it creates the tables; the tray adds what was guarded (engine/guards_in_force.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tray.model.hook import Failure, Guard
from tray.store.db import DAMAGE_KEY, LOST_KEY, Database

READ = "SELECT value FROM meta WHERE key = ?"
SAVE = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
NOTE_DAMAGE = "INSERT OR IGNORE INTO meta VALUES (?, '')"
FORGET = "DELETE FROM meta WHERE key = ?"


class LostGuards:
    """All methods raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def is_unreviewed(self) -> bool:
        """True if approvals were lost and the user has not reviewed the loss."""
        return self._row() is not None

    @property
    def is_noted(self) -> bool:
        """True if the database has what was guarded."""
        row = self._row()
        return row is not None and row[0] is not None

    def load(self) -> tuple[Guard, ...]:
        """Returns what was guarded; nothing if no approvals were lost."""
        row = self._row()
        return tuple(
            Guard(
                agent=agent, event=event, failure=Failure(failure), names=tuple(names), is_exception=is_exception,
                hooks=tuple(hooks),
            )
            for agent, event, failure, names, is_exception, hooks in json.loads(row[0] or "[]" if row else "[]")
        )  # fmt: skip

    def begin(self, guards: Iterable[Guard]) -> None:
        rows = [[one.agent, one.event, one.failure, one.names, one.is_exception, one.hooks] for one in guards]
        with self._database.write() as connection:
            connection.execute(NOTE_DAMAGE, (DAMAGE_KEY,))
            connection.execute(SAVE, (LOST_KEY, json.dumps(rows)))

    def forget(self) -> None:
        with self._database.write() as connection:
            connection.execute(FORGET, (LOST_KEY,))

    def _row(self) -> Sequence[str | None] | None:
        with self._database.connect() as connection:
            row: Sequence[str | None] | None = connection.execute(READ, (LOST_KEY,)).fetchone()
        return row
