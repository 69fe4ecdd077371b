from __future__ import annotations

from typing import Any

import pytest
from agents.recordings import built
from clock import Clock
from house import House
from msgspec.structs import replace
from notify import samples

from tray.engine.user_questions import QuestionResult, Resolution, UserQuestion
from tray.model.decision import RAN_BESIDE, Decision, Outcome, Record, Rewrite, SkipReason, Status, Target, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.model.form import Form, FormOption, FormQuestion
from tray.notify.alert import BODY_LIMIT, Alert, AlertClass, Button, FixedSettings, Urgency, mute_classes
from tray.notify.service import AlertService
from tray.settings import AlertRule, Settings


class Announced:
    """Remembers what it was given to announce."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []
        self.withdrawn: list[str] = []

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        self.alerts += alerts

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self.withdrawn += keys

    @property
    def classes(self) -> list[AlertClass]:
        return [alert.cls for alert in self.alerts]


@pytest.fixture
def announced() -> Announced:
    return Announced()


@pytest.fixture
def service(announced: Announced) -> AlertService:
    return samples.service(announced)


def event(kind: EventKind, id: str = "1", **more: Any) -> Event:
    fields: dict[str, Any] = {"agent": "claude-code", "name": kind.value, "session": "s", "cwd": "/p"}
    return built(id=id, kind=kind, **{**fields, **more})


def record(event: Event, **more: Any) -> Record:
    fields: dict[str, Any] = {"at": 0.0, "project": "p", "reason": "", "ms": 1.0, "verdict": Verdict.ABSTAIN}
    return Record(
        id=event.id, agent=event.agent, session=event.session, event=event.name, kind=event.kind, **{**fields, **more}
    )


FAILED = Decision(outcomes=(Outcome(hook="h", status=Status.FAILED, cause="exit 1"),))


def test_an_event_that_was_let_go_is_told_at_once_and_its_hooks_trouble_later(
    service: AlertService, announced: Announced
) -> None:
    ended = event(EventKind.SESSION_END)

    service.arrived(ended)
    assert announced.classes == [AlertClass.SESSION_END]
    service.decided(ended, FAILED, record(ended))

    assert announced.classes == [AlertClass.SESSION_END, AlertClass.HOOK_FAILED]


def test_an_event_that_is_waited_for_is_told_once_with_its_decision(
    service: AlertService, announced: Announced
) -> None:
    stop = event(EventKind.TURN_END)

    service.decided(stop, FAILED, record(stop))

    assert sorted(announced.classes) == [AlertClass.HOOK_FAILED, AlertClass.TURN_END]


def test_a_claim_and_the_stop_after_it_are_one_end(service: AlertService, announced: Announced) -> None:
    for kind in (EventKind.COMPLETION_CLAIM, EventKind.TURN_END):
        one = event(kind, id=kind.value, agent="starchild")
        service.decided(one, Decision(), record(one))

    assert announced.classes == [AlertClass.TURN_END]


def test_what_needed_you_is_taken_back_when_the_session_goes_on(service: AlertService, announced: Announced) -> None:
    asked = event(EventKind.NOTIFICATION, topic="permission_prompt", message="may I?")
    service.decided(asked, Decision(), record(asked))
    assert announced.withdrawn == []

    goes_on = event(EventKind.TOOL_BEFORE, id="2")
    service.decided(goes_on, Decision(), record(goes_on))

    assert announced.withdrawn == [announced.alerts[0].key]


def test_another_session_takes_nothing_back(service: AlertService, announced: Announced) -> None:
    asked = event(EventKind.NOTIFICATION, topic="permission_prompt")
    service.decided(asked, Decision(), record(asked))

    other = event(EventKind.TOOL_BEFORE, id="2", session="other")
    service.decided(other, Decision(), record(other))

    assert announced.withdrawn == []


def test_events_of_the_time_without_a_tray_are_summed_up(service: AlertService, announced: Announced) -> None:
    one = event(EventKind.TOOL_BEFORE)

    service.summarize_offline([record(one), record(one, verdict=Verdict.DENY)])
    service.summarize_offline([])

    assert [alert.body for alert in announced.alerts] == [
        "2 events were answered while the tray was not running · 1 of them was denied"
    ]


def test_events_that_a_busy_tray_did_not_answer_are_summed_up_if_they_may_have_raised_an_alert(
    service: AlertService, announced: Announced
) -> None:
    step, end = event(EventKind.TOOL_BEFORE), event(EventKind.TURN_END, name="Stop")

    service.summarize_missed([record(step), record(step, verdict=Verdict.ALLOW)])
    assert announced.alerts == []
    service.summarize_missed([record(step), record(end), record(step, verdict=Verdict.DENY)])

    (alert,) = announced.alerts
    assert alert.body == (
        "2 events were answered without the tray, which was busy: Claude Code Stop, Claude Code tool_before"
        " · 1 of them was denied"
    )


@pytest.mark.parametrize(
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
    service: AlertService, announced: Announced, kind: EventKind, row: dict[str, Any], is_counted: bool
) -> None:
    service.summarize_missed([record(event(kind), **row)])

    assert bool(announced.alerts) is is_counted


def test_each_call_that_a_failed_guard_let_through_has_its_critical_alert(
    service: AlertService, announced: Announced
) -> None:
    decision = Decision(outcomes=(replace(FAILED.outcomes[0], let_through=True),))
    for id in ("1", "2"):
        one = event(EventKind.TOOL_BEFORE, id=id, agent="x-code")
        service.decided(one, decision, record(one))

    assert [alert.urgency for alert in announced.alerts] == [Urgency.CRITICAL] * 2


def test_a_guard_that_failed_without_the_tray_has_its_critical_alert_at_the_next_start(
    service: AlertService, announced: Announced
) -> None:
    one = event(EventKind.TOOL_BEFORE, agent="x-code")
    hook = {"name": "guard", "status": "failed", "cause": "not found: jq", "let_through": True}
    rows = [record(one, hooks=(hook,)), record(one, hooks=(hook,), verdict=Verdict.DENY)]

    service.summarize_offline(rows)

    alert = announced.alerts[-1]
    assert (len(announced.alerts), alert.urgency, alert.sound) == (2, Urgency.CRITICAL, "alarm")
    assert alert.title == "A guard failed without the tray, and 1 call was not stopped"
    assert alert.body == "guard · X-Code CLI · not found: jq"


UNASKED = {"reason": "not supported yet", "answer": {"line": "claude-code"}}


def test_the_user_is_notified_once_of_an_agent_without_support(service: AlertService, announced: Announced) -> None:
    one = event(EventKind.OTHER, agent="windsurf", skip_reason=SkipReason.NOT_SUPPORTED)

    service.decided(one, Decision(), record(one, **UNASKED))
    service.decided(replace(one, id="2", session="t"), Decision(), record(one, **UNASKED))

    (alert,) = announced.alerts
    assert (alert.cls, alert.urgency) == (AlertClass.INFORMATION, Urgency.NORMAL)
    assert alert.body == (
        "Windsurf runs Hooktray's Claude Code hooks · Windsurf is not supported yet: "
        "its tool calls are not guarded · `hooktray agents` shows where"
    )


class Noting(samples.Surroundings):
    """With a journal."""

    def __init__(self, house: House) -> None:
        self.journal = house.stores.journal

    def is_first(self, key: str) -> bool:
        return self.journal.is_first(key)


def test_no_later_tray_notifies_of_the_same_agent_again(house: House, announced: Announced) -> None:
    one = event(EventKind.OTHER, agent="windsurf", skip_reason=SkipReason.NOT_SUPPORTED)
    other = replace(one, agent="codex")

    for _ in range(2):
        service = samples.service(announced, around=Noting(house))
        service.decided(one, Decision(), record(one, **UNASKED))
        service.decided(other, Decision(), record(other, **UNASKED))

    assert [alert.body.partition(" runs")[0] for alert in announced.alerts] == ["Windsurf", "Codex"]


def test_an_agent_without_support_that_came_while_no_tray_ran_is_notified_of_later(
    service: AlertService, announced: Announced
) -> None:
    one = event(EventKind.OTHER, agent="windsurf", skip_reason=SkipReason.NOT_SUPPORTED)

    service.summarize_offline([record(one, **UNASKED), record(one, **UNASKED)])

    assert [alert.body.partition(" · ")[0] for alert in announced.alerts] == [
        "Windsurf runs Hooktray's Claude Code hooks",
        "2 events were answered while the tray was not running",
    ]


def test_the_user_is_not_notified_of_a_test(service: AlertService, announced: Announced) -> None:
    one = event(EventKind.OTHER, agent="windsurf", skip_reason=SkipReason.NOT_SUPPORTED)

    service.decided(one, Decision(), record(one, **UNASKED, test=True))

    assert announced.alerts == []


def test_the_user_is_notified_of_a_payload_that_no_protocol_understands(
    service: AlertService, announced: Announced
) -> None:
    one = event(EventKind.OTHER, agent="unknown", skip_reason=SkipReason.NOT_UNDERSTOOD)

    service.decided(one, Decision(), record(one, **UNASKED | {"reason": "not understood"}))

    assert announced.alerts[0].body.startswith("An event of Hooktray's Claude Code hooks was not understood")


def test_what_is_wrong_in_a_source_is_told_once(service: AlertService, announced: Announced) -> None:
    first, second = "/p/settings.json:6:5: unknown event `Stopp`\n  did you mean `Stop`?", "/q.json:1:1: bad"

    service.source_warnings([first])
    service.source_warnings([first])
    service.source_warnings([first, second, "/r.json:1:1: bad"])
    service.source_warnings([])
    service.source_warnings([first])

    bodies = [alert.body for alert in announced.alerts]
    assert bodies[0] == "settings.json:6:5: unknown event `Stopp` · did you mean `Stop`?"
    assert bodies[1] == "/q.json:1:1: bad · and 1 more, see `hooktray list`"
    assert bodies[2:] == bodies[:1]


def question(id: str = "q1", **more: Any) -> UserQuestion:
    tool = Tool(name="Bash", input={"command": "rm -rf /srv/secret"})
    asked = event(EventKind.PERMISSION_REQUEST, id="e1", tool=tool, **more)
    return UserQuestion(id=id, event=asked, decision=Decision(verdict=Verdict.ASK))


def test_a_question_has_buttons_and_shows_what_would_run(service: AlertService, announced: Announced) -> None:
    service.question_opened(question())

    (alert,) = announced.alerts
    assert (alert.body, alert.about) == ("Bash · rm -rf /srv/secret · needs your answer", "q1")
    assert alert.buttons == (Button.DETAILS, Button.ALLOW, Button.DENY)


RED, BLUE, GREEN = (FormOption(label=label) for label in ("Red", "Blue", "Green"))
COLOUR = FormQuestion(text="Which colour?", options=(RED, BLUE))
FOUR = replace(COLOUR, options=(RED, BLUE, GREEN, FormOption(label="None")))
FORMS = [
    ("one question", (COLOUR,), "Asks you: Which colour?", ("Red", "Blue")),
    ("more than three answers", (FOUR,), "Asks you: Which colour? (Red, Blue, Green, None)", ()),
    ("several answers", (replace(COLOUR, multiple=True),), "Asks you: Which colour?", ()),
    ("two questions", (COLOUR, replace(COLOUR, text="Which size?")), "Asks you: Which colour? · Which size?", ()),
    ("own words only", (FormQuestion(text="Which name?"),), "Asks you: Which name?", ()),
    ("labels that look alike", (replace(COLOUR, options=(RED, FormOption(label="Red\n"))),),
     "Asks you: Which colour? (Red, Red )", ()),
]  # fmt: skip


@pytest.mark.parametrize(("questions", "body", "labels"), [one[1:] for one in FORMS], ids=[one[0] for one in FORMS])
def test_a_form_is_shown_with_the_answers_that_one_press_gives(
    service: AlertService,
    announced: Announced,
    questions: tuple[FormQuestion, ...],
    body: str,
    labels: tuple[str, ...],
) -> None:
    service.question_opened(replace(question(), form=Form(questions=questions)))

    (alert,) = announced.alerts
    assert (alert.body, alert.is_question) == (body, True)
    assert [alert.label(one) for one in alert.buttons] == [*labels, "Answer…"]


def test_a_form_does_not_show_its_texts_where_inputs_are_hidden(announced: Announced) -> None:
    service = samples.service(announced, FixedSettings(Settings(show_input=False)))

    service.question_opened(replace(question(), form=Form(questions=(COLOUR,))))

    assert (announced.alerts[0].body, announced.alerts[0].buttons) == ("Asks you", (Button.ANSWER,))


def test_the_users_own_answers_are_not_told_again(service: AlertService, announced: Announced) -> None:
    asked = replace(question(), form=Form(questions=(COLOUR,)))
    service.question_opened(asked)
    service.question_closed(asked, QuestionResult(resolution=Resolution.ANSWERED, channel="page"))

    answers = Rewrite(target=Target.INPUT, value={"answers": {"Which colour?": "Red"}})
    service.decided(asked.event, Decision(verdict=Verdict.ALLOW, rewrite=answers), record(asked.event))

    assert len(announced.alerts) == 1


def test_details_show_the_input_with_its_secrets_masked(announced: Announced) -> None:
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    service = samples.service(announced, FixedSettings(Settings(show_input=True)))
    tool = Tool(name="Bash", input={"command": f"curl -H 'Authorization: Bearer {token}'"})

    service.question_opened(replace(question(), event=event(EventKind.TOOL_BEFORE, tool=tool)))

    assert announced.alerts[0].body.startswith("Bash · curl -H")
    assert token not in announced.alerts[0].body


def test_what_the_user_judged_himself_is_taken_back_and_not_told_again(
    service: AlertService, announced: Announced
) -> None:
    asked = question()
    service.question_opened(asked)

    service.question_closed(asked, QuestionResult(resolution=Resolution.DENIED, channel="menu"))
    service.decided(asked.event, Decision(verdict=Verdict.DENY, reason="no"), record(asked.event))

    assert announced.withdrawn == [announced.alerts[0].key]
    assert len(announced.alerts) == 1


@pytest.mark.parametrize("end", [Resolution.ELSEWHERE, Resolution.AGENT_GONE, Resolution.TIMED_OUT, Resolution.QUIT])
def test_a_question_that_ended_otherwise_is_taken_back_and_that_is_said(
    service: AlertService, announced: Announced, end: Resolution
) -> None:
    asked = question()
    service.question_opened(asked)

    service.question_closed(asked, QuestionResult(resolution=end))

    assert announced.withdrawn == [announced.alerts[0].key]
    assert announced.alerts[1].body == f"The question about Bash is closed · {end.value}"
    assert announced.alerts[1].buttons == ()


def test_an_agents_own_prompt_is_not_told_beside_the_question(service: AlertService, announced: Announced) -> None:
    prompt = event(EventKind.NOTIFICATION, id="2", topic="permission_prompt", message="may I?")
    service.question_opened(question())

    service.decided(prompt, Decision(), record(prompt))

    assert announced.classes == [AlertClass.ASKED]


def test_a_short_turn_is_not_told_and_a_long_one_is(announced: Announced) -> None:
    clock = Clock()
    service = samples.service(announced, FixedSettings(Settings(min_turn_seconds=30)), clock=clock)
    for seconds in (29, 31):
        begin = event(EventKind.PROMPT)
        service.decided(begin, Decision(), record(begin))
        clock.now += seconds
        end = event(EventKind.TURN_END, id=str(seconds))
        service.decided(end, Decision(), record(end))

    assert announced.classes == [AlertClass.TURN_END]


def test_the_end_of_a_subagents_turn_is_none_of_the_users_business(
    service: AlertService, announced: Announced
) -> None:
    end = event(EventKind.TURN_END, subagent="explorer")

    service.decided(end, Decision(), record(end))

    assert announced.alerts == []


def test_a_projects_own_rules_hold_there_and_what_the_menu_turned_off_holds_everywhere(announced: Announced) -> None:
    loud = AlertRule(urgency="critical", sound_name="complete")
    wanted = Settings(alerts={"turn_end": loud}, projects={"p": {"turn_end": AlertRule(sound="none")}})
    settings = FixedSettings(wanted)
    service = samples.service(announced, settings)
    here, there = event(EventKind.TURN_END), event(EventKind.TURN_END, id="2", session="t", cwd="/elsewhere")

    for one in (here, there):
        service.decided(one, Decision(), record(one))
    settings.current = mute_classes(wanted, ["turn_end"])
    service.decided(replace(here, id="3"), Decision(), record(here))

    assert [(one.sound, one.urgency, one.sound_name) for one in announced.alerts] == [
        ("", Urgency.CRITICAL, "complete"),
        ("chime", Urgency.CRITICAL, "complete"),
    ]


def test_a_broken_hook_is_told_once_an_hour_and_counted_meanwhile(announced: Announced) -> None:
    service = samples.service(announced, clock=Clock())
    for number in range(5):
        one = event(EventKind.TOOL_BEFORE, id=str(number))
        service.decided(one, FAILED, record(one))

    assert announced.classes == [AlertClass.HOOK_FAILED]
    assert [one.hook for one in service.hook_problems] == ["h"]


def reported(line: str, id: str, **more: Any) -> Event:
    """One event of an agent that two lines of ours report."""
    return event(EventKind.NOTIFICATION, id=id, topic="permission_prompt", message="May I?", via_agent=line, **more)


def tell(service: AlertService, one: Event, decision: Decision | None = None) -> None:
    service.decided(one, decision or Decision(), record(one))


def test_an_event_that_two_lines_report_is_announced_once(service: AlertService, announced: Announced) -> None:
    tell(service, reported("", "1"))
    tell(service, reported("codex", "2"))

    assert announced.classes == [AlertClass.NEEDS_YOU]
    assert announced.withdrawn == []  # what the first one announced stands


def test_the_same_line_again_is_announced_again(service: AlertService, announced: Announced) -> None:
    tell(service, reported("", "1"))
    tell(service, reported("", "2"))

    assert announced.classes == [AlertClass.NEEDS_YOU] * 2


def test_another_lines_refusal_is_announced_although_the_first_one_refused_nothing(
    service: AlertService, announced: Announced
) -> None:
    call = Tool(name="Bash", input={"command": "ls"})
    tell(service, event(EventKind.TOOL_BEFORE, id="1", tool=call))
    refused = Decision(verdict=Verdict.DENY, reason="no")

    tell(service, event(EventKind.TOOL_BEFORE, id="2", tool=call, via_agent="codex"), refused)
    tell(service, event(EventKind.TOOL_BEFORE, id="3", tool=call), refused)

    assert announced.classes == [AlertClass.BLOCKED]


def test_a_later_report_is_announced_again(announced: Announced) -> None:
    clock = Clock()
    service = samples.service(announced, clock=clock)
    tell(service, reported("", "1"))
    clock.now += 5.1

    tell(service, reported("codex", "2"))

    assert announced.classes == [AlertClass.NEEDS_YOU] * 2


class Named(samples.Surroundings):
    """All sessions have this name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self, agent: str, session: str) -> str:
        return self._name


def test_a_session_is_called_by_its_name_where_it_ends_or_needs_its_user() -> None:
    named = Announced()
    service = samples.service(named, around=Named("main · Fix the login " * 3))
    for kind in (EventKind.TURN_END, EventKind.SESSION_END):
        ended = event(kind)
        service.decided(ended, Decision(), record(ended))
    bodies = [one.body for one in named.alerts]

    assert all(body.startswith("main · Fix the login main") for body in bodies)
    assert [body.rpartition(" · ")[2].partition(":")[0] for body in bodies] == ["Turn ended", "Session ended"]
    assert all(len(body) <= BODY_LIMIT for body in bodies)


def test_a_name_that_stands_for_the_project_is_not_said_twice() -> None:
    named = Announced()
    ended = event(EventKind.TURN_END, cwd="", title="my-slug")
    service = samples.service(named, around=Named("my-slug"))
    service.decided(ended, Decision(), record(ended))

    assert named.alerts[0].title.endswith(" · my-slug")
    assert named.alerts[0].body.startswith("Turn ended")


def test_a_session_without_a_name_is_not_called_by_one() -> None:
    unnamed = Announced()
    ended = event(EventKind.TURN_END)
    samples.service(unnamed).decided(ended, Decision(), record(ended))

    assert unnamed.alerts[0].body.startswith("Turn ended")
