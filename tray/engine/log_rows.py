"""What `hooktray log` shows of a decision: a row for programs, and its sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

import msgspec

from tray.engine.sentence import sentence
from tray.model.decision import Record, Verdict
from tray.store.journal import Journal, RowFilter


class LogRow(TypedDict):
    """A decision as `hooktray log --json` shows it."""

    id: str
    at: float
    agent: str
    session: str
    project: str
    event: str
    kind: str
    tool: str
    subject: str
    verdict: str
    reason: str
    ms: float
    rewrites: Sequence[str]
    hooks: Sequence[Mapping[str, object]]
    notes: Sequence[str]
    adjustments: Sequence[str]
    problem: str
    masked: int
    cwd: str
    ledger: int
    wait_ms: float
    hooks_ms: float
    offline: bool
    test: bool
    alerted: str


class LogEntry(TypedDict):
    """What a line of the log is made from."""

    row: LogRow
    label: str
    sentence: str


SENTENCE_LIMIT = 300  # characters
FILTERS = ("agent", "project", "session", "event", "label", "hook", "text")


def row_filter(wanted: Mapping[str, object]) -> RowFilter:
    """Of what a command wants: the verdict as a word, and a time or ""."""
    verdict, since = str(wanted["verdict"] or ""), wanted["since"]
    return RowFilter(
        **{name: str(wanted[name]) for name in FILTERS},
        verdict=Verdict[verdict.upper()] if verdict else None,
        since=float(str(since)) if since else None,
    )


def log_report(journal: Journal, limit: int, wanted: RowFilter) -> list[LogEntry]:
    """The latest rows that fit, newest first."""
    return [log_entry(record) for record in journal.recent(limit, wanted, brief=True)]


def log_entry(record: Record) -> LogEntry:
    return {"row": log_row(record), "label": record.label, "sentence": sentence(record, SENTENCE_LIMIT)}


def log_row(record: Record) -> LogRow:
    fields = msgspec.to_builtins(record)
    return cast("LogRow", {name: fields[name] for name in LogRow.__annotations__} | {"verdict": record.verdict.word})
