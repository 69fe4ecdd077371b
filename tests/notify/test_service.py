from __future__ import annotations

from typing import Any

from clock import Clock
from every import every
from house import House
from msgspec.structs import replace
from notify import samples
from notify.announced import FAILED, Announced, event, record

from tray.engine.user_questions import QuestionResult, Resolution, UserQuestion
from tray.model.decision import RAN_BESIDE, Decision, Rewrite, SkipReason, Status, Target, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.model.form import Form, FormOption, FormQuestion
from tray.notify.alert import BODY_LIMIT, AlertClass, Button, Urgency, mute_classes
from tray.settings import AlertRule, Settings


def test_an_event_is_announced_once_and_a_failure_of_its_hooks_later(announced: Announced) -> None:
    ended = event(EventKind.SESSION_END)

    announced.service.arrived(ended)
    assert announced.classes == [AlertClass.SESSION_END]
    announced.decide(ended, FAILED)
    announced.decide(event(EventKind.TOOL_BEFORE, id="2"), FAILED)  # the hook is announced once an hour
    assert announced.classes == [AlertClass.SESSION_END, AlertClass.HOOK_FAILED]
    assert [one.hook for one in announced.service.hook_problems] == ["h"]

    announced.decide(event(EventKind.TURN_END), Decision(outcomes=(replace(FAILED.outcomes[0], hook="other"),)))
    assert sorted(announced.classes[2:]) == [AlertClass.HOOK_FAILED, AlertClass.TURN_END]


def test_a_completion_claim_and_the_stop_after_it_raise_one_alert(announced: Announced) -> None:
    for kind in (EventKind.COMPLETION_CLAIM, EventKind.TURN_END):
        one = event(kind, id=kind.value, agent="starchild")
        announced.decide(one)

    assert announced.classes == [AlertClass.TURN_END]


def test_an_alert_that_needs_the_user_is_withdrawn_when_the_session_continues(announced: Announced) -> None:
    announced.decide(event(EventKind.NOTIFICATION, topic="permission_prompt", message="may I?"))
    announced.decide(event(EventKind.TOOL_BEFORE, id="2", session="other"))
    assert announced.withdrawn == []

    announced.decide(event(EventKind.TOOL_BEFORE, id="3"))

    assert announced.withdrawn == [announced.alerts[0].key]


def test_events_of_the_time_without_a_tray_are_summed_up(announced: Announced) -> None:
    one = event(EventKind.TOOL_BEFORE)

    announced.service.summarize_offline([record(one), record(one, verdict=Verdict.DENY)])
    announced.service.summarize_offline([])

    assert announced.bodies == ["2 events were answered while the tray was not running · 1 of them was denied"]


def test_events_that_a_busy_tray_did_not_answer_are_summed_up_if_they_may_have_alerts(announced: Announced) -> None:
    step, end = event(EventKind.TOOL_BEFORE), event(EventKind.TURN_END, name="Stop")

    announced.service.summarize_missed([record(step), record(step, verdict=Verdict.ALLOW)])
    assert announced.alerts == []
    announced.service.summarize_missed([record(step), record(end), record(step, verdict=Verdict.DENY)])

    (alert,) = announced.alerts
    assert alert.body == (
        "2 events were answered without the tray, which was busy: Claude Code Stop, Claude Code tool_before"
        " · 1 of them was denied"
    )


@every(
    ("kind", "row", "is_counted"),
    [
        (EventKind.ROUND_END, {}, True),
        (EventKind.TURN_END, {"adjustments": (RAN_BESIDE,)}, False),
        (EventKind.TURN_END, {"adjustments": (RAN_BESIDE,), "hooks": ({"status": Status.FAILED},)}, True),
        (EventKind.TOOL_AFTER, {"hooks": ({"status": Status.TIMED_OUT},)}, True),
        (EventKind.TOOL_AFTER, {"hooks": ({"status": Status.OK, "stops": True},)}, True),
        (EventKind.TOOL_AFTER, {"hooks": ({"status": Status.OK},)}, False),
        (EventKind.TOOL_AFTER, {"problem": "no JSON"}, True),
        (EventKind.TOOL_BEFORE, {"rewrites": ("input",)}, True),
        (EventKind.TOOL_BEFORE, {"notes": ("look",)}, True),
    ],
)
def test_a_missed_event_is_counted_if_one_of_its_alerts_was_due(
    kind: EventKind, row: dict[str, Any], is_counted: bool
) -> None:
    announced = Announced()
    announced.service.summarize_missed([record(event(kind), **row)])

    assert bool(announced.alerts) is is_counted


def test_each_call_that_a_failed_guard_let_through_has_its_critical_alert(announced: Announced) -> None:
    decision = Decision(outcomes=(replace(FAILED.outcomes[0], let_through=True),))
    for id in ("1", "2"):
        announced.decide(event(EventKind.TOOL_BEFORE, id=id, agent="x-code"), decision)

    assert [alert.urgency for alert in announced.alerts] == [Urgency.CRITICAL] * 2


def test_a_guard_that_failed_without_the_tray_has_its_critical_alert_at_the_next_start(announced: Announced) -> None:
    one = event(EventKind.TOOL_BEFORE, agent="x-code")
    hook = {"name": "guard", "status": "failed", "cause": "not found: jq", "let_through": True}
    rows = [record(one, hooks=(hook,)), record(one, hooks=(hook,), verdict=Verdict.DENY)]

    announced.service.summarize_offline(rows)

    alert = announced.alerts[-1]
    assert (len(announced.alerts), alert.urgency, alert.sound) == (2, Urgency.CRITICAL, "alarm")
    assert alert.title == "A guard failed without the tray, and 1 call was not stopped"
    assert alert.body == "guard · X-Code CLI · not found: jq"


UNASKED: dict[str, Any] = {"reason": "not supported yet", "answer": {"line": "claude-code"}}
WINDSURF = event(EventKind.OTHER, agent="windsurf", skip_reason=SkipReason.NOT_SUPPORTED)


def test_the_user_is_notified_once_of_an_agent_without_support(announced: Announced) -> None:
    announced.decide(WINDSURF, **UNASKED, test=True)
    announced.decide(WINDSURF, **UNASKED)
    announced.decide(replace(WINDSURF, id="2", session="t"), **UNASKED)

    (alert,) = announced.alerts
    assert (alert.cls, alert.urgency) == (AlertClass.INFORMATION, Urgency.NORMAL)
    assert alert.body == (
        "Windsurf runs Hooktray's Claude Code hooks · Windsurf is not supported yet: "
        "its tool calls are not guarded · `hooktray agents` shows where"
    )


class Noting(samples.Surroundings):
    def __init__(self, house: House) -> None:
        self.journal = house.stores.journal

    def is_first(self, key: str) -> bool:
        return self.journal.is_first(key)


def test_no_later_tray_notifies_of_the_same_agent_again(house: House) -> None:
    bodies: list[str] = []
    for _ in range(2):
        announced = Announced(around=Noting(house))
        announced.decide(WINDSURF, **UNASKED)
        announced.decide(replace(WINDSURF, agent="codex"), **UNASKED)
        bodies += announced.bodies

    assert [body.partition(" runs")[0] for body in bodies] == ["Windsurf", "Codex"]


def test_an_unsupported_agent_seen_without_a_tray_is_notified_of_later(announced: Announced) -> None:
    announced.service.summarize_offline([record(WINDSURF, **UNASKED), record(WINDSURF, **UNASKED)])

    assert [body.partition(" · ")[0] for body in announced.bodies] == [
        "Windsurf runs Hooktray's Claude Code hooks",
        "2 events were answered while the tray was not running",
    ]


def test_the_user_is_notified_of_a_payload_that_no_protocol_understands(announced: Announced) -> None:
    one = event(EventKind.OTHER, agent="unknown", skip_reason=SkipReason.NOT_UNDERSTOOD)

    announced.decide(one, **UNASKED | {"reason": "not understood"})

    assert announced.bodies[0].startswith("An event of Hooktray's Claude Code hooks was not understood")


def test_a_problem_in_a_source_is_announced_once(announced: Announced) -> None:
    first, second = "/p/settings.json:6:5: unknown event `Stopp`\n  did you mean `Stop`?", "/q.json:1:1: bad"

    announced.service.source_warnings([first])
    announced.service.source_warnings([first])
    announced.service.source_warnings([first, second, "/r.json:1:1: bad"])
    announced.service.source_warnings([])
    announced.service.source_warnings([first])

    unknown = "settings.json:6:5: unknown event `Stopp` · did you mean `Stop`?"
    assert announced.bodies == [unknown, "/q.json:1:1: bad · and 1 more, see `hooktray list`", unknown]


def question(id: str = "q1", **more: Any) -> UserQuestion:
    tool = Tool(name="Bash", input={"command": "rm -rf /srv/secret"})
    asked = event(EventKind.PERMISSION_REQUEST, id="e1", tool=tool, **more)
    return UserQuestion(id=id, event=asked, decision=Decision(verdict=Verdict.ASK))


def test_a_question_has_buttons_and_shows_what_would_run(announced: Announced) -> None:
    announced.service.question_opened(question())

    (alert,) = announced.alerts
    assert (alert.body, alert.about) == ("Bash · rm -rf /srv/secret · needs your answer", "q1")
    assert alert.buttons == (Button.DETAILS, Button.ALLOW, Button.DENY)


RED, BLUE, GREEN = (FormOption(label=label) for label in ("Red", "Blue", "Green"))
COLOUR = FormQuestion(text="Which colour?", options=(RED, BLUE))
FOUR = replace(COLOUR, options=(RED, BLUE, GREEN, FormOption(label="None")))
ANSWERS = Rewrite(target=Target.INPUT, value={"answers": {"Which colour?": "Red"}})
ANSWERED = Decision(verdict=Verdict.ALLOW, rewrite=ANSWERS)
FORMS = [
    ((COLOUR,), "Asks you: Which colour?", ("Red", "Blue")),
    ((FOUR,), "Asks you: Which colour? (Red, Blue, Green, None)", ()),
    ((replace(COLOUR, multiple=True),), "Asks you: Which colour?", ()),
    ((COLOUR, replace(COLOUR, text="Which size?")), "Asks you: Which colour? · Which size?", ()),
    ((FormQuestion(text="Which name?"),), "Asks you: Which name?", ()),
    ((replace(COLOUR, options=(RED, FormOption(label="Red\n"))),), "Asks you: Which colour? (Red, Red )", ()),
]


@every(("questions", "body", "labels"), FORMS)
def test_a_form_is_shown_with_the_answers_that_one_press_gives(
    questions: tuple[FormQuestion, ...], body: str, labels: tuple[str, ...]
) -> None:
    announced = Announced()
    announced.service.question_opened(replace(question(), form=Form(questions=questions)))

    (alert,) = announced.alerts
    assert (alert.body, alert.is_question) == (body, True)
    assert [alert.label(one) for one in alert.buttons] == [*labels, "Answer…"]


def test_a_form_does_not_show_its_texts_where_inputs_are_hidden() -> None:
    announced = Announced(Settings(show_input=False))

    announced.service.question_opened(replace(question(), form=Form(questions=(COLOUR,))))

    assert (announced.alerts[0].body, announced.alerts[0].buttons) == ("Asks you", (Button.ANSWER,))


def test_details_show_the_input_with_its_secrets_masked() -> None:
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    announced = Announced(Settings(show_input=True))
    tool = Tool(name="Bash", input={"command": f"curl -H 'Authorization: Bearer {token}'"})

    announced.service.question_opened(replace(question(), event=event(EventKind.TOOL_BEFORE, tool=tool)))

    assert announced.alerts[0].body.startswith("Bash · curl -H")
    assert token not in announced.alerts[0].body


@every(
    ("form", "end", "decision"),
    [
        (None, Resolution.DENIED, Decision(verdict=Verdict.DENY, reason="no")),
        (Form(questions=(COLOUR,)), Resolution.ANSWERED, ANSWERED),
    ],
)
def test_a_question_that_the_user_answered_is_withdrawn_and_not_announced_again(
    form: Form | None, end: Resolution, decision: Decision
) -> None:
    announced, asked = Announced(), replace(question(), form=form)
    announced.service.question_opened(asked)

    announced.service.question_closed(asked, QuestionResult(resolution=end, channel="page"))
    announced.decide(asked.event, decision)

    assert announced.withdrawn == [announced.alerts[0].key]
    assert len(announced.alerts) == 1


@every("end", [Resolution.ELSEWHERE, Resolution.AGENT_GONE, Resolution.TIMED_OUT, Resolution.QUIT])
def test_a_question_that_ended_elsewhere_is_withdrawn_with_a_notification(end: Resolution) -> None:
    announced, asked = Announced(), question()
    announced.service.question_opened(asked)

    announced.service.question_closed(asked, QuestionResult(resolution=end))

    assert announced.withdrawn == [announced.alerts[0].key]
    assert announced.alerts[1].body == f"The question about Bash is closed · {end.value}"
    assert announced.alerts[1].buttons == ()


def test_an_agents_own_prompt_is_not_announced_beside_the_question(announced: Announced) -> None:
    announced.service.question_opened(question())

    announced.decide(event(EventKind.NOTIFICATION, id="2", topic="permission_prompt", message="may I?"))

    assert announced.classes == [AlertClass.ASKED]


def test_a_long_turn_is_announced_and_a_short_one_is_not() -> None:
    clock = Clock()
    announced = Announced(Settings(min_turn_seconds=30), clock=clock)
    for seconds in (29, 31):
        announced.decide(event(EventKind.PROMPT))
        clock.now += seconds
        announced.decide(event(EventKind.TURN_END, id=str(seconds)))

    assert announced.classes == [AlertClass.TURN_END]


def test_the_end_of_a_subagents_turn_raises_no_alert(announced: Announced) -> None:
    announced.decide(event(EventKind.TURN_END, subagent="explorer"))

    assert announced.alerts == []


def test_a_projects_own_rules_hold_there_and_what_the_menu_turned_off_holds_everywhere() -> None:
    loud = AlertRule(notify=True, urgency="critical", sound_name="complete")
    wanted = Settings(
        alerts={"turn_end": loud, "note": loud}, projects={"p": {"turn_end": AlertRule(sound="none")}, "web": {}}
    )
    announced = Announced(wanted)
    here, there = event(EventKind.TURN_END), event(EventKind.TURN_END, id="2", session="t", cwd="/elsewhere")

    for one in (here, there):
        announced.decide(one)
    announced.settings.current = muted = mute_classes(wanted, ["turn_end"])
    announced.decide(replace(here, id="3"))

    assert [(one.sound, one.urgency, one.sound_name) for one in announced.alerts] == [
        ("", Urgency.CRITICAL, "complete"),
        ("chime", Urgency.CRITICAL, "complete"),
    ]
    rules = [muted.alerts["turn_end"], *(muted.projects[name]["turn_end"] for name in ("p", "web"))]
    assert {(one.notify, one.sound, one.sound_name) for one in rules} == {(False, "none", "")}
    assert muted.alerts["note"] == loud
    assert mute_classes(wanted, ()) is wanted


def reported(line: str, id: str, **more: Any) -> Event:
    """One event of an agent that two lines of ours report."""
    return event(EventKind.NOTIFICATION, id=id, topic="permission_prompt", message="May I?", via_agent=line, **more)


def test_an_event_that_two_lines_report_is_announced_once() -> None:
    clock = Clock()
    announced = Announced(clock=clock)
    announced.decide(reported("", "1"))
    announced.decide(reported("codex", "2"))

    assert announced.classes == [AlertClass.NEEDS_YOU]
    assert announced.withdrawn == []  # what the first one announced stands
    announced.decide(reported("", "3"))  # the same line again
    clock.now += 5.1
    announced.decide(reported("codex", "4"))
    assert announced.classes == [AlertClass.NEEDS_YOU] * 3


def test_another_lines_refusal_is_announced_although_the_first_one_refused_nothing(announced: Announced) -> None:
    call = Tool(name="Bash", input={"command": "ls"})
    announced.decide(event(EventKind.TOOL_BEFORE, id="1", tool=call))
    refused = Decision(verdict=Verdict.DENY, reason="no")

    announced.decide(event(EventKind.TOOL_BEFORE, id="2", tool=call, via_agent="codex"), refused)
    announced.decide(event(EventKind.TOOL_BEFORE, id="3", tool=call), refused)

    assert announced.classes == [AlertClass.BLOCKED]


class Named(samples.Surroundings):
    def __init__(self, name: str) -> None:
        self._name = name

    def name(self, agent: str, session: str) -> str:
        return self._name


def test_a_session_is_called_by_its_name_where_it_ends_or_needs_its_user() -> None:
    announced = Announced(around=Named("main · Fix the login " * 3))
    for kind in (EventKind.TURN_END, EventKind.SESSION_END):
        announced.decide(event(kind))
    bodies = announced.bodies

    assert all(body.startswith("main · Fix the login main") for body in bodies)
    assert [body.rpartition(" · ")[2].partition(":")[0] for body in bodies] == ["Turn ended", "Session ended"]
    assert all(len(body) <= BODY_LIMIT for body in bodies)
    slug = Announced(around=Named("slug"))
    slug.decide(event(EventKind.TURN_END, cwd="", title="slug"))
    assert slug.alerts[0].title.endswith(" · slug")
    assert slug.bodies[0].startswith("Turn ended")  # a name that stands for the project is not said twice
