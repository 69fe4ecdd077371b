"""The record of one event for the journal: redacted, bounded, with what was masked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tray.engine.masks import Masks, limit_masks
from tray.engine.subject import subject
from tray.model.decision import Answer, Decision, Outcome, Record, SkipReason
from tray.model.event import Event
from tray.text import printable, sanitise

PAYLOAD = 64 * 1024  # characters of a payload that are kept
EXCERPT = 200  # characters of one that no protocol here understands
NAME = 200  # characters of a name
PATH = 4096  # characters of a path
TEXT = 4000  # characters of a reason, a note or an error output
OVERLAP = 16 * 1024  # characters behind what is kept that are looked at: a secret at the border is known by its end


def make_record(event: Event, decision: Decision, answer: Answer, *, at: float, ms: float, offline: bool) -> Record:
    """One row: what came in, what the hooks answered, what the agent was answered."""
    masks = Masks([outcome.hook for outcome in decision.outcomes])
    payload = _payload(event.body, masks, EXCERPT if event.skip_reason is SkipReason.NOT_UNDERSTOOD else PAYLOAD)
    masked = len(masks.found)
    is_clean = not masked and len(event.body) <= PAYLOAD  # then no part of it need be looked at again
    return Record(
        id=event.id,
        at=at,
        agent=_name(event.agent, "agent", masks),
        session=_name(event.session, "session", masks),
        project=_name(event.project, "project", masks),
        event=_name(event.name, "event", masks),
        kind=event.kind.value,
        verdict=decision.verdict,
        reason=_text(reasons(decision), "reason", masks),
        ms=round(ms, 3),
        hooks=tuple(_hook(outcome, f"hooks[{n}]", masks) for n, outcome in enumerate(decision.outcomes)),
        rewrites=(decision.rewrite.target.value,) if decision.rewrite else (),
        notes=tuple(_text(note, f"notes[{n}]", masks) for n, note in enumerate(decision.notes)),
        adjustments=tuple(_text(text, f"adjustments[{n}]", masks) for n, text in enumerate(decision.adjustments)),
        problem=_text(event.problem, "problem", masks),
        payload=payload,
        digest=hashlib.sha256(event.body).hexdigest(),
        masked=masked,
        answer={**_answer(answer, masks), **({"line": event.via_agent} if event.via_agent else {})},
        offline=offline,
        test=event.test,
        cwd=sanitise(masks.redact(event.cwd[:PATH], "cwd"), PATH),
        ledger=event.ledger,
        masks=limit_masks(masks.found),
        tool=_tool(event, masks, is_clean),
        subject=subject(event, is_clean=is_clean),
    )


def with_times(record: Record, decision: Decision, started: float) -> Record:
    """Where its time went: how long it waited for its hooks to start, and how long they took."""
    if decision.hook_times is None:
        return record
    began, ended = decision.hook_times
    return replace(record, wait_ms=_ms(began - started), hooks_ms=_ms(ended - began))


def _ms(seconds: float) -> float:
    return round(max(seconds, 0.0) * 1000, 3)


def _payload(body: bytes, masks: Masks, limit: int) -> str:
    head = body[: limit + OVERLAP].decode("utf-8", "replace")
    text = masks.redact(head, "payload", keep=limit, is_json=True)
    is_cut = len(head) > limit or len(body) > limit + OVERLAP or len(text) > limit
    return text[:limit] + (f"… (the first {limit} characters of {len(body)} bytes)" if is_cut else "")


def _tool(event: Event, masks: Masks, is_clean: bool) -> str:
    if event.tool is None:
        return ""
    return sanitise(event.tool.name, NAME) if is_clean else _name(event.tool.name, "tool", masks)


def reasons(decision: Decision) -> str:
    """The reasons behind the verdict, each with its hook's name."""
    lines = [
        f"{outcome.hook}: {outcome.output.reason}"
        for outcome in decision.outcomes
        if outcome.output.reason and outcome.output.verdict is decision.verdict
    ]
    return "\n".join(lines) or decision.reason


def _hook(outcome: Outcome, place: str, masks: Masks) -> Mapping[str, Any]:
    output = outcome.output
    return {
        "name": sanitise(outcome.hook, NAME),  # never a secret, whatever it looks like
        "status": outcome.status.value,
        "verdict": output.verdict.word,
        "reason": _text(output.reason or outcome.cause, f"{place}.reason", masks),
        "cause": _text(outcome.cause, f"{place}.cause", masks),
        "gate": outcome.gate.value if outcome.gate else "",
        "ms": round(outcome.ms, 3),
        "stderr": _text(outcome.stderr, f"{place}.stderr", masks),
        "context": _text(output.context, f"{place}.context", masks),
        "rewrites": output.rewrite.target.value if output.rewrite else "",
        **({"let_through": True} if outcome.let_through else {}),
    }


def _answer(answer: Answer, masks: Masks) -> Mapping[str, Any]:
    """The agent's answer; `exact` says whether these are the very bytes (nothing masked, plain UTF-8)."""
    stdout = _redacted(answer.stdout, "answer.stdout", masks)
    stderr = _redacted(answer.stderr, "answer.stderr", masks)
    exact = stdout.encode() == answer.stdout and stderr.encode() == answer.stderr
    return {"stdout": stdout, "stderr": stderr, "code": answer.code, "exact": exact}


def _redacted(part: bytes, place: str, masks: Masks) -> str:
    head = part[: PAYLOAD + OVERLAP].decode("utf-8", "replace")
    return masks.redact(head, place, keep=PAYLOAD)[:PAYLOAD]


def _name(text: str, place: str, masks: Masks) -> str:
    return sanitise(masks.redact(text[: 4 * NAME], place, keep=2 * NAME), NAME)


def _text(text: str, place: str, masks: Masks) -> str:
    return printable(masks.redact(text[: TEXT + OVERLAP], place, keep=TEXT))[:TEXT]
