"""The account of one event for the journal: redacted, bounded, with what was masked; and a line on why."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from tray.model.decision import Answer, Decision, Outcome, Record
from tray.model.event import Event
from tray.text import printable, redact, sanitise

PAYLOAD = 64 * 1024  # characters of a payload that are kept
NAME = 200  # characters of a name
TEXT = 4000  # characters of a reason, a note or an error output


def account(event: Event, decision: Decision, answer: Answer, *, at: float, ms: float, offline: bool) -> Record:
    """One row: what came in, what the hooks said, what the agent was told."""
    payload, masked = _payload(event.body)
    return Record(
        id=event.id,
        at=at,
        agent=_name(event.agent),
        session=_name(event.session),
        project=_name(event.project),
        event=_name(event.name),
        kind=event.kind.value,
        verdict=decision.verdict,
        reason=_text(_reason(decision)),
        ms=round(ms, 3),
        hooks=tuple(_hook(outcome) for outcome in decision.outcomes),
        rewrites=(decision.rewrite.target.value,) if decision.rewrite else (),
        notes=tuple(_text(note) for note in decision.notes),
        remarks=tuple(_text(remark) for remark in decision.remarks),
        problem=_text(event.problem),
        payload=payload,
        digest=hashlib.sha256(event.body).hexdigest(),
        masked=masked,
        answer=_answer(answer),
        offline=offline,
        test=event.test,
    )


def said(record: Record) -> str:
    """One line on why a decision came out as it did."""
    skipped = [hook for hook in record.hooks if hook.get("status") == "skipped"]
    if record.reason:
        return f"{record.verdict.word}: {record.reason}"
    if record.problem:
        return record.problem
    if skipped and len(skipped) == len(record.hooks):
        return f"{len(skipped)} hooks skipped: {skipped[0].get('cause', '')}"
    troubled = [hook for hook in record.hooks if hook.get("cause")]
    if troubled:
        return "; ".join(f"{hook['name']}: {hook['cause']}" for hook in troubled)
    if not record.hooks:
        return "No hook was asked"
    return ", ".join(str(hook["name"]) for hook in record.hooks) + " had no objection"


def _payload(body: bytes) -> tuple[str, int]:
    # Redact more than is kept, so that a secret is not cut into something that no rule knows.
    redacted = redact(body[: 2 * PAYLOAD].decode("utf-8", "replace"))
    cut = f"… (the first {PAYLOAD} characters of {len(body)} bytes)" if len(redacted.text) > PAYLOAD else ""
    return redacted.text[:PAYLOAD] + cut, len(redacted.masks)


def _reason(decision: Decision) -> str:
    """The reasons behind the verdict, each with its hook's name, so that one can see who said what."""
    said = [
        f"{outcome.hook}: {outcome.reading.reason}"
        for outcome in decision.outcomes
        if outcome.reading.reason and outcome.reading.verdict is decision.verdict
    ]
    return "\n".join(said) or decision.reason


def _hook(outcome: Outcome) -> Mapping[str, Any]:
    return {
        "name": _name(outcome.hook),
        "status": outcome.status.value,
        "verdict": outcome.reading.verdict.word,
        "reason": _text(outcome.reading.reason or outcome.cause),
        "cause": _text(outcome.cause),
        "gate": outcome.gate.value if outcome.gate else "",
        "ms": round(outcome.ms, 3),
        "stderr": _text(outcome.stderr),
    }


def _answer(answer: Answer) -> Mapping[str, Any]:
    """The agent's answer; `exact` says whether these are the very bytes (nothing masked, plain UTF-8)."""
    stdout, stderr = (_redacted(part) for part in (answer.stdout, answer.stderr))
    exact = stdout.encode() == answer.stdout and stderr.encode() == answer.stderr
    return {"stdout": stdout, "stderr": stderr, "code": answer.code, "exact": exact}


def _redacted(part: bytes) -> str:
    return redact(part[: 2 * PAYLOAD].decode("utf-8", "replace")).text[:PAYLOAD]


def _name(text: str) -> str:
    return sanitise(redact(text[: 4 * NAME]).text, NAME)


def _text(text: str) -> str:
    return printable(redact(text[: 2 * TEXT]).text)[:TEXT]
