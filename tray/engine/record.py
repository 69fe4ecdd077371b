"""The record of one event for the journal: redacted, bounded, with what was masked and what the event was about."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from operator import attrgetter, itemgetter
from pathlib import PurePath

import msgspec

from tray.agents.tools import canonical_input
from tray.model.decision import Answer, Decision, Record, SkipReason
from tray.model.event import STOP_KINDS, Event
from tray.text import Redacted, mask_text, printable, redact, redact_value, sanitise

PAYLOAD = 64 * 1024  # characters of a payload that are kept
EXCERPT = 200  # characters of one that no protocol here understands
NAME = 200  # characters of a name
PATH = 4096  # characters of a path
TEXT = 4000  # characters of a reason, a note or an error output
CONTEXT, REMINDER = "context", "reminder"  # what a hook added for the agent; a reminder makes it go on at a stop
OVERLAP = 16 * 1024  # characters behind what is kept that are looked at: a secret at the border is known by its end
MASK_LIMIT = 200  # masks that are listed; all of them are masked
PLACE_LIMIT = 200  # characters of where one was
MASK = re.compile(r"\[masked [^\[\]]{1,40} [0-9a-f]{12}\]")
KEY_STEP = " (a key)"
BORDER = "\n "  # between texts that are looked at together: no secret ends or begins otherwise because of it

Fields = Mapping[str, object]  # of a row
Steps = tuple["Steps", str | int] | None  # the last one first, so that a step down copies nothing

SUBJECT_LIMIT = 300  # characters of what the event is about
READ_LIMIT = 4096  # characters of an argument that are looked at

# The arguments that say best what a call does, by their canonical names; the first one that is there counts.
TELLING_ARGUMENTS = (
    *("command", "file_path", "notebook_path", "path", "url", "query", "pattern", "prompt", "skill", "description"),
)
PATH_ARGUMENTS = frozenset({"file_path", "notebook_path", "path"})


def make_record(
    event: Event,
    decision: Decision,
    answer: Answer,
    *,
    at: float,
    ms: float,
    offline: bool,
    started: float | None = None,
) -> Record:
    """One row: what came in, what the hooks answered, what the agent was answered.

    With `started`, on the monotonic clock, also where its time went: until its hooks started, and while they ran.
    """
    masks = Masks(frozenset(map(attrgetter("hook"), decision.outcomes)))
    payload = _payload(event.body, masks, EXCERPT if event.skip_reason is SkipReason.NOT_UNDERSTOOD else PAYLOAD)
    masked = len(masks.found)
    is_clean = not masked and len(event.body) <= PAYLOAD  # then no part of it need be looked at again
    texts = _texts(event, decision, answer, masks)
    stdout, stderr = texts["answer.stdout"][:PAYLOAD], texts["answer.stderr"][:PAYLOAD]
    is_exact = stdout.encode() == answer.stdout and stderr.encode() == answer.stderr  # nothing masked, plain UTF-8
    answered = {"stdout": stdout, "stderr": stderr, "code": answer.code, "exact": is_exact}
    began, ended = decision.hook_times if decision.hook_times and started is not None else (0.0, 0.0)
    return Record(
        id=event.id,
        at=at,
        agent=texts["agent"],
        session=texts["session"],
        project=texts["project"],
        event=texts["event"],
        kind=event.kind.value,
        verdict=decision.verdict,
        reason=texts["reason"],
        ms=round(ms, 3),
        hooks=_hooks(event, decision, texts) if decision.outcomes else (),
        rewrites=(decision.rewrite.target.value,) if decision.rewrite else (),
        notes=_listed(texts, "notes", len(decision.notes)) if decision.notes else (),
        adjustments=_listed(texts, "adjustments", len(decision.adjustments)) if decision.adjustments else (),
        problem=texts["problem"],
        payload=payload,
        digest=hashlib.sha256(event.body).hexdigest(),
        masked=masked,
        answer=answered | {"line": event.via_agent} if event.via_agent else answered,
        offline=offline,
        test=event.test,
        cwd=texts["cwd"],
        ledger=event.ledger,
        wait_ms=round(max(began - (started or 0.0), 0.0) * 1000, 3) if began else 0.0,
        hooks_ms=round(max(ended - began, 0.0) * 1000, 3),
        masks=tuple(masks.found[:MASK_LIMIT]),
        tool=texts["tool"],
        subject=subject(event, is_clean=is_clean),
    )


def _texts(event: Event, decision: Decision, answer: Answer, masks: Masks) -> Mapping[str, str]:
    """Every text of the row but the payload's, without secrets; all but the answer's as they are shown."""
    names = {"agent": event.agent, "session": event.session, "project": event.project, "event": event.name}
    names["tool"] = event.tool.name if event.tool else ""
    long = {"reason": reasons(decision) if decision.outcomes else decision.reason, "problem": event.problem}
    for n, outcome in enumerate(decision.outcomes):
        output, place = outcome.output, f"hooks[{n}]"
        long |= {
            f"{place}.reason": output.reason or outcome.cause,
            f"{place}.cause": outcome.cause,
            f"{place}.stderr": outcome.stderr,
            f"{place}.context": output.context,
        }
    for kind, listed in (("notes", decision.notes), ("adjustments", decision.adjustments)):
        for n, text in enumerate(listed):
            long[f"{kind}[{n}]"] = text
    # As much of each as is looked at, and how much of that is kept.
    parts = {"cwd": (event.cwd[:PATH], PATH)}
    for place, text in names.items():
        parts[place] = text[: 4 * NAME], 2 * NAME
    for place, text in long.items():
        parts[place] = text[: TEXT + OVERLAP], TEXT
    for place, given in (("answer.stdout", answer.stdout), ("answer.stderr", answer.stderr)):
        parts[place] = given[: PAYLOAD + OVERLAP].decode("utf-8", "replace"), PAYLOAD
    texts = masks.redact_all(parts)
    texts["cwd"] = sanitise(texts["cwd"], PATH)
    for place in names:
        texts[place] = sanitise(texts[place], NAME)
    for place in long:
        texts[place] = printable(texts[place])[:TEXT] if texts[place] else ""
    return texts


def _payload(body: bytes, masks: Masks, limit: int) -> str:
    head = body[: limit + OVERLAP].decode("utf-8", "replace")
    text = masks.redact(head, "payload", keep=limit, is_json=True)
    is_cut = len(head) > limit or len(body) > limit + OVERLAP or len(text) > limit
    return text[:limit] + (f"… (the first {limit} characters of {len(body)} bytes)" if is_cut else "")


def reasons(decision: Decision) -> str:
    """The reasons behind the verdict, each with its hook's name."""
    lines = []
    for outcome in decision.outcomes:
        if outcome.output.reason and outcome.output.verdict is decision.verdict:
            lines.append(f"{outcome.hook}: {outcome.output.reason}")
    return "\n".join(lines) or decision.reason


def _hooks(event: Event, decision: Decision, texts: Mapping[str, str]) -> tuple[Fields, ...]:
    added = (REMINDER if event.kind in STOP_KINDS else CONTEXT) if decision.context else ""
    rows: list[Fields] = []
    for n, outcome in enumerate(decision.outcomes):
        output, place = outcome.output, f"hooks[{n}]"
        rows.append(
            {
                "name": sanitise(outcome.hook, NAME),  # never a secret, whatever it looks like
                "status": outcome.status.value,
                "verdict": output.verdict.word,
                "reason": texts[f"{place}.reason"],
                "cause": texts[f"{place}.cause"],
                "gate": outcome.gate.value if outcome.gate else "",
                "ms": round(outcome.ms, 3),
                "stderr": texts[f"{place}.stderr"],
                "context": texts[f"{place}.context"],
                "rewrites": output.rewrite.target.value if output.rewrite else "",
                **({"added": added} if added and output.context else {}),
                **({"let_through": True} if outcome.let_through else {}),
                **({"stops": True} if output.stop is not None else {}),
            }
        )
    return tuple(rows)


def _listed(texts: Mapping[str, str], kind: str, number: int) -> tuple[str, ...]:
    """So many texts of this kind, in order."""
    return tuple(texts[f"{kind}[{n}]"] for n in range(number))


class Masks(msgspec.Struct, eq=False):
    """Redacts one text after the other, and keeps the list. `hooks` are the names of the hooks that were asked."""

    hooks: frozenset[str] = frozenset()
    found: list[Fields] = []

    def redact_all(self, texts: Mapping[str, tuple[str, int]]) -> dict[str, str]:
        """So many characters of each text, by its place, without its secrets.

        Of most events one look at all of them shows that none has any.
        """
        is_clean = not redact(BORDER.join(map(itemgetter(0), texts.values()))).masks
        found = {}
        for place, (text, keep) in texts.items():
            found[place] = text[:keep] if is_clean else self.redact(text, place, keep=keep)
        return found

    def redact(self, text: str, place: str, *, keep: int | None = None, is_json: bool = False) -> str:
        """The text without its secrets. With `is_json` it may be JSON, and its keys then say where they were."""
        if not text:
            return ""
        redacted = redact(text, keep, () if is_json else self.hooks)
        if redacted.masks:
            places = _places(redacted, place) if is_json else {}
            for kind, fingerprint in zip(redacted.masks, redacted.fingerprints, strict=True):
                at = places.get(mask_text(kind, fingerprint)) or [place]
                where = sanitise(at.pop(0) if len(at) > 1 else at[0], PLACE_LIMIT)
                self.found.append({"place": where, "kind": kind, "fingerprint": fingerprint})
        return redacted.text


def _places(redacted: Redacted, place: str) -> dict[str, list[str]]:
    """Where each mask is in the JSON; empty if the text is not JSON."""
    try:
        value = json.loads(redacted.text)
    except (ValueError, RecursionError):
        return {}
    masks = {mask_text(*pair) for pair in zip(redacted.masks, redacted.fingerprints, strict=True)}
    places: dict[str, list[str]] = {}
    for steps, text in _texts_in(value):
        found = [mask for mask in MASK.findall(text) if mask in masks] if "[masked " in text else []
        path = _path(place, steps) if found else ""
        for mask in found:
            places.setdefault(mask, []).append(path)
    return places


def _texts_in(value: object) -> Iterator[tuple[Steps, str]]:
    """Every text, keys too, with the way to it; walked without recursion, for depth comes from outside."""
    waiting: list[tuple[Steps, object]] = [(None, value)]
    while waiting:
        steps, one = waiting.pop()
        if isinstance(one, str):
            yield steps, one
        elif isinstance(one, dict):
            waiting += [((steps, key), inner) for key, inner in reversed(one.items())]
            waiting += [((steps, KEY_STEP), key) for key in one]
        elif isinstance(one, list):
            waiting += [((steps, n), inner) for n, inner in reversed(list(enumerate(one)))]


def _path(place: str, steps: Steps) -> str:
    """`payload.tool_input.lines[2]`; a key may hide a secret of its own."""
    parts: list[str] = []
    while steps is not None:
        steps, step = steps
        parts.append(
            f"[{step}]" if isinstance(step, int) else KEY_STEP if step is KEY_STEP else f".{redact(step).text}"
        )
    return place + "".join(reversed(parts))


def subject(event: Event, *, is_clean: bool = False) -> str:
    """What the call did, or what the event is about: redacted, on one line.

    `is_clean`: the whole payload has no secret, so no part of it is looked at again.
    """
    if event.tool is None:
        topic = "" if event.topic == "other" else event.topic
        text = event.message or event.prompt or event.path or topic
        return sanitise(text[:READ_LIMIT] if is_clean else _redacted(text, ""), SUBJECT_LIMIT)
    try:
        arguments = canonical_input(event.agent, event.tool.name, event.tool.input)
    except (TypeError, AttributeError):  # its keys are no words
        return ""
    name = telling = ""
    for word in TELLING_ARGUMENTS:  # a plain loop: every call of a tool comes by here
        value = arguments.get(word)
        if isinstance(value, str) and value.strip():
            name = telling = word
            break
    if not name:
        texts = (word for word, value in arguments.items() if isinstance(value, str) and value.strip())
        name = next(texts, "")
    if not name:
        return ""
    text = _near(arguments[name], event.cwd) if name in PATH_ARGUMENTS else arguments[name]
    masked = text[:READ_LIMIT] if is_clean else _redacted(text, str(name))
    return sanitise(masked if telling or not masked else f"{name}: {masked}", SUBJECT_LIMIT)


def _redacted(text: str, name: str) -> str:
    """Without its secrets. Nothing is kept of what begins so long a secret that it is not read to its end."""
    masked = redact_value({name: text[:READ_LIMIT]})[0]
    shown = str(next(iter(masked.values()), "")) if isinstance(masked, dict) else ""
    return shown if len(text) <= READ_LIMIT or len(shown) > SUBJECT_LIMIT else ""


def _near(path: str, folder: str) -> str:
    """A path as seen from the agent's folder."""
    if not folder or not path.startswith(folder):
        return path
    try:
        return str(PurePath(path).relative_to(folder))
    except ValueError:
        return path
