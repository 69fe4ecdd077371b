"""What happened, as one sentence: `Bash · rm -rf build/ · blocked by no-destroying: ask first`.

Notifications, menu, log and page all show it, each cut to the room that it has. A record's sentence is made from what
the journal keeps; an event's, for its notification, from the decision on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tray.engine.record import subject
from tray.language import count, phrase, say
from tray.model.decision import Decision, Record, SkipReason, Status, Verdict
from tray.model.event import Event, EventKind
from tray.text import printable, redact, sanitise

if TYPE_CHECKING:
    from tray.engine.user_questions import UserQuestion

LIMIT = 200  # characters of a sentence by default
WHAT_LIMIT = 40
WHO_LIMIT = 60
MIN_SUBJECT = 24  # characters that a long reason leaves to the subject
REASON_LIMIT = 64 * 1024  # characters of a reason that may still be read as JSON
SEPARATOR = " · "
FINGERPRINT = re.compile(r"(\[masked [^\[\]]{1,40}) [0-9a-f]{12}(?=\])")

EVENT_NAMES: Mapping[str, str] = {
    EventKind.SESSION_START: phrase("Session started"),
    EventKind.SESSION_END: phrase("Session ended"),
    EventKind.PROMPT: phrase("Prompt"),
    EventKind.NOTIFICATION: phrase("Notification"),
    EventKind.TURN_END: phrase("End of turn"),
    EventKind.TURN_FAILED: phrase("Turn failed"),
    EventKind.COMPLETION_CLAIM: phrase("Completion claim"),
    EventKind.SUBAGENT_START: phrase("Subagent started"),
    EventKind.SUBAGENT_END: phrase("End of subagent"),
    EventKind.ELICITATION: phrase("Question"),
}
# Of one call there may be several events.
CALL_NAMES: Mapping[str, str] = {
    EventKind.TOOL_AFTER: phrase("{tool} done"),
    EventKind.TOOL_RESULT: phrase("{tool} done"),
    EventKind.TOOL_FAILED: phrase("{tool} failed"),
    EventKind.PERMISSION_REQUEST: phrase("Permission for {tool}"),
    EventKind.PERMISSION_DENIED: phrase("Permission for {tool} refused"),
}
SKIP_TEXTS: Mapping[SkipReason, str] = {
    SkipReason.NOT_SUPPORTED: phrase("{agent} is not supported yet: no hook was asked"),
    SkipReason.NOT_UNDERSTOOD: phrase("the payload was not understood: no hook was asked"),
}
# By a record's label, and `stop` of a decision: with the names of the hooks behind it, and without.
ENDINGS: Mapping[str, tuple[str, str]] = {
    "deny": (phrase("blocked by {who}"), phrase("blocked")),
    "stop": (phrase("{who} stopped the agent"), phrase("the agent is stopped")),
    "ask": (phrase("{who} asks you"), phrase("needs your answer")),
    "trouble": (phrase("{who} failed"), phrase("a hook failed")),
    "rewrite": (phrase("rewritten by {who}"), phrase("rewritten")),
    "allow": (phrase("allowed by {who}"), phrase("allowed")),
}
# What the hooks of a row without a verdict added for the agent, by `added` of a hook.
ADDITIONS: Mapping[str, str] = {
    "context": phrase("{who} added context"),
    "reminder": phrase("{who} added a reminder"),
}


# Why a session ended, in agents' own words.
LEFT = phrase("you left it")
SESSION_ENDS = {
    "abort": phrase("aborted"),
    "aborted": phrase("aborted"),
    "archive": phrase("archived"),
    "clear": phrase("the conversation was cleared"),
    "complete": phrase("completed"),
    "completed": phrase("completed"),
    "deleted": phrase("deleted"),
    "error": phrase("because of an error"),
    "exit": LEFT,
    "logout": phrase("you signed out"),
    "prompt_input_exit": LEFT,
    "resume": phrase("another session was resumed"),
    "timeout": phrase("it took too long"),
    "user_close": LEFT,
    "user_exit": LEFT,
    "window_close": phrase("its window was closed"),
}


class Ending(NamedTuple):
    """What became of it, and why."""

    text: str
    reason: str = ""


def sentence(record: Record, limit: int = LIMIT) -> str:
    """The sentence of a row of the journal."""
    about = end_text(record.subject) if record.kind == EventKind.SESSION_END else record.subject
    return _fit(what(record.tool, record.kind, record.event), about, ending(record), limit)


def event_sentence(event: Event, ending: Ending, limit: int = LIMIT, *, show_input: bool = True) -> str:
    """The sentence of an event that has no row yet; without `show_input` it names the tool only."""
    return _fit(event_name(event), _shown_subject(event, show_input), ending, limit)


def question_sentence(event: Event, decision: Decision, limit: int = LIMIT, *, show_input: bool = True) -> str:
    """The sentence of an open question, whatever event it came with."""
    return _fit(tool_name(event), _shown_subject(event, show_input), decision_ending(decision, "ask"), limit)


def tool_text(event: Event, limit: int = LIMIT, *, show_input: bool = True) -> str:
    """The tool and what it gets, whatever is asked about it: `Bash · rm -rf build/`."""
    about = _shown_subject(event, show_input)
    return sanitise(SEPARATOR.join(filter(None, (sanitise(tool_name(event), WHAT_LIMIT), about))), limit)


def tool_name(event: Event) -> str:
    return event.tool.name if event.tool and event.tool.name else event_name(event)


def event_name(event: Event) -> str:
    return what(event.tool.name if event.tool else "", event.kind, event.name)


def what(tool: str, kind: str, name: str) -> str:
    """The tool, else the event in words; `name` is the agent's own for it."""
    if tool:
        return say(CALL_NAMES[kind], tool=tool) if kind in CALL_NAMES else tool
    if kind in EVENT_NAMES:
        return say(EVENT_NAMES[kind])
    return name if kind == EventKind.OTHER else kind.replace("_", " ").capitalize()


def end_text(topic: str) -> str:
    """Why a session ended, in words; "" for `other`."""
    if topic in SESSION_ENDS:
        return say(SESSION_ENDS[topic])
    return "" if topic == "other" else topic.replace("_", " ")


def _shown_subject(event: Event, show_input: bool) -> str:
    if event.kind is EventKind.SESSION_END:
        return end_text(event.topic)
    return subject(event) if show_input or event.tool is None else ""


def ending(record: Record) -> Ending:
    """What became of the event, and why."""
    if record.skip_reason is not None:
        return Ending(say(SKIP_TEXTS[record.skip_reason], agent=record.agent))
    label = record.label
    if label == "trouble":
        failed = [hook for hook in record.hooks if hook.get("status") in (Status.FAILED, Status.TIMED_OUT)]
        if not failed:
            return Ending(say("not read"), record.problem)
        return _ending(label, [str(hook.get("name", "")) for hook in failed], str(failed[0].get("cause", "")))
    if label == "unjudged":
        return Ending(record.reason)
    if label == "abstain":
        return Ending(_no_opinion(record))
    behind = list(_behind(record))
    reasons = [str(hook.get("reason", "")) for hook in behind] if label in ("deny", "ask") else []
    if label == "rewrite" and not behind and record.reason:  # the user's own answers
        return Ending(record.reason)
    reason = record.reason if not behind and label in ("deny", "ask") else _joined(reasons)
    return _ending(label, [str(hook.get("name", "")) for hook in behind], reason)


def decision_ending(decision: Decision, label: str = "") -> Ending:
    """The same of a decision that refuses or asks, before it is in the journal."""
    label = label or ("stop" if decision.stop is not None else decision.verdict.word)
    behind = [one for one in decision.outcomes if one.output.stop is not None] if decision.stop is not None else []
    for verdict in (decision.verdict, Verdict.ASK):  # an ask that became a denial counts as its reason
        behind = behind or [one for one in decision.outcomes if one.output.verdict is verdict]
    names = [one.hook for one in behind]
    reasons = [one.output.stop or one.output.reason for one in behind] or [decision.reason or decision.stop or ""]
    return _ending(label, names, redact(_joined(reasons), names=names).text)


def rewrite_ending(decision: Decision) -> Ending:
    """Who rewrote: of several rewrites the last counts."""
    authors = [one.hook for one in decision.outcomes if one.output.rewrite == decision.rewrite]
    return _ending("rewrite", authors[-1:], "")


def details(question: UserQuestion) -> str:
    """Returns an open question in full, for a user who wants to see what would run. Secrets are masked."""
    event, decision = question.event, question.decision
    rows = (
        (say("agent"), event.agent),
        (say("project"), event.project),
        (say("folder"), event.project_folder or event.cwd),
        (say("event"), event.name),
        (say("session"), event.session),
        *((outcome.hook, outcome.output.reason) for outcome in decision.outcomes),
    )
    lines = [f"{name:<8} {value}" for name, value in rows if value]
    if event.tool is not None:
        arguments = json.dumps(dict(event.tool.input), indent=2, ensure_ascii=False, default=str)
        lines += ["", f"{event.tool.name}:", arguments]
    return printable(redact("\n".join(lines)).text) + "\n"


def plain_reason(text: str) -> str:
    """The text, or the `reason` inside it when it is JSON."""
    if not text.lstrip().startswith("{") or len(text) > REASON_LIMIT:
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    reason = found.get("reason")
    return reason if isinstance(reason, str) and reason else text


# ---- the parts of a record's ending ----


def _behind(record: Record) -> Iterator[Mapping[str, object]]:
    """The hooks that this came of; an ask that the event could not carry became a denial."""
    if record.label == "rewrite":
        yield from [hook for hook in record.hooks if hook.get("rewrites")][-1:]
        return
    words = {str(hook.get("verdict", "")) for hook in record.hooks}
    word = next((word for word in (record.verdict.word, Verdict.ASK.word) if word in words), "")
    yield from (hook for hook in record.hooks if word and hook.get("verdict") == word)


def _no_opinion(record: Record) -> str:
    skipped = [hook for hook in record.hooks if hook.get("status") == Status.SKIPPED]
    if skipped and len(skipped) == len(record.hooks):
        cause = skipped[0].get("cause", "")
        return count("{n} hook skipped: {cause}", "{n} hooks skipped: {cause}", len(skipped), cause=cause)
    if troubled := [hook for hook in record.hooks if hook.get("cause")]:
        return "; ".join(f"{hook['name']}: {hook['cause']}" for hook in troubled)
    if record.reason:
        return record.reason
    if not record.hooks:
        return say("no hook was asked")
    if added := [hook for hook in record.hooks if hook.get("added") in ADDITIONS]:
        return say(ADDITIONS[str(added[-1]["added"])], who=_names(added))
    return say("{names} had no objection", names=_names(record.hooks))


def _names(hooks: Sequence[Mapping[str, object]]) -> str:
    return ", ".join(str(hook["name"]) for hook in hooks)


def _ending(label: str, names: Sequence[str], reason: str) -> Ending:
    who = sanitise(", ".join(dict.fromkeys(names)), WHO_LIMIT)
    by, bare = ENDINGS[label]
    return Ending(say(by, who=who) if who else say(bare), reason)


def _joined(reasons: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, (plain_reason(reason).strip() for reason in reasons))))


# ---- one line ----


def _brief(text: str) -> str:
    """The text with masks as people read them: which two secrets are equal is for `hooktray why` and the page."""
    return FINGERPRINT.sub(r"\1", text) if "[masked " in text else text


def _fit(what: str, subject: str, ending: Ending, limit: int) -> str:
    """All parts in `limit` characters: what is too long is cut in the subject and the reason, never in the ending."""
    what, text = sanitise(what, min(WHAT_LIMIT, limit)), sanitise(ending.text, limit)
    room = limit - len(what) - len(text) - len(SEPARATOR)
    reason, about = (sanitise(_brief(part), limit) for part in (ending.reason, subject))
    if about:
        space = room - len(SEPARATOR) - (len(reason) + 2 if reason else 0)
        about = sanitise(about, max(space, min(MIN_SUBJECT, room - len(SEPARATOR))))
    if reason:
        left = room - 2 - (len(about) + len(SEPARATOR) if about else 0)
        reason = sanitise(reason, left)
    return sanitise(SEPARATOR.join(filter(None, (what, about, f"{text}: {reason}" if reason else text))), limit)
