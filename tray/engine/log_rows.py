"""What `hooktray log` shows of a decision: a row for programs, and its sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

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
    rewrites: list[str]
    hooks: list[dict[str, object]]
    notes: list[str]
    adjustments: list[str]
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
    return {
        "id": record.id,
        "at": record.at,
        "agent": record.agent,
        "session": record.session,
        "project": record.project,
        "event": record.event,
        "kind": record.kind,
        "tool": record.tool,
        "subject": record.subject,
        "verdict": record.verdict.word,
        "reason": record.reason,
        "ms": record.ms,
        "rewrites": list(record.rewrites),
        "hooks": [dict(hook) for hook in record.hooks],
        "notes": list(record.notes),
        "adjustments": list(record.adjustments),
        "problem": record.problem,
        "masked": record.masked,
        "cwd": record.cwd,
        "ledger": record.ledger,
        "wait_ms": record.wait_ms,
        "hooks_ms": record.hooks_ms,
        "offline": record.offline,
        "test": record.test,
        "alerted": record.alerted,
    }
