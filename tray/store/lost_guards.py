"""What the relay's table guarded when the approvals were lost, kept in the new database until a person reviewed that.

db.py notes the loss when it creates the tables; the tray notes lost rows of the ledger (app/guards_in_force.py).
Only the tray and `connect` write what guards on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tray.lazy_dataclass import dataclass
from tray.model.hook import Failure, Guard
from tray.store.db import DAMAGE_KEY, LOST_KEY, Database

GUARDS_KEY = "lost.guards"
READ = "SELECT key, value FROM meta WHERE key IN (?, ?)"
BEGIN = "INSERT OR IGNORE INTO meta VALUES (?, ?)"
SAVE = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
FORGET = "DELETE FROM meta WHERE key IN (?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """`table` is the relay's table as it was at the first look; None before that."""

    table: str | None
    guards: tuple[Guard, ...] = ()  # that go on


class LostGuards:
    """All methods raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> Loss | None:
        """None when no approvals were lost, or a person has reviewed that."""
        with self._database.connect() as connection:
            rows = dict(tuple(row) for row in connection.execute(READ, (LOST_KEY, GUARDS_KEY)))
        if LOST_KEY not in rows:
            return None
        return Loss(table=rows[LOST_KEY], guards=tuple(map(_guard, json.loads(rows.get(GUARDS_KEY) or "[]"))))

    def begin(self, *, is_total: bool) -> None:
        """Note a loss that no person has reviewed; `is_total`: no approval is left, as when the database was lost."""
        rows = [(LOST_KEY, None), *([(DAMAGE_KEY, "")] if is_total else [])]
        with self._database.write() as connection:
            connection.executemany(BEGIN, rows)

    def save(self, loss: Loss) -> None:
        guards = [[one.agent, one.event, one.failure, one.names, one.is_exception, one.hooks] for one in loss.guards]
        with self._database.write() as connection:
            connection.executemany(SAVE, [(LOST_KEY, loss.table), (GUARDS_KEY, json.dumps(guards))])

    def forget(self) -> None:
        with self._database.write() as connection:
            connection.execute(FORGET, (LOST_KEY, GUARDS_KEY))


def _guard(row: Sequence[object]) -> Guard:
    agent, event, failure, names, is_exception, hooks = row
    assert isinstance(names, list)
    assert isinstance(hooks, list)
    return Guard(
        agent=str(agent),
        event=str(event),
        failure=Failure(str(failure)),
        names=tuple(map(str, names)),
        is_exception=bool(is_exception),
        hooks=tuple(map(str, hooks)),
    )
