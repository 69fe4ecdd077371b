"""The sessions that people see: what each does and where it runs. The tray writes them, and commands read them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from tray.model.place import place_fields, place_from_fields
from tray.model.session import Session, SessionState
from tray.store.db import Database

UPSERT = (
    "INSERT INTO session VALUES"
    " (:agent, :session, :project, :name, :state, :since, :machine, :ended, :place, :usage_limit)"
    " ON CONFLICT (agent, session) DO UPDATE SET project = excluded.project, name = excluded.name,"
    " state = excluded.state, since = excluded.since, machine = excluded.machine,"
    " ended = excluded.ended, place = excluded.place, usage_limit = excluded.usage_limit"
)


class SessionRows:
    """One thread of the tray writes. All methods raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[Session, ...]:
        with self._database.connect() as connection:
            found = connection.execute("SELECT * FROM session").fetchall()
        return tuple(_session(row) for row in found)

    def put(self, session: Session) -> None:
        with self._database.write() as connection:
            connection.execute(UPSERT, _values(session))

    def remove(self, sessions: Iterable[Session]) -> None:
        keys = [(one.agent, one.session) for one in sessions]
        with self._database.write() as connection:
            connection.executemany("DELETE FROM session WHERE agent = ? AND session = ?", keys)


def _values(one: Session) -> dict[str, object]:
    names = ("agent", "session", "project", "name", "since", "machine", "ended", "usage_limit")
    place = json.dumps(place_fields(one.place))
    return {name: getattr(one, name) for name in names} | {"state": one.state.value, "place": place}


def _session(row: sqlite3.Row) -> Session:
    try:
        place = json.loads(row["place"])
        state = SessionState(row["state"])
    except ValueError:
        place, state = {}, SessionState.DONE
    return Session(
        agent=row["agent"],
        session=row["session"],
        project=row["project"],
        name=row["name"],
        state=state,
        since=row["since"],
        machine=row["machine"],
        ended=bool(row["ended"]),
        usage_limit=row["usage_limit"],
        place=place_from_fields(place if isinstance(place, dict) else {}),
    )
