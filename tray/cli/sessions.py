"""`hooktray sessions`: which sessions wait for you, work or are done. It works whether the tray runs or not."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Annotated, TypedDict

from tray.cli.command_line import Json, Option
from tray.cli.follow import POLL_INTERVAL, file_states
from tray.cli.views import clock, table
from tray.errors import StoreError
from tray.model.place import place_label
from tray.model.session import by_urgency
from tray.paths import Paths
from tray.store.db import open_db
from tray.store.sessions import SessionRows


class SessionRow(TypedDict):
    """What `hooktray sessions --json` shows."""

    session: str
    agent: str
    machine: str
    project: str
    name: str
    state: str
    since: float
    place: str
    usage_limit: str


def show_sessions(
    paths: Paths,
    as_json: Json = False,
    follow: Annotated[bool, Option("--follow", "-f", help="Go on with each session that changes.")] = False,
) -> None:
    paths.prepare()
    rows = SessionRows(open_db(paths.database))
    if follow:
        _follow(rows, paths.database, as_json=as_json)
    shown = session_rows(rows)
    if as_json:
        for row in shown:
            _print(row, as_json=as_json)
    elif shown:
        heads = ("SESSION", "STATE", "SINCE", "AGENT", "PROJECT", "NAME", "PLACE", "USAGE LIMIT")
        limited = any(row["usage_limit"] for row in shown)  # most days have none, and a column takes room
        table(heads if limited else heads[:-1], [_cells(row)[: None if limited else -1] for row in shown])
    else:
        print("No session yet. One appears here with the first event of an agent that is connected.")


def _follow(rows: SessionRows, database: Path, *, as_json: bool) -> None:
    """Print each row, then each one that changes, until the user ends the command."""
    before = file_states(database)  # first, or a change between the two is never shown
    shown = session_rows(rows)
    for row in shown:
        _print(row, as_json=as_json)
    while True:
        time.sleep(POLL_INTERVAL)
        if (now := file_states(database)) != before:
            with contextlib.suppress(StoreError):  # it is being made anew
                found = session_rows(rows)
                for row in found:
                    if row not in shown:
                        _print(row, as_json=as_json)
                before, shown = now, found


def session_rows(rows: SessionRows) -> list[SessionRow]:
    """What waits for its user comes first."""
    return [
        {
            "session": one.session,
            "agent": one.agent,
            "machine": one.machine,
            "project": one.project,
            "name": one.name,
            "state": one.state.value,
            "since": one.since,
            "place": place_label(one.place),
            "usage_limit": one.usage_limit,
        }
        for one in sorted(rows.all(), key=by_urgency)
    ]


def _print(row: SessionRow, *, as_json: bool) -> None:
    print(json.dumps(row, ensure_ascii=False) if as_json else "  ".join(filter(None, _cells(row))), flush=True)


def _cells(row: SessionRow) -> tuple[str, ...]:
    names = (row["agent"], row["project"], row["name"], row["place"], row["usage_limit"])
    return row["session"][:12], row["state"], clock(row["since"]), *names
