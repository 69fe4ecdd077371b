"""Pure: which event and decision deserve which alert, with which words, urgency and sound."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from tray.agents.protocol import goes_on
from tray.approvals.remedies import HookFailure, remedy, remedy_of
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
from tray.engine.turns import is_usage_limit, with_reset
from tray.engine.user_questions import UserQuestion
from tray.language import phrase, say
from tray.model.decision import Decision, Gate, Outcome, Record, Status, Verdict
from tray.model.event import Capability, Event, EventKind
from tray.model.form import Form
from tray.notify.alert import (
    ALARM,
    APP,
    BODY_LIMIT,
    CHOICES,
    FAILED_CATEGORY,
    LIMIT_CATEGORY,
    NO_RULES,
    SILENT,
    Alert,
    AlertClass,
    Button,
    Rules,
    Urgency,
    make_alert,
)
from tray.text import first_line, redact, sanitise

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
UNKNOWN_REMEDY = phrase("`hooktray log` and `why` show what it wrote")
SLOW = 0.8  # share of its limit above which a hook that ended well was slow
_PATH = re.compile(r"(?<![\w:/.~])(?:~|[A-Za-z]:)?[/\\](?:[^/\\\s:'\"`]+[/\\])+([^/\\\s:'\"`]+)")
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
        made.append(_event_alert(event, cls, _sentence(event, decision, show_input, record), rules))
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
    return _event_alert(event, AlertClass.BLOCKED, body, rules)


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
    alert = _event_alert(one.event, AlertClass.ASKED, body, rules)
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
    alert = _event_alert(event, AlertClass.INFORMATION, body, rules)
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


def _event_alert(event: Event, cls: AlertClass, body: str, rules: Rules, urgency: Urgency | None = None) -> Alert:
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
    alert = _event_alert(event, one.cls, describe(one), rules, Urgency.LOW if one.is_slow else None)
    return replace(alert, key="|".join((APP, one.hook, one.cls)))


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


# ---- hooks that have a problem ----


class HookProblem(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one hook."""

    hook: str
    cls: AlertClass
    cause: str
    remedy: str
    is_slow: bool = False  # it ended well, and nearly too late
    let_through: bool = False  # the call that it should have judged went on, since the user could not be asked


def find_problem(outcome: Outcome) -> HookProblem | None:
    """None when all is well. Output that was no answer is a problem, too (decision 16)."""
    cls, is_slow = AlertClass.HOOK_TIMED_OUT, False
    failure: HookFailure | None = HookFailure.TIME
    cause = outcome.cause or outcome.output.problem
    if outcome.output.warning:
        cls, failure, cause = AlertClass.HOOK_FAILED, HookFailure.OUTPUT, cause or outcome.output.warning
    elif outcome.status is Status.TIMED_OUT:
        cause = cause or say("timed out")
    elif outcome.status is Status.FAILED:
        cls, failure, cause = AlertClass.HOOK_FAILED, None, cause or say("failed")
    elif outcome.status is Status.OK and outcome.limit and outcome.ms > SLOW * outcome.limit * 1000:
        seconds, limit = f"{outcome.ms / 1000:.3g}", f"{outcome.limit:g}"
        is_slow, cause = True, say("took {seconds} of its {limit} s", seconds=seconds, limit=limit)
    else:
        return None
    text = ""
    if outcome.gate is not Gate.LOOP_CAP:
        text = remedy(cause, outcome.hook) or (remedy_of(failure) if failure else say(UNKNOWN_REMEDY))
    return HookProblem(
        hook=outcome.hook, cls=cls, cause=cause, remedy=text, is_slow=is_slow, let_through=outcome.let_through
    )


def describe(one: HookProblem) -> str:
    """`hook: cause · remedy`; the cause is cut before the remedy is."""
    room = BODY_LIMIT - (len(one.remedy) + 3 if one.remedy else 0)
    return " · ".join(filter(None, (sanitise(f"{one.hook}: {short_cause(one.cause, one.remedy)}", room), one.remedy)))


def without_folders(text: str) -> str:
    """Files by their names: where they are is private, and too long; `hooktray doctor` shows it."""
    return _PATH.sub(r"\1", text)


def short_cause(cause: str, remedy: str) -> str:
    """Without folders, and without a file that the remedy names: GNOME's banner has room for some 60 characters."""
    what, _, path = cause.rpartition(": ")
    return what if "/" in path and shlex.quote(path) in remedy else without_folders(cause)
