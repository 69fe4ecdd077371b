"""Pure: says which event and decision deserve which alert, with which words, urgency and sound."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tray.model.decision import Decision, Outcome, Status, Verdict
from tray.model.event import Event, EventKind
from tray.settings import AlertRule
from tray.text import first_line, sanitise

TITLE_LIMIT = 63  # characters; Windows takes 64 with the closing zero
BODY_LIMIT = 200
URL_LIMIT = 2048
REASON_LIMIT = 64 * 1024  # characters of a reason that may still be read as JSON
APP = "Hooktray"


class AlertClass(enum.StrEnum):
    """What an alert is about; the value is the key below `alerts:` in hooktray.yaml."""

    TURN_END = "turn_end"
    SESSION_END = "session_end"
    NEEDS_YOU = "needs_you"
    ASKED = "asked"
    BLOCKED = "blocked"
    REWRITTEN = "rewritten"
    NOTE = "note"
    HOOK_FAILED = "hook_failed"
    HOOK_TIMED_OUT = "hook_timed_out"
    APPROVAL_PENDING = "approval_pending"
    CHANGED = "changed"
    SWITCHED = "switched"
    INFORMATION = "information"


class Urgency(enum.IntEnum):
    """Ordered; the numbers are those of the desktop's notification specification."""

    LOW = 0
    NORMAL = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One thing to show and to sound. Alerts with the same key replace each other; `sound` "" is silent."""

    cls: AlertClass
    title: str
    body: str
    urgency: Urgency
    sound: str
    notify: bool
    key: str
    url: str = ""


Rules = Mapping[str, AlertRule]
NO_RULES: Rules = {}
SILENT = ("", "none")  # both are how a user writes "no sound"


@dataclass(frozen=True, slots=True)
class Default:
    urgency: Urgency
    sound: str
    notify: bool = True


DEFAULTS: Mapping[AlertClass, Default] = {
    AlertClass.TURN_END: Default(Urgency.NORMAL, "chime"),
    AlertClass.SESSION_END: Default(Urgency.LOW, "fall"),
    AlertClass.NEEDS_YOU: Default(Urgency.CRITICAL, "bell"),
    AlertClass.ASKED: Default(Urgency.CRITICAL, "bell"),
    AlertClass.BLOCKED: Default(Urgency.NORMAL, "low"),
    AlertClass.REWRITTEN: Default(Urgency.LOW, ""),
    AlertClass.NOTE: Default(Urgency.NORMAL, "tick"),
    AlertClass.HOOK_FAILED: Default(Urgency.NORMAL, "alarm"),
    AlertClass.HOOK_TIMED_OUT: Default(Urgency.NORMAL, "alarm"),
    AlertClass.APPROVAL_PENDING: Default(Urgency.NORMAL, "tick"),
    AlertClass.CHANGED: Default(Urgency.NORMAL, "tick"),
    AlertClass.SWITCHED: Default(Urgency.NORMAL, "tick"),
    AlertClass.INFORMATION: Default(Urgency.LOW, "tick"),
}

# A notification's own sort; every other one, and none at all, needs the user.
TOPICS: Mapping[str, AlertClass] = {
    "agent_completed": AlertClass.TURN_END,
    "auth_success": AlertClass.INFORMATION,
}
IDLE = "idle_prompt"  # follows every turn that nobody answers, so it must not stay on the screen

THINGS: Mapping[EventKind, str] = {
    EventKind.TURN_END: "End of turn",
    EventKind.COMPLETION_CLAIM: "Completion claim",
    EventKind.SUBAGENT_END: "End of subagent",
}

_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f<>\"\\]+", re.IGNORECASE)


def alerts(event: Event, decision: Decision, rules: Rules = NO_RULES) -> tuple[Alert, ...]:
    """Everything that this event and its decision tell the user, the weightiest of each urgency first."""
    said = [*_verdict(event, decision), *_kind(event, decision), *_hooks(decision)]
    made = (_about(event, cls, body, rules, urgency) for cls, body, urgency in said)
    return tuple(alert for alert in made if alert.notify or alert.sound)


def refused(decision: Decision) -> bool:
    """The agent must go on: its stop was denied, and no hook stopped it altogether."""
    return decision.verdict is Verdict.DENY and decision.stop is None


# ---- the parts of an event's alerts: (class, body, urgency when it is not the class's own) ----

Said = tuple[AlertClass, str, Urgency | None]


def _verdict(event: Event, decision: Decision) -> Iterable[Said]:
    if decision.stop is not None and event.kind is not EventKind.TURN_END:
        yield AlertClass.BLOCKED, f"Stopped the agent · {_plain(decision.stop) or _reasons(decision)}", None
        return
    if refused(decision):
        yield AlertClass.BLOCKED, f"{_thing(event)} blocked · {_reasons(decision)}", None
    elif decision.verdict is Verdict.ASK:
        yield AlertClass.ASKED, f"{_thing(event)} needs your answer · {_reasons(decision)}", None


def _kind(event: Event, decision: Decision) -> Iterable[Said]:
    if event.problem:
        yield AlertClass.INFORMATION, f"sent a payload we could not read: {event.problem}", None
        return
    match event.kind:
        case EventKind.TURN_END | EventKind.COMPLETION_CLAIM:
            if not refused(decision):
                yield AlertClass.TURN_END, _told("Turn ended", event.message), None
        case EventKind.TURN_FAILED:
            yield AlertClass.TURN_END, _told("Turn failed", event.message or event.topic), None
        case EventKind.SESSION_END:
            yield AlertClass.SESSION_END, _told("Session ended", event.topic), None
        case EventKind.NOTIFICATION:
            yield _notification(event)


def _notification(event: Event) -> Said:
    cls = TOPICS.get(event.topic, AlertClass.NEEDS_YOU)
    if cls is AlertClass.TURN_END:
        return cls, _told("Turn ended", event.message), None
    body = first_line(event.message, BODY_LIMIT) or first_line(event.title, BODY_LIMIT)
    if cls is AlertClass.INFORMATION:
        return cls, body or "Signed in", None
    return cls, body or "Needs you", Urgency.NORMAL if event.topic == IDLE else None


def _hooks(decision: Decision) -> Iterable[Said]:
    for cls, status in ((AlertClass.HOOK_FAILED, Status.FAILED), (AlertClass.HOOK_TIMED_OUT, Status.TIMED_OUT)):
        broken = [outcome for outcome in decision.outcomes if _trouble(outcome) is status]
        if broken:
            yield cls, " · ".join(f"{outcome.hook}: {_cause(outcome)}" for outcome in broken), None
    if decision.rewrite is not None and decision.verdict is not Verdict.DENY:
        yield AlertClass.REWRITTEN, _rewritten(decision), None
    if decision.notes:
        yield AlertClass.NOTE, " · ".join(decision.notes), None


# ---- words ----


def _told(what: str, text: str) -> str:
    line = first_line(text, BODY_LIMIT)
    return f"{what}: {line}" if line else what


def _thing(event: Event) -> str:
    """What was blocked or asked about: the tool's name, never its input."""
    if event.tool is not None and event.tool.name:
        return event.tool.name
    return THINGS.get(event.kind) or event.kind.replace("_", " ").capitalize()


def _reasons(decision: Decision) -> str:
    """`hook: reason` of those who said so. An ask that became a denial counts as its reason."""
    for verdict in (decision.verdict, Verdict.ASK):
        speakers = [outcome for outcome in decision.outcomes if outcome.reading.verdict is verdict]
        if speakers:
            return " · ".join(f"{one.hook}: {_plain(one.reading.reason) or 'no reason given'}" for one in speakers)
    return _plain(decision.reason) or "no reason given"


def _plain(text: str) -> str:
    """The text, or the `reason` inside it when it is JSON."""
    if not text.lstrip().startswith("{") or len(text) > REASON_LIMIT:
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    reason = found.get("reason")
    return reason if isinstance(reason, str) and reason else text


def _trouble(outcome: Outcome) -> Status:
    """A hook whose output was no answer did not fail, but is told like one that did (RULINGS 16)."""
    return Status.FAILED if outcome.reading.warning else outcome.status


def _cause(outcome: Outcome) -> str:
    word = "timed out" if outcome.status is Status.TIMED_OUT else "failed"
    return outcome.cause or outcome.reading.problem or word


def _rewritten(decision: Decision) -> str:
    assert decision.rewrite is not None
    authors = [outcome.hook for outcome in decision.outcomes if outcome.reading.rewrite == decision.rewrite]
    return f"{authors[-1] if authors else 'A hook'} rewrote the {decision.rewrite.target}"


# ---- alerts that are not about an event ----


def pending(name: str, event: str, digest: str, rules: Rules = NO_RULES) -> Alert:
    """A hook waits for the user's approval of its exact content."""
    body = f"{name} on {event} waits for your approval ({digest[:8]})"
    return _ours(AlertClass.APPROVAL_PENDING, body, rules, about=name)


def changed(name: str, rules: Rules = NO_RULES) -> Alert:
    """A hook's files are no longer those that were approved."""
    body = f"{name} changed since approval; the approved copy goes on running"
    return _ours(AlertClass.CHANGED, body, rules, about=name)


def switched(what: str, who: str, rules: Rules = NO_RULES) -> Alert:
    """Someone turned hooks on or off, paused them, or approved from elsewhere."""
    return _ours(AlertClass.SWITCHED, f"{what}, by {who}" if who else what, rules)


def config_broken(message: str, rules: Rules = NO_RULES) -> Alert:
    """A configuration cannot be read; the last good one stays in force."""
    body = f"The last good configuration stays in force · {message}"
    return _ours(AlertClass.INFORMATION, body, rules, about="config", urgency=Urgency.NORMAL)


def source_problems(warnings: Sequence[str], rules: Rules = NO_RULES) -> Alert:
    """Entries of other formats' files that yield no hook, or another one than was meant."""
    more = f" · and {len(warnings) - 1} more, see `hooktray list`" if len(warnings) > 1 else ""
    what, _, hint = warnings[0].partition("\n")
    cure = f" · {hint.strip()}" if hint.strip() else ""
    return _ours(AlertClass.INFORMATION, f"{what}{cure}{more}", rules, about="sources", urgency=Urgency.NORMAL)


def information(text: str, rules: Rules = NO_RULES) -> Alert:
    return _ours(AlertClass.INFORMATION, text, rules, about=text)


def _about(event: Event, cls: AlertClass, body: str, rules: Rules, urgency: Urgency | None) -> Alert:
    title = f"{event.agent} · {event.project}" if event.project else event.agent
    key = "|".join((event.agent, event.session or event.cwd, cls))
    url = event.url if len(event.url) <= URL_LIMIT and _WEB.fullmatch(event.url) else ""
    return _alert(cls, title, body, key, rules, urgency, url)


def _ours(cls: AlertClass, body: str, rules: Rules, about: str = "", urgency: Urgency | None = None) -> Alert:
    return _alert(cls, APP, body, "|".join((APP, about, cls)), rules, urgency)


def _alert(
    cls: AlertClass, title: str, body: str, key: str, rules: Rules, urgency: Urgency | None, url: str = ""
) -> Alert:
    default = DEFAULTS[cls]
    rule = rules.get(cls) or AlertRule()
    sound = default.sound if rule.sound is None else rule.sound
    return Alert(
        cls=cls,
        title=sanitise(title, TITLE_LIMIT) or APP,
        body=sanitise(body, BODY_LIMIT),
        urgency=default.urgency if urgency is None else urgency,
        sound="" if sound in SILENT else sound,
        notify=default.notify if rule.notify is None else rule.notify,
        key=key,
        url=url,
    )
