"""The words and marks of the page, and the templates that use them; whatever a template prints is sanitised."""

from __future__ import annotations

import json
import time
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tray.engine.telling import said
from tray.model.decision import Record, Status
from tray.text import first_line, printable

HERE = Path(__file__).parent
SHOWN = 4_100_000  # characters: more than a review may have
MARKS = {
    "deny": "denied",
    "ask": "asked",
    "trouble": "a hook failed",
    "rewrite": "rewritten",
    "allow": "allowed",
    "abstain": "no opinion",
    "skip": "skipped",
}
VERDICTS = ("deny", "ask", "trouble", "rewrite", "allow", "abstain")  # what a row may be shown as, the gravest first
ALERTS = {"": "none was due", "sent": "sent", "held": "held back", "failed": "it could not be shown"}


def templates() -> Environment:
    """Escapes everything, and prints no foreign text that hides, moves or commands (law 9)."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "clock": clock,
        "day": day,
        "duration": duration,
        "line": first_line,
        "pretty": pretty,
        "sentence": sentence,
        "stamp": stamp,
        "turn_mark": turn_mark,
        "turn_word": turn_word,
        "why": why,
    }
    environment.globals |= {"alerts": ALERTS, "marks": MARKS}
    return environment


def _shown(value: object) -> object:
    return printable(value, SHOWN) if isinstance(value, str) and not isinstance(value, Markup) else value


def why(record: Record) -> str:
    """One line on what came out."""
    if record.reason:
        return record.reason
    return f"rewrote the {' and the '.join(record.rewrites)}" if record.rewrites else said(record)


def turn_mark(hook: dict[str, str]) -> str:
    """The shape of one hook's turn."""
    status, verdict = hook.get("status"), str(hook.get("verdict", ""))
    if status in {Status.FAILED, Status.TIMED_OUT}:
        return "trouble"
    if status == Status.SKIPPED:
        return "skip"
    return verdict if verdict in MARKS else "abstain"


def turn_word(hook: dict[str, str]) -> str:
    """What one hook's turn came to, in one word or two."""
    kind = turn_mark(hook)
    return str(hook["status"]).replace("_", " ") if kind == "trouble" else MARKS[kind]


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def clock(at: float) -> str:
    """The time of day, with the day when it is not today."""
    same_day = time.localtime(at)[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if same_day else "%d %b %H:%M", time.localtime(at))


def day(at: float) -> str:
    return time.strftime("%A, %d %B %Y", time.localtime(at))


def stamp(at: float) -> str:
    """For programs, and for people who point at it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(at))


def duration(ms: float) -> str:
    """Two or three digits and a unit."""
    if ms < 1:
        return "< 1 ms" if ms > 0 else "0 ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.0f} min"


def pretty(text: str) -> str:
    """JSON with room to breathe; anything else as it stands."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
