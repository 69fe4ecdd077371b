"""The texts of the menu: times, verdicts by shape, and foreign text made fit for a row. Pure."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping

from tray.engine.sentence import sentence
from tray.language import phrase, say
from tray.model.decision import Record, SkipReason
from tray.model.event import EventKind
from tray.text import sanitise

# The signs need no colour.
SIGNS = {"unjudged": "‼", "deny": "✕", "ask": "?", "trouble": "!", "rewrite": "✎", "allow": "✓", "abstain": "·"}
SENTENCE_LIMIT = 66  # characters; agent, project and age come after it
PLACE_LIMIT = 32
PADDING = {"?": "\u2005", "!": "\u2004", "·": "\u2002"}  # narrow marks become as wide as the others
PROBLEM_PLACE = re.compile(r"(?P<path>.*?)(?P<at>:\d+:\d+): (?P<rest>.*)")  # path:line:column: what is wrong there
AGES = (
    (60, 1, phrase("{n} s ago")),
    (3600, 60, phrase("{n} min ago")),
    (86400, 3600, phrase("{n} h ago")),
)
EVENT_PHRASES: Mapping[str, str] = {
    EventKind.TURN_END: phrase("{agent} ended a turn {when}"),
    EventKind.COMPLETION_CLAIM: phrase("{agent} ended a turn {when}"),
    EventKind.TURN_FAILED: phrase("{agent} failed a turn {when}"),
    EventKind.TURN_INTERRUPTED: phrase("{agent} was interrupted {when}"),
    EventKind.SESSION_START: phrase("{agent} began a session {when}"),
    EventKind.SESSION_END: phrase("{agent} ended its session {when}"),
    EventKind.NOTIFICATION: phrase("{agent} needed you {when}"),
    EventKind.PERMISSION_REQUEST: phrase("{agent} asked for permission {when}"),
    EventKind.TOOL_BEFORE: phrase("{agent} wanted a tool {when}"),
    EventKind.TOOL_AFTER: phrase("{agent} used a tool {when}"),
    EventKind.PROMPT: phrase("{agent} got a prompt {when}"),
}
SKIP_PHRASES: Mapping[SkipReason, str] = {
    SkipReason.NOT_SUPPORTED: phrase("not supported yet"),
    SkipReason.NOT_UNDERSTOOD: phrase("not understood"),
}
KEY_PATH = re.compile(r"[\w.\[\]-]+: (?=\S)")  # hooks[0].event:


def clean(text: str, limit: int, empty: str = "") -> str:
    """Foreign text, fit for a row."""
    return sanitise(text, limit) or empty or say("(no name)")


def clock(at: float, now: float) -> str:
    """Local time, with the day when it is not today."""
    try:
        then, today = time.localtime(at), time.localtime(now)
    except (OverflowError, ValueError, OSError):
        return "--:--"
    same_day = then[:3] == today[:3]
    return time.strftime("%H:%M" if same_day else "%d %b %H:%M", then)


def record_label(record: Record, now: float) -> str:
    """One recent decision."""
    sign = SIGNS[record.label]
    what = sentence(record, SENTENCE_LIMIT)
    if record.test:
        what = say("{event} (test)", event=what)
    where = sanitise(agent_label(record.agent, record.project, record.session), PLACE_LIMIT)
    parts = (what, where, age(record.at, now))
    return f"{sign}{PADDING.get(sign, '')}  {' · '.join(part for part in parts if part)}"


def last_event(record: Record, now: float) -> str:
    """What an agent did last, as a sentence."""
    agent, when = clean(record.agent, 20), age(record.at, now)
    if record.skip_reason is not None:
        return f"{agent}: {say(SKIP_PHRASES[record.skip_reason])}"
    if (text := EVENT_PHRASES.get(record.kind)) is not None:
        return say(text, agent=agent, when=when)
    return say("{agent} {event} {when}", agent=agent, event=clean(record.event, 24), when=when)


def agent_label(agent: str, project: str, session: str = "") -> str:
    """An agent and where it works."""
    place = sanitise(project, 30) or sanitise(session, 8)  # the project, else the beginning of the session's own name
    return f"{clean(agent, 20)} · {place}" if place else clean(agent, 20)


def age(at: float, now: float) -> str:
    """How long ago; the day when that is long."""
    seconds = now - at
    if not math.isfinite(seconds) or seconds < 1:
        return say("just now")
    for limit, unit, text in AGES:
        if seconds < limit:
            return say(text, n=int(seconds // unit))
    return clock(at, now)


def id_part(name: str) -> str:
    """One name as one part of a path."""
    return name.replace("%", "%25").replace("/", "%2F")


def short_problem(problem: str) -> str:
    """What is wrong with a file, without its folder and the key's path: the line is enough to find both."""
    line = problem.strip().split("\n")[0]
    if found := PROBLEM_PLACE.match(line):
        return f"{_name(found['path'])}{found['at']}: {KEY_PATH.sub('', found['rest'], count=1)}"
    path, colon, rest = line.partition(": ")
    return f"{_name(path)}{colon}{rest}"


def _name(path: str) -> str:
    return re.split(r"[\\/]", path)[-1]
