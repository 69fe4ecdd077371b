"""One decision in full: for programs, and as a report that a person reads from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tray.approvals.remedies import remedy
from tray.cli.views import clock
from tray.engine.log_rows import log_row
from tray.engine.sentence import SKIP_TEXTS, sentence
from tray.model.decision import Record
from tray.text import printable

ALERTS = {"": "none was due", "sent": "sent", "held": "held back", "failed": "it could not be shown"}
FIELD_LABELS = {"reason": "said", "context": "told the agent besides", "rewrites": "rewrote the", "stderr": "printed"}


def why_row(record: Record) -> dict[str, object]:
    """Everything that the journal holds of it."""
    return {
        **log_row(record),
        "payload": record.payload,
        "digest": record.digest,
        "masks": [dict(mask) for mask in record.masks],
        "answer": dict(record.answer),
    }


def report(record: Record) -> str:
    """The event, the hooks that ran, their results, and the agent's answer."""
    return printable("\n".join(_lines(record)), 200_000)


def _lines(record: Record) -> Iterator[str]:
    yield sentence(record)
    yield f"{record.agent} · {record.event} ({record.kind}) · {record.project or 'no project'} · {clock(record.at)}"
    offline = ", answered without the tray" if record.offline else ""
    yield f"Decision {record.id}, session {record.session or 'unknown'}{offline}{', a test' if record.test else ''}"
    reason = SKIP_TEXTS[record.skip_reason].format(agent=record.agent) if record.skip_reason else record.reason
    yield f"Verdict: {record.verdict.word}" + (f", because {reason}" if reason else "")
    if record.via_agent:
        yield f"It ran the hooks that Hooktray wrote for {record.via_agent}."
    yield f"Time: {record.ms:.1f} ms; its hooks waited {record.wait_ms:.1f} and took {record.hooks_ms:.1f}"
    if record.problem:
        yield f"Problem: {record.problem}"
    yield f"Hooks, by the approvals up to number {record.ledger}:" if record.hooks else "No hook was asked."
    for hook in record.hooks:
        yield from _hook(hook)
    if record.rewrites:
        yield f"Rewritten: {', '.join(record.rewrites)}"
    yield from (f"Note for you: {note}" for note in record.notes)
    yield from (f"Made to fit: {adjustment}" for adjustment in record.adjustments)
    answer = str(record.answer.get("stdout") or record.answer.get("stderr") or "").strip()
    yield f"The agent was told: {answer or 'nothing'} (exit {record.answer.get('code', 0)})"
    yield f"Alert: {ALERTS.get(record.alerted, record.alerted)}"
    yield f"What came in (SHA-256 {record.digest[:12]}), in {record.cwd or 'an unknown folder'}:"
    yield f"  {record.payload.strip()}"
    yield from (f"Masked: {mask['place']}, {mask['kind']} {mask['fingerprint']}" for mask in record.masks)


def _hook(hook: Mapping[str, object]) -> Iterator[str]:
    if hook["status"] == "skipped":
        yield f"  {hook['name']}: not asked, because {hook.get('cause') or hook.get('gate')}"
        return
    yield f"  {hook['name']}: {str(hook['status']).replace('_', ' ')}, {hook['verdict']}, {hook['ms']:.1f} ms"
    if hook.get("cause"):
        yield f"    {hook['cause']}"
        if not hook.get("gate") and (advice := remedy(str(hook["cause"]), str(hook["name"]))):
            yield f"    {advice}"
    for key, label in FIELD_LABELS.items():
        if hook.get(key) and hook[key] != hook.get("cause"):
            yield f"    {label}: {str(hook[key]).strip()}"
