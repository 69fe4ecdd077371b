"""The record of one event for the journal: redacted, bounded, with what was masked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from tray.engine.masks import Masks, limit_masks
from tray.engine.subject import subject
from tray.lazy_dataclass import replace
from tray.model.decision import Answer, Decision, Outcome, Record, SkipReason
from tray.model.event import STOP_KINDS, Event
from tray.text import printable, sanitise

PAYLOAD = 64 * 1024  # characters of a payload that are kept
EXCERPT = 200  # characters of one that no protocol here understands
NAME = 200  # characters of a name
PATH = 4096  # characters of a path
TEXT = 4000  # characters of a reason, a note or an error output
CONTEXT, REMINDER = "context", "reminder"  # what a hook added for the agent; a reminder makes it go on at a stop
OVERLAP = 16 * 1024  # characters behind what is kept that are looked at: a secret at the border is known by its end


def make_record(event: Event, decision: Decision, answer: Answer, *, at: float, ms: float, offline: bool) -> Record:
    """One row: what came in, what the hooks answered, what the agent was answered."""
    masks = Masks([outcome.hook for outcome in decision.outcomes])
    payload = _payload(event.body, masks, EXCERPT if event.skip_reason is SkipReason.NOT_UNDERSTOOD else PAYLOAD)
    masked = len(masks.found)
    is_clean = not masked and len(event.body) <= PAYLOAD  # then no part of it need be looked at again
    texts = masks.redact_all(_texts(event, decision, answer))
    added = (REMINDER if event.kind in STOP_KINDS else CONTEXT) if decision.context else ""
    return Record(
        id=event.id,
        at=at,
        agent=sanitise(texts["agent"], NAME),
        session=sanitise(texts["session"], NAME),
        project=sanitise(texts["project"], NAME),
        event=sanitise(texts["event"], NAME),
        kind=event.kind.value,
        verdict=decision.verdict,
        reason=_shown(texts["reason"]),
        ms=round(ms, 3),
        hooks=tuple(_hook(outcome, f"hooks[{n}]", texts, added) for n, outcome in enumerate(decision.outcomes)),
        rewrites=(decision.rewrite.target.value,) if decision.rewrite else (),
        notes=tuple(_shown(texts[f"notes[{n}]"]) for n in range(len(decision.notes))),
        adjustments=tuple(_shown(texts[f"adjustments[{n}]"]) for n in range(len(decision.adjustments))),
        problem=_shown(texts["problem"]),
        payload=payload,
        digest=hashlib.sha256(event.body).hexdigest(),
        masked=masked,
        answer={**_answer(answer, texts), **({"line": event.via_agent} if event.via_agent else {})},
        offline=offline,
        test=event.test,
        cwd=sanitise(texts["cwd"], PATH),
        ledger=event.ledger,
        masks=limit_masks(masks.found),
        tool=sanitise(texts["tool"], NAME),
        subject=subject(event, is_clean=is_clean),
    )


def _texts(event: Event, decision: Decision, answer: Answer) -> dict[str, tuple[str, int]]:
    """Every text of the row but the payload's: as much of it as is looked at, and how much of that is kept."""
    tool = event.tool.name if event.tool else ""
    names = {
        "agent": event.agent, "session": event.session, "project": event.project, "event": event.name, "tool": tool,
    }  # fmt: skip
    long = {"reason": reasons(decision), "problem": event.problem}
    for n, outcome in enumerate(decision.outcomes):
        output, place = outcome.output, f"hooks[{n}]"
        long |= {
            f"{place}.reason": output.reason or outcome.cause,
            f"{place}.cause": outcome.cause,
            f"{place}.stderr": outcome.stderr,
            f"{place}.context": output.context,
        }
    for kind, texts in (("notes", decision.notes), ("adjustments", decision.adjustments)):
        long |= {f"{kind}[{n}]": text for n, text in enumerate(texts)}
    found = {place: (text[: 4 * NAME], 2 * NAME) for place, text in names.items()}
    found |= {place: (text[: TEXT + OVERLAP], TEXT) for place, text in long.items()}
    for place, part in (("answer.stdout", answer.stdout), ("answer.stderr", answer.stderr)):
        found[place] = part[: PAYLOAD + OVERLAP].decode("utf-8", "replace"), PAYLOAD
    return found | {"cwd": (event.cwd[:PATH], PATH)}


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


def reasons(decision: Decision) -> str:
    """The reasons behind the verdict, each with its hook's name."""
    lines = [
        f"{outcome.hook}: {outcome.output.reason}"
        for outcome in decision.outcomes
        if outcome.output.reason and outcome.output.verdict is decision.verdict
    ]
    return "\n".join(lines) or decision.reason


def _hook(outcome: Outcome, place: str, texts: Mapping[str, str], added: str) -> Mapping[str, Any]:
    output = outcome.output
    return {
        "name": sanitise(outcome.hook, NAME),  # never a secret, whatever it looks like
        "status": outcome.status.value,
        "verdict": output.verdict.word,
        "reason": _shown(texts[f"{place}.reason"]),
        "cause": _shown(texts[f"{place}.cause"]),
        "gate": outcome.gate.value if outcome.gate else "",
        "ms": round(outcome.ms, 3),
        "stderr": _shown(texts[f"{place}.stderr"]),
        "context": _shown(texts[f"{place}.context"]),
        "rewrites": output.rewrite.target.value if output.rewrite else "",
        **({"added": added} if added and output.context else {}),
        **({"let_through": True} if outcome.let_through else {}),
    }


def _answer(answer: Answer, texts: Mapping[str, str]) -> Mapping[str, Any]:
    """The agent's answer; `exact` says whether these are the very bytes (nothing masked, plain UTF-8)."""
    stdout, stderr = texts["answer.stdout"][:PAYLOAD], texts["answer.stderr"][:PAYLOAD]
    exact = stdout.encode() == answer.stdout and stderr.encode() == answer.stderr
    return {"stdout": stdout, "stderr": stderr, "code": answer.code, "exact": exact}


def _shown(text: str) -> str:
    return printable(text)[:TEXT] if text else ""
