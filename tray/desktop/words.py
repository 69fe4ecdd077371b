"""The words of the menu: times, verdicts by shape, and foreign text made fit for a row. Pure."""

from __future__ import annotations

import re
import time

from tray.model.decision import Record, Status, Verdict
from tray.text import sanitise

PADDING = {"?": "\u2005", "!": "\u2004", "·": "\u2002"}  # narrow marks become as wide as the others
PLACE = re.compile(r"(?P<path>.*?)(?P<at>:\d+:\d+): (?P<rest>.*)")  # path:line:column: what is wrong there
KEY_PATH = re.compile(r"[\w.\[\]-]+: (?=\S)")  # hooks[0].event:


def clean(text: str, limit: int, empty: str = "(no name)") -> str:
    """Foreign text, fit for a row."""
    return sanitise(text, limit) or empty


def clock(at: float, now: float) -> str:
    """Local time, with the day when it is not today."""
    try:
        then, today = time.localtime(at), time.localtime(now)
    except (OverflowError, ValueError, OSError):
        return "--:--"
    same_day = then[:3] == today[:3]
    return time.strftime("%H:%M" if same_day else "%d %b %H:%M", then)


def mark(record: Record) -> str:
    """The verdict by shape, so that no colour is needed."""
    if record.verdict is Verdict.DENY:
        return "✕"
    if record.verdict is Verdict.ASK:
        return "?"
    if record.problem or any(hook.get("status") in {Status.FAILED, Status.TIMED_OUT} for hook in record.hooks):
        return "!"
    if record.rewrites:
        return "✎"
    return "✓" if record.verdict is Verdict.ALLOW else "·"


def row(record: Record, now: float) -> str:
    """One recent decision."""
    what = clean(record.event, 30) + (" (test)" if record.test else "")
    parts = (clean(record.agent, 20), what, sanitise(record.project, 30), clock(record.at, now))
    sign = mark(record)
    return f"{sign}{PADDING.get(sign, '')}  {' · '.join(part for part in parts if part)}"


def counted(word: str, count: int) -> str:
    """The word, and how many; nothing to count says nothing."""
    return f"{word} ({count})" if count else word


def part(name: str) -> str:
    """One name as one part of a path."""
    return name.replace("%", "%25").replace("/", "%2F")


def short(problem: str) -> str:
    """What is wrong with a file, without its folder and the key's path: the line is enough to find both."""
    line = problem.strip().split("\n")[0]
    if found := PLACE.match(line):
        return f"{_name(found['path'])}{found['at']}: {KEY_PATH.sub('', found['rest'], count=1)}"
    path, colon, rest = line.partition(": ")
    return f"{_name(path)}{colon}{rest}"


def _name(path: str) -> str:
    return re.split(r"[\\/]", path)[-1]
