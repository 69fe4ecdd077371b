"""The labels and texts of the page, and its templates, which sanitise everything that they print.

Each page contains the one style sheet and the one script; by their hashes, `headers` permits a browser nothing else.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tray.engine.sentence import ending
from tray.engine.sentence import sentence as record_sentence
from tray.language import count, phrase, pick_language, say
from tray.model.decision import Record, Status
from tray.text import first_line, printable

HERE = Path(__file__).parent
STATIC = HERE / "static"
MAX_TEXT = 4_100_000  # characters: more than a review may have
LABELS = {
    "unjudged": phrase("ran unjudged"),
    "deny": phrase("denied"),
    "ask": phrase("asked"),
    "trouble": phrase("a hook failed"),
    "rewrite": phrase("rewritten"),
    "allow": phrase("allowed"),
    "abstain": phrase("no opinion"),
    "skip": phrase("skipped"),
}
# The labels of a row, the gravest first.
VERDICTS = ("unjudged", "deny", "ask", "trouble", "rewrite", "allow", "abstain")
ADDITIONS = {"context": phrase("added context"), "reminder": phrase("added a reminder")}
ALERTS = {
    "": phrase("none was due"),
    "sent": phrase("sent"),
    "held": phrase("held back"),
    "failed": phrase("it could not be shown"),
}
GATES = {
    "switch off": phrase("hooks are off"),
    "paused": phrase("hooks are paused"),
    "disabled": phrase("it is switched off"),
    "nested": phrase("the event came from this hook"),
    "nested too deep": phrase("the event came from a hook of a hook of a hook"),
    "loop cap": phrase("it refused too often in a row"),
    "once": phrase("it had its turn in this session"),
    "duplicate": phrase("the same one is asked already"),
    "busy": phrase("too many events at once"),
}
STATES = {
    "approved": phrase("approved"),
    "changed": phrase("changed"),
    "denied": phrase("denied"),
    "inactive": phrase("inactive"),
    "pending": phrase("pending"),
    "revoked": phrase("revoked"),
}

# What every answer of ours carries.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src {script}; style-src {style}; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Server": "Hooktray",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@functools.cache
def style() -> str:
    return (STATIC / "page.css").read_text(encoding="utf-8")


@functools.cache
def script() -> str:
    return (STATIC / "page.js").read_text(encoding="utf-8")


@functools.cache
def headers() -> Mapping[str, str]:
    """Nothing else in a page runs or colours it, wherever it came from."""
    hashes = {}
    for name, text in (("script", script()), ("style", style())):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[name] = f"'sha256-{digest}'"
    return {name: value.format(**hashes) for name, value in HEADERS.items()}


def templates() -> Environment:
    """Escapes everything, and prints no foreign text that hides, moves or commands (law 9)."""
    return _templates(pick_language())


@functools.cache  # with what is compiled of each template
def _templates(language: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters = (clock, day, duration, pretty, sentence, iso_time, outcome_label, outcome_text, reason_line)
    environment.filters |= {one.__name__: one for one in filters}
    environment.filters |= {"line": first_line, "happened": record_sentence}
    environment.globals |= {
        "_": _sentence,
        "alerts": {key: say(text) for key, text in ALERTS.items()},
        "gates": {key: say(text) for key, text in GATES.items()},
        "language": language.replace("_", "-"),
        "labels": {key: say(text) for key, text in LABELS.items()},
        "ngettext": count,
        "states": {key: say(text) for key, text in STATES.items()},
        "script": Markup(script()),
        "style": Markup(style()),
    }
    return environment


def _sentence(text: str, **values: object) -> Markup:
    """Returns the sentence in the user's language. Its tags are kept; the values are sanitised and escaped."""
    translated = Markup(say(text))
    return translated.format(**{name: _printable(value) for name, value in values.items()}) if values else translated


def _printable(value: object) -> object:
    return printable(value, MAX_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def reason_line(record: Record) -> str:
    """What became of it, and why."""
    came = ending(record)
    return f"{came.text}: {came.reason}" if came.reason else came.text


def outcome_label(hook: dict[str, str]) -> str:
    """The label of one hook's outcome; the page shows it as a mark."""
    status, verdict = hook.get("status"), str(hook.get("verdict", ""))
    if status in {Status.FAILED, Status.TIMED_OUT}:
        return "trouble"
    if status == Status.SKIPPED:
        return "skip"
    return verdict if verdict in LABELS else "abstain"


def outcome_text(hook: dict[str, str]) -> str:
    """One hook's outcome in one word or two."""
    label = outcome_label(hook)
    if label == "abstain" and hook.get("added") in ADDITIONS:
        return say(ADDITIONS[hook["added"]])
    text = str(hook["status"]).replace("_", " ") if label == "trouble" else LABELS[label]
    return say(text)


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def clock(at: float) -> str:
    """The time of day, with the day when it is not today."""
    same_day = time.localtime(at)[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if same_day else "%d %b %H:%M", time.localtime(at))


def day(at: float) -> str:
    return time.strftime(say("%A, %d %B %Y"), time.localtime(at))


def iso_time(at: float) -> str:
    """For programs, and as a tooltip."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(at))


def duration(ms: float) -> str:
    """Two or three digits and a unit."""
    if ms < 1:
        return "< 1 ms" if ms > 0 else "0 ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.0f} min"


def pretty(text: str) -> str:
    """JSON with indentation; anything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
