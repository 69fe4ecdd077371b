"""T18: texts that command the notification server, its helper programs or the eye, in every alert."""

from __future__ import annotations

import argparse
import html
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from house import PRE_TOOL_USE
from msgspec.structs import replace

from torture.frame import Tally
from tray.agents.protocol import parse
from tray.model.decision import Decision, HookOutput, Outcome, Status, Verdict
from tray.model.event import Event, RelayRequest
from tray.notify import fallback_backends
from tray.notify.alert import Alert
from tray.notify.policy import alerts

TITLE = "texts of alerts that command"
HOSTILE = (
    "-u", "--help", "--icon=/etc/passwd", "--replace-id=7", "-A=x", "--", "-", "<b>x</b>", "<img src='file:///x'>",
    "<a href='http://x'>y</a>", "&lt;b&gt;", "&#60;", "a & b", "\x1b[31mred", "\x1b]8;;http://x\x07y\x1b]8;;\x07",
    "\x00", "a\x00b", "\x07\x08\x7f", "\u202egpj.exe", "\u2066x\u2069", "\u200b\u200d\ufeff", "a\u0301" * 200,
    "x" * 100_000, "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 100, "\ud800", "line\nline", "\r\x1b[2K", "%s%n%x",
    "$(touch x)", "`touch x`", "'; touch x; '", '" & do shell script "x', "\\n\\t\\", "{{7*7}}", "\u2028\u2029",
    " ", "", "\u3164\u115f", "\U000e0041\U000e0042", "http://127.0.0.1/x",
)  # fmt: skip
NAMES = ("{}", "x {}", "{} x", "-{}", "\n{}", " {}", "{0}{0}", "Turn ended: {}", "{}\n", "<{}>")


def torture(tally: Tally) -> None:
    options = _options()
    for shape, text in list(product(NAMES, HOSTILE))[:: tally.many(4, 1)]:
        for made in _alerts(shape.format(text)):
            for sink, problem in _problems(made, options):
                tally.attack(f"{shape!r} of {text[:20]!r} to {sink}: {problem}", not problem)
    _control(tally, options)


def _alerts(text: str) -> Iterator[Alert]:
    """Every way by which a foreign text gets into an alert."""
    payload: Mapping[str, Any] = {**PRE_TOOL_USE, "tool_name": text or "x", "cwd": f"/{text}"}
    tool = _event("PreToolUse", payload)
    said = HookOutput(verdict=Verdict.DENY, reason=text)
    for outcome in (
        Outcome(hook=text or "h", status=Status.OK, output=said),
        Outcome(hook="h", status=Status.FAILED, cause=text, output=HookOutput(problem=text)),
    ):
        decision = Decision(verdict=outcome.output.verdict, reason=text, notes=(text,), outcomes=(outcome,))
        found = alerts(tool, decision)
        assert found or not text.strip()
        yield from found
    note = _event("Notification", {"message": text, "title": text, "notification_type": "permission_prompt"})
    yield from alerts(note, Decision())
    stop = _event("Stop", {"last_assistant_message": text})
    yield from alerts(replace(stop, message=text), Decision())


def _event(name: str, payload: Mapping[str, Any]) -> Event:
    import json

    body = json.dumps({**payload, "session_id": "s", "hook_event_name": name}).encode()
    return parse(RelayRequest(agent="claude-code", event=name, id="1", body=body, cwd="/"))


def _problems(alert: Alert, options: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """What is wrong with this alert at each of the four ways to the screen; "" where nothing is."""
    for markup in (True, False):
        title, body = fallback_backends.notify_send_words(alert, markup)
        yield f"notify-send, markup {markup}", _argv(options, title, body) or _shown(title, html.unescape(body))
        raw = markup and (
            "<" in body or ">" in body or "&" in body.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
        )
        yield f"markup {markup}", "raw markup" if raw else ""
    yield "D-Bus", _shown(alert.title, alert.body) or ("" if alert.title else "nothing to see")
    title, body = fallback_backends.balloon_words(alert)
    wide = (
        len(title.encode("utf-16-le")) <= 2 * fallback_backends.WIDTH_LIMITS[0]
        and len(body.encode("utf-16-le")) <= 2 * fallback_backends.WIDTH_LIMITS[1]
    )
    yield "the structure of Windows", "" if wide else "too long"


def _shown(*texts: str) -> str:
    for text in texts:
        for sign in text:
            if unicodedata.category(sign) in {"Cc", "Cs", "Cf"} and sign not in {"\u200d", "\n"}:
                return f"U+{ord(sign):04X} in it"
    return ""


def _options() -> argparse.ArgumentParser:
    """As notify-send reads its words."""
    known = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    for short, long in (("-u", "--urgency"), ("-i", "--icon"), ("-A", "--action"), ("-r", "--replace-id")):
        known.add_argument(short, long)
    known.add_argument("-h", "--help", action="store_true")
    known.add_argument("words", nargs="*")
    return known


def _argv(options: argparse.ArgumentParser, title: str, body: str) -> str:
    taken = [word for word in (title, body) if word.startswith("-")]
    return f"taken for an option: {taken}" if taken else ""


def _control(tally: Tally, options: argparse.ArgumentParser) -> None:
    """The texts as they are, handed on as others do."""
    tally.control(
        "an option as the title", bool(_argv(options, "--help", "x")) and options.parse_args(["--help"]).help
    )
    tally.control("signs that hide", bool(_shown("\u202egpj.exe")))
