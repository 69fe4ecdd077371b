"""The journal as a file for other programs: JSON Lines or CSV. A spreadsheet executes nothing in it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import TextIO

from tray.cli.why import why_row
from tray.model.decision import Record
from tray.text import printable

FORMATS = ("jsonl", "csv")
FORMULA_STARTS = tuple("=+-@|%\t\r\n\uff1d\uff0b\uff0d\uff20")  # of formulas; some spreadsheets take wide signs
COLUMNS = (
    "id", "at", "agent", "session", "project", "cwd", "event", "kind", "tool", "subject", "verdict", "reason",
    "ms", "wait_ms", "hooks_ms", "rewrites", "hooks", "notes", "adjustments", "problem", "payload", "digest",
    "masked", "masks", "answer", "ledger", "offline", "test", "alerted",
)  # fmt: skip
MAX_CELL = 32_000  # characters; spreadsheets cut a longer one


def write(records: Iterable[Record], form: str, out: TextIO) -> int:
    """Returns how many rows there were."""
    number = 0
    table = csv.writer(out)
    if form == "csv":
        table.writerow(COLUMNS)
    for record in records:
        row = why_row(record)
        if form == "csv":
            table.writerow([cell(row[name]) for name in COLUMNS])
        else:  # in ASCII: a terminal obeys nothing of that
            out.write(json.dumps({name: row[name] for name in COLUMNS}) + "\n")
        number += 1
    return number


def cell(value: object) -> object:
    """One cell of a table: a number, or text that is not a formula."""
    if isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = printable(text[:MAX_CELL], MAX_CELL)
    return f"'{plain}" if plain.lstrip(" ").startswith(FORMULA_STARTS) else plain
