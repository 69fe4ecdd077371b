"""`hooktray log --follow`: what comes in, as it comes in."""

from __future__ import annotations

import json
import time
from collections import deque
from pathlib import Path
from typing import Any

from tray.cli.views import log_line, log_row
from tray.model.decision import Record
from tray.sources.configuration import sign
from tray.store.journal import Journal

KNOWN = 1000  # rows that are known to have been shown
LOOK = 0.25  # seconds between two looks at the files' signs; the database is asked only when one has changed


def follow(journal: Journal, database: Path, wanted: dict[str, Any], limit: int, *, as_json: bool) -> None:
    """The latest rows and then each new one, oldest first, until somebody ends it."""
    seen = _signs(database)
    last = _newest(journal, "")
    shown: deque[str] = deque(maxlen=KNOWN)
    _show(journal.recent(limit, **wanted), shown, as_json=as_json)
    while True:
        time.sleep(LOOK)
        now = _signs(database)
        if now == seen:
            continue
        seen, before, last = now, last, _newest(journal, last)
        _show(list(journal.each(after=before, **wanted)), shown, as_json=as_json)


def _newest(journal: Journal, otherwise: str) -> str:
    return next((record.id for record in journal.recent(1)), otherwise)


def _signs(database: Path) -> tuple[object, object]:
    return sign(database), sign(database.with_name(database.name + "-wal"))


def _show(records: list[Record], shown: deque[str], *, as_json: bool) -> None:
    """What came in while it was asked for comes twice."""
    for record in reversed(records):
        if record.id in shown:
            continue
        shown.append(record.id)
        row = log_row(record)
        print(json.dumps(row, ensure_ascii=False) if as_json else log_line(row), flush=True)
