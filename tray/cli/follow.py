"""`--follow`: what comes in, as it comes in."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from tray.cli.views import print_log_line
from tray.engine.log_rows import log_entry, log_row, row_filter
from tray.model.decision import Record
from tray.sources.configuration import file_stamp
from tray.store.journal import Journal

MAX_SHOWN = 1000  # rows that are known to have been shown
POLL_INTERVAL = 0.25  # seconds between two checks of the files; the database is read only when one has changed


def changes(database: Path) -> Iterator[None]:
    """Yield at once, and again whenever the files of the database have changed."""
    files = database, database.with_name(database.name + "-wal")
    before: list[object] = []
    while True:
        if (now := [file_stamp(file) for file in files]) != before:
            before = now
            yield
        time.sleep(POLL_INTERVAL)


def follow_journal(
    journal: Journal, database: Path, wanted: Mapping[str, object], limit: int, *, as_json: bool
) -> None:
    """Print the latest rows and then each new one, oldest first, until the user ends it."""
    fitting = row_filter(wanted)
    changed = changes(database)
    next(changed)  # first, or a change between the two is never shown
    last = _newest(journal, "")
    shown: deque[str] = deque(maxlen=MAX_SHOWN)
    _show(journal.recent(limit, fitting), shown, as_json=as_json)
    for _ in changed:
        after, last = last, _newest(journal, last)
        _show(list(journal.iterate(replace(fitting, after=after))), shown, as_json=as_json)


def _newest(journal: Journal, otherwise: str) -> str:
    return next((record.id for record in journal.recent(1)), otherwise)


def _show(records: list[Record], shown: deque[str], *, as_json: bool) -> None:
    """A row that came in during the query is returned twice."""
    for record in reversed(records):
        if record.id in shown:
            continue
        shown.append(record.id)
        if as_json:
            print(json.dumps(log_row(record), ensure_ascii=False), flush=True)
        else:
            print_log_line(log_entry(record))
