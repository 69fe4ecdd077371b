"""`--follow`: prints new rows as they arrive."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tray.cli.views import print_log_line
from tray.engine.log_rows import log_entry, log_row, row_filter
from tray.model.decision import Record
from tray.sources.configuration import file_stamp
from tray.store.journal import Journal

MAX_SHOWN = 1000  # rows that are known to have been shown
POLL_INTERVAL = 0.25  # seconds between two checks of the files; the database is read only when one has changed


def file_states(database: Path) -> tuple[object, object]:
    """Differs once the files of the database have changed."""
    return file_stamp(database), file_stamp(database.with_name(database.name + "-wal"))


def follow_journal(
    journal: Journal, database: Path, wanted: Mapping[str, object], limit: int, *, as_json: bool
) -> None:
    """Print the latest rows and then each new one, oldest first, until the user ends it."""
    fitting = row_filter(wanted)
    before = file_states(database)
    last = _newest(journal, "")
    shown: deque[str] = deque(maxlen=MAX_SHOWN)
    _show(journal.recent(limit, fitting), shown, as_json=as_json)
    while True:
        time.sleep(POLL_INTERVAL)
        if (now := file_states(database)) != before:
            before, after, last = now, last, _newest(journal, last)
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
