"""Pure: which event and decision deserve which alert, with which words, urgency and sound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from tray.agents.protocol import goes_on
from tray.engine.sentence import (
    decision_ending,
    end_text,
    event_sentence,
    question_sentence,
    rewrite_ending,
    sentence,
    tool_name,
    tool_text,
)
from tray.engine.user_questions import UserQuestion
from tray.language import count, say
from tray.model.decision import Decision, Record, SkipReason, Verdict
from tray.model.event import Capability, Event, EventKind
from tray.model.form import Form
from tray.notify.alert import (
    ALARM,
    APP,
    BODY_LIMIT,
    CHANNELS,
    CHOICES,
    DEFAULTS,
    FAILED_CATEGORY,
    LIMIT_CATEGORY,
    NO_RULES,
    SILENT,
    UNDOABLE,
    Alert,
    AlertClass,
    Button,
    Default,
    Rules,
    Urgency,
    make_alert,
)
from tray.notify.hook_problems import (
    HookProblem,
    HookProblemKind,
    describe,
    find_problem,
    short_cause,
    without_folders,
)
from tray.notify.usage_limit import is_usage_limit, with_reset
from tray.text import first_line, redact, sanitise

__all__ = [
    "APP",
    "BODY_LIMIT",
    "DEFAULTS",
    "NO_RULES",
    "Alert",
    "AlertClass",
    "Button",
    "Default",
    "Rules",
    "Urgency",
    "alarm",
    "alerts",
    "approval_pending",
    "config_broken",
    "entries_changed",
    "hook_changed",
    "information",
    "question",
    "question_closed",
    "question_key",
    "setting_waiting",
    "switched",
    "unanswerable",
    "unjudged",
    "unsupported_agent",
]

URL_LIMIT = 2048
CHOICE_LIMIT = 40  # characters of the label of a button with an answer
DETAIL = 80  # characters of a cause that are shown

# A notification's own sort; every other one, and none at all, needs the user.
TOPICS: Mapping[str, AlertClass] = {
    "agent_completed": AlertClass.TURN_END,
    "auth_success": AlertClass.INFORMATION,
}
IDLE = "idle_prompt"  # follows every turn that the user does not answer, so it must not stay on the screen

# Their alerts do not depend on what a hook decided.
ANNOUNCED_KINDS = frozenset({
    EventKind.TURN_END, EventKind.COMPLETION_CLAIM, EventKind.TURN_FAILED, EventKind.SESSION_END,
    EventKind.NOTIFICATION, EventKind.PERMISSION_REQUEST, EventKind.ELICITATION,
})  # fmt: skip
NOTABLE_LABELS = frozenset({"deny", "ask", "trouble", "rewrite"})
_ENDS = frozenset({EventKind.TURN_END, EventKind.COMPLETION_CLAIM, EventKind.TURN_FAILED})
_WEB = re.compile(r"https?://[^\s\x00-\x20\x7f<>\"\\]+", re.IGNORECASE)


def alerts(
    event: Event,
    decision: Decision,
    rules: Rules = NO_RULES,
    *,
    show_input: bool = True,
    problems: Sequence[HookProblem] | None = None,
    record: Record | None = None,
) -> tuple[Alert, ...]:
    """All alerts of this event and its decision, the most important of each urgency first.

    `show_input` shows a tool's input, too; `problems` are the hook problems to announce: by default all of them.
    With the event's `record` nothing is redacted once more.
    """
    made = []
    stopped = decision.stop is not None and event.kind is not EventKind.TURN_END
    is_blocked = stopped or (decision.verdict is Verdict.DENY and decision.stop is None)
    cls = AlertClass.BLOCKED if is_blocked else AlertClass.ASKED
    if (is_blocked or decision.verdict is Verdict.ASK) and not is_silent(cls, rules):
        made.append(_event_alert(event, cls, _sentence(event, decision, show_input, record), rules, None))
    if event.kind in ANNOUNCED_KINDS or event.problem:
        for cls, body, urgency in _kind(event, decision, show_input):
            made.append(_event_alert(event, cls, body, rules, urgency))
    if problems is None:
        problems = [*filter(None, map(find_problem, decision.outcomes))]
    for one in problems:
        goes_on = decision.verdict < Verdict.ASK and decision.stop is None
        made.append(_let_through(event, one) if one.let_through and goes_on else _problem_alert(event, one, rules))
    if decision.rewrite is not None or decision.notes:
        for cls, body, urgency in _changes(event, decision, show_input):
            made.append(_event_alert(event, cls, body, rules, urgency))
    return tuple([alert for alert in made if alert.notify or alert.sound]) if made else ()


def may_have_alerts(row: Record) -> bool:
    """Whether `alerts` may have made one of the event of this row; whether the user wants it is not asked.

    The end of a round may be that of the turn, which only a tray finds out.
    """
    is_announced = row.kind in ANNOUNCED_KINDS or row.kind == EventKind.ROUND_END
    return (
        (is_announced and not row.ran_beside)
        or row.label in NOTABLE_LABELS
        or bool(row.notes)
        or any(hook.get("stops") for hook in row.hooks)
    )


def is_silent(cls: AlertClass, rules: Rules) -> bool:
    """Whether the user has turned off both the notification and the sound of this class."""
    rule = rules.get(cls)
    return rule is not None and rule.notify is False and rule.sound in SILENT


def unanswerable(event: Event, asked: Alert, rules: Rules = NO_RULES) -> Alert:
    """In place of a question by an agent without a user, which waits for no answer."""
    body = f"{asked.body} · " + say("nobody is there to answer")
    return _event_alert(event, AlertClass.BLOCKED, body, rules, None)


def question(one: UserQuestion, rules: Rules = NO_RULES, *, show_input: bool = True) -> Alert:
    """An open question: what the user is asked, with the buttons that answer it."""
    choices: tuple[str, ...] = ()
    if one.form is not None:
        choices = _choices(one.form) if show_input else ()
        body = _form_text(one.form, choices) if show_input else say("Asks you")
        buttons = (*CHOICES[: len(choices)], Button.ANSWER)
    else:
        body = question_sentence(one.event, one.decision, BODY_LIMIT, show_input=show_input)
        buttons = (Button.DETAILS, Button.ALLOW, Button.DENY)  # by default the alert does not say what would run
    alert = _event_alert(one.event, AlertClass.ASKED, body, rules, None)
    return replace(alert, key=question_key(one.id), about=one.id, buttons=buttons, choices=choices)


def _choices(form: Form) -> tuple[str, ...]:
    """The labels of the buttons that answer a form: none where a press cannot, or where they would not tell."""
    options = form.choice.options if form.choice else ()
    labels = tuple(sanitise(redact(option.label).text, CHOICE_LIMIT) for option in options)
    return labels if len(set(labels)) == len(labels) <= len(CHOICES) else ()


def _form_text(form: Form, choices: tuple[str, ...]) -> str:
    """What is asked; with the answers where no button has them."""
    asked = " · ".join(one.text for one in form.questions)
    options = form.choice.options if form.choice and not choices else ()
    text = f"{asked} ({', '.join(option.label for option in options)})" if options else asked
    return say("Asks you") + f": {sanitise(redact(text).text, BODY_LIMIT)}"


def question_key(id: str) -> str:
    return f"{APP}|question|{id}"


def question_closed(event: Event, id: str, reason: str, rules: Rules = NO_RULES) -> Alert:
    """A question that the user can no longer answer here, and why."""
    body = say("The question about {what} is closed", what=tool_name(event)) + f" · {say(reason)}"
    alert = _event_alert(event, AlertClass.INFORMATION, body, rules, None)
    return replace(alert, key=question_key(id), buttons=())


# ---- the parts of an event's alerts: (class, body, urgency when it is not the class's own) ----

AlertText = tuple[AlertClass, str, Urgency | None]


def _kind(event: Event, decision: Decision, show_input: bool) -> Iterable[AlertText]:
    if event.problem:
        yield AlertClass.INFORMATION, say("sent a payload we could not read: {why}", why=event.problem), None
        return
    if event.subagent and event.kind in _ENDS:  # the turn goes on: its own end is announced, not those of its parts
        return
    match event.kind:
        case EventKind.TURN_END | EventKind.COMPLETION_CLAIM:
            if not goes_on(event, decision):
                yield AlertClass.TURN_END, _with_text(say("Turn ended"), event.message), None
        case EventKind.TURN_FAILED:
            if is_usage_limit(event):
                yield AlertClass.TURN_END, _with_text(say("Usage limit reached"), with_reset(event.message)), None
            else:
                yield AlertClass.TURN_END, _with_text(say("Turn failed"), event.message or event.topic), None
        case EventKind.SESSION_END:
            yield AlertClass.SESSION_END, _with_text(say("Session ended"), end_text(event.topic)), None
        case EventKind.NOTIFICATION:
            yield _notification(event)
        case EventKind.PERMISSION_REQUEST if decision.verdict is Verdict.ABSTAIN and decision.stop is None:
            if event.spec.needs_you:
                what = tool_text(event, BODY_LIMIT, show_input=show_input)
                yield AlertClass.NEEDS_YOU, say("Waits for your permission: {what}", what=what), None
        case EventKind.ELICITATION if decision.verdict is Verdict.ABSTAIN and decision.rewrite is None:
            if event.spec.needs_you:
                yield AlertClass.NEEDS_YOU, _with_text(say("Asks you"), event.message), None


def _notification(event: Event) -> AlertText:
    cls = TOPICS.get(event.topic, AlertClass.NEEDS_YOU)
    if cls is AlertClass.TURN_END:
        return cls, _with_text(say("Turn ended"), event.message), None
    body = first_line(event.message, BODY_LIMIT) or first_line(event.title, BODY_LIMIT)
    if cls is AlertClass.INFORMATION:
        return cls, body or say("Signed in"), None
    return cls, body or say("Needs you"), Urgency.NORMAL if event.topic == IDLE else None


def _changes(event: Event, decision: Decision, show_input: bool) -> Iterable[AlertText]:
    if (
        decision.rewrite is not None
        and decision.verdict is not Verdict.DENY
        and any(one.output.rewrite is not None for one in decision.outcomes)  # else it is the user's answers
    ):
        text = event_sentence(event, rewrite_ending(decision), BODY_LIMIT, show_input=show_input)
        yield AlertClass.REWRITTEN, text, None
    # An agent that takes a note along with its answer shows it to its user by itself.
    if decision.notes and (event.answered or Capability.NOTE not in event.spec.can):
        yield AlertClass.NOTE, " · ".join(decision.notes), None


# ---- words ----


def _with_text(title: str, text: str) -> str:
    line = first_line(text, BODY_LIMIT)
    return f"{title}: {line}" if line else title


def _sentence(event: Event, decision: Decision, show_input: bool, record: Record | None) -> str:
    """What happened; the tool's input only where the user wants that. A row does not say that the agent stops."""
    if record is not None and decision.stop is None:
        return sentence(record if show_input else replace(record, subject=""), BODY_LIMIT)
    return event_sentence(event, decision_ending(decision), BODY_LIMIT, show_input=show_input)


# ---- alerts that are not about an event ----


def approval_pending(name: str, event: str, digest: str, rules: Rules = NO_RULES, *, key: str = "") -> Alert:
    """A hook waits for the user's approval of its exact content."""
    body = say("{name} on {event} waits for your approval", name=name, event=event)
    return replace(_own_alert(AlertClass.APPROVAL_PENDING, body, rules, about=name, opens=key), digest=digest)


def setting_waiting(text: str, rules: Rules = NO_RULES, *, about: str) -> Alert:
    """A setting of the file does not count until the user confirms it."""
    body = say("{setting} does not count until you confirm it under Approvals", setting=text)
    return _own_alert(AlertClass.APPROVAL_PENDING, body, rules, about=about)


def hook_changed(name: str, rules: Rules = NO_RULES, *, key: str = "", digest: str = "") -> Alert:
    """A hook's files are no longer those that were approved."""
    runs = say("{name} changed since approval; the approved copy goes on running", name=name)
    body = f"{runs} · " + say("review it under Approvals")
    return replace(_own_alert(AlertClass.CHANGED, body, rules, about=name, opens=key), digest=digest)


def switched(text: str, channel: str, rules: Rules = NO_RULES, *, undo: str = "") -> Alert:
    """Someone turned hooks on or off, paused them, or approved; `undo` is the key of its undo, if there is one."""
    by = say(CHANNELS[channel]) if channel in CHANNELS else say("by {who}", who=channel) if channel else ""
    body = " · ".join(filter(None, (text, by)))
    if channel in UNDOABLE:
        body = f"{body} · " + say("undo it under Approvals")
    return replace(
        _own_alert(AlertClass.SWITCHED, body, rules), reply=True, about=undo, buttons=(Button.UNDO,) if undo else ()
    )


def trial_failed(hook: str, cause: str, remedy: str, rules: Rules = NO_RULES, *, undo: str) -> Alert:
    """A hook failed on the test event after its approval: the approval can be taken back."""
    what = say("{hook} failed its test run", hook=sanitise(hook, 30))
    body = f"{what} · {sanitise(short_cause(cause, remedy), DETAIL)} · {remedy}"
    alert = _own_alert(AlertClass.HOOK_FAILED, body, rules, about=f"trial {hook}")
    return replace(alert, reply=True, about=undo, buttons=(Button.UNDO,))


def config_broken(problem: str, rules: Rules = NO_RULES) -> Alert:
    """A configuration cannot be read: what is wrong, the remedy, and that the last good one stays in force."""
    what, _, remedy = problem.partition("\n")
    force = say("The last good configuration stays in force")
    end = " · ".join(filter(None, (sanitise(remedy, DETAIL), force)))
    body = f"{sanitise(without_folders(what), BODY_LIMIT - len(end) - 3)} · {end}"
    alert = _own_alert(AlertClass.INFORMATION, body, rules, about="config", urgency=Urgency.NORMAL)
    return replace(alert, apart=True)


def unsupported_agent(agent: str, line: str, cause: SkipReason, rules: Rules = NO_RULES) -> Alert:
    """`agent` runs the hooks of `line`, and Hooktray does not have its protocol; both as people call them."""
    if cause is SkipReason.NOT_UNDERSTOOD:
        body = say("An event of Hooktray's {line} hooks was not understood: no hook was asked", line=line)
    else:
        body = " · ".join(
            (
                say("{agent} runs Hooktray's {line} hooks", agent=agent, line=line),
                say("{agent} is not supported yet: its tool calls are not guarded", agent=agent),
                say("`hooktray agents` shows where"),
            )
        )
    return _own_alert(AlertClass.INFORMATION, body, rules, about=agent, urgency=Urgency.NORMAL)


def source_problems(warnings: Sequence[str], rules: Rules = NO_RULES) -> Alert:
    """Entries of other formats' files that yield no hook, or another one than was meant."""
    others = len(warnings) - 1
    more = count("and {n} more, see `hooktray list`", "and {n} more, see `hooktray list`", others) if others else ""
    what, _, hint = warnings[0].partition("\n")
    body = " · ".join(filter(None, (without_folders(what), hint.strip(), more)))
    return replace(
        _own_alert(AlertClass.INFORMATION, body, rules, about="sources", urgency=Urgency.NORMAL), apart=True
    )


def information(text: str, rules: Rules = NO_RULES) -> Alert:
    """An answer to what the user has just done. GNOME shows no banner of a low one."""
    return replace(_own_alert(AlertClass.INFORMATION, text, rules, about=text, urgency=Urgency.NORMAL), reply=True)


def alarm(title: str, text: str, *, about: str = "") -> Alert:
    """What may have taken guards away. No rule of the user's makes it quieter; `about` is what Review opens."""
    key = "|".join((APP, title, AlertClass.INFORMATION))
    buttons = (Button.REVIEW,) if about else ()
    made = make_alert(
        AlertClass.INFORMATION, title, text, key, NO_RULES, urgency=Urgency.CRITICAL, about=about, buttons=buttons
    )
    return replace(made, sound=ALARM)


def unjudged(title: str, text: str, row: Record, rules: Rules = NO_RULES) -> Alert:
    """Returns the alert about a session's unjudged calls, which shows the row of the last one."""
    key = "|".join((row.agent, row.session, AlertClass.UNJUDGED))
    return make_alert(AlertClass.UNJUDGED, title, text, key, rules, project=row.project, about=row.id)


def entries_changed(
    agent: str, name: str, text: str, digest: str, rules: Rules = NO_RULES, *, critical: bool, wanted: bool = False
) -> Alert:
    """Our entries in an agent's settings are not those that `connect` wrote; `name` is what people call the agent.

    No rule of the user's makes it quieter if guards stopped guarding. `wanted`: they are, but hooks need more.
    """
    title = say("{agent} no longer asks Hooktray as before", agent=name)
    if wanted:
        title = say("A hook needs more events of {agent}", agent=name)
    key = "|".join((APP, agent, "entries"))
    made = make_alert(
        AlertClass.INFORMATION, title, text, key, NO_RULES if critical else rules,
        urgency=Urgency.CRITICAL if critical else Urgency.NORMAL, about=agent, digest=digest,
        buttons=(Button.CONNECT if wanted else Button.PUT_BACK, Button.LEAVE),
    )  # fmt: skip
    return replace(made, sound=ALARM) if critical else made


def _event_alert(event: Event, cls: AlertClass, body: str, rules: Rules, urgency: Urgency | None) -> Alert:
    title = f"{event.agent} · {event.project}" if event.project else event.agent
    # Each refusal is of another call: it is added to the others. All else is the state of the session.
    one = event.id if cls is AlertClass.BLOCKED else ""
    key = "|".join((event.agent, event.session or event.cwd, cls, one))
    url = event.url if len(event.url) <= URL_LIMIT and _WEB.fullmatch(event.url) else ""
    made = make_alert(cls, title, body, key, rules, urgency=urgency, url=url, project=event.project, about=event.id)
    if event.kind is EventKind.TURN_FAILED and cls is AlertClass.TURN_END and made.category:
        made = replace(made, category=LIMIT_CATEGORY if is_usage_limit(event) else FAILED_CATEGORY)
    return replace(made, event=event.id)


def _problem_alert(event: Event, one: HookProblem, rules: Rules) -> Alert:
    urgency = Urgency.LOW if one.kind is HookProblemKind.SLOW else None
    return replace(
        _event_alert(event, one.cls, describe(one), rules, urgency), key="|".join((APP, one.hook, one.cls))
    )


def _let_through(event: Event, one: HookProblem) -> Alert:
    """A guard failed, the agent cannot ask, and the call went on: no rule of the user's makes this quieter."""
    text = say(
        "{hook} failed, and {agent} cannot ask you: {what} was not stopped",
        hook=sanitise(one.hook, 30),
        agent=event.agent,
        what=tool_name(event),
    )
    body = f"{text} · {sanitise(without_folders(one.cause), DETAIL)}"
    alert = _event_alert(event, one.cls, body, NO_RULES, Urgency.CRITICAL)
    return replace(alert, sound=ALARM, category="", key="|".join((APP, one.hook, one.cls)))


def _own_alert(
    cls: AlertClass, body: str, rules: Rules, about: str = "", urgency: Urgency | None = None, opens: str = ""
) -> Alert:
    return make_alert(cls, APP, body, "|".join((APP, about, cls)), rules, urgency=urgency, about=opens)
