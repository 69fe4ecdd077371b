"""Which alert an event and its decision deserve: class, words, urgency, sound, key."""

from __future__ import annotations

from typing import Any

import pytest
from agents.recordings import built
from every import every
from msgspec.structs import replace
from notify.announced import HOSTILE, assert_fit_for_the_screen

from tray.engine.record import make_record
from tray.model.decision import Answer, Decision, HookOutput, Outcome, Record, Rewrite, Status, Target, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.notify.alert import DEFAULTS, Alert, AlertClass, Button, Urgency
from tray.notify.policy import alerts, may_have_alerts
from tray.settings import CLASSES, AlertRule

NOTHING = Decision()


def stop(**fields: Any) -> Event:
    base: dict[str, Any] = {
        "id": "e1",
        "agent": "claude-code",
        "name": "Stop",
        "kind": EventKind.TURN_END,
        "session": "s1",
        "cwd": "/home/ada/shop",
        "message": "All 12 tests pass.\n\nI changed three files.",
    }
    return built(**(base | fields))


def bash(**fields: Any) -> Event:
    tool = Tool(name="Bash", input={"command": "rm -rf build/"})
    return stop(**({"name": "PreToolUse", "kind": EventKind.TOOL_BEFORE, "tool": tool, "message": ""} | fields))


def notification(topic: str, message: str = "", **fields: Any) -> Event:
    return stop(name="Notification", kind=EventKind.NOTIFICATION, topic=topic, message=message, **fields)


def said(verdict: Verdict, reason: str, hook: str = "guard", **fields: Any) -> Decision:
    outcome = Outcome(hook=hook, status=Status.OK, output=HookOutput(verdict=verdict, reason=reason))
    return Decision(verdict=verdict, reason=f"{hook}: {reason}", outcomes=(outcome,), **fields)


def only(event: Event, decision: Decision = NOTHING) -> Alert:
    (alert,) = alerts(event, decision)
    return alert


SHELLEY = stop(
    agent="shelley", name="end-of-turn", cwd="", title="fix-login", message="Fixed.", url="https://s.dev/c/9"
)

STOPPED = Decision(
    stop="budget spent", outcomes=(Outcome(hook="budget", status=Status.OK, output=HookOutput(stop="budget spent")),)
)
X_CODE = bash(agent="x-code")  # it has no channel to show a note

CALL, FINAL = "Bash · rm -rf build/", "All 12 tests pass. I changed three files."
END, LEFT, YOU, BLOCKED = AlertClass.TURN_END, AlertClass.SESSION_END, AlertClass.NEEDS_YOU, AlertClass.BLOCKED
INFORMATION = AlertClass.INFORMATION


def left(topic: str) -> Event:
    return stop(kind=EventKind.SESSION_END, topic=topic, message="")


ASKS_IN_TERMINAL = bash(agent="codex", name="PermissionRequest", kind=EventKind.PERMISSION_REQUEST)
ASKS_A_QUESTION = stop(agent="opencode", name="Elicitation", kind=EventKind.ELICITATION, message="Which colour?")
NOT_CARRIED = replace(said(Verdict.ASK, "sure?"), verdict=Verdict.DENY)  # the agent cannot ask
WITH_JSON = '{"decision": "block", "reason": "not on main"}\n'  # the output of a hook that exits with 2

TABLE: list[tuple[Event, Decision, AlertClass, str]] = [
    (stop(), NOTHING, END, "Turn ended: All 12 tests pass."),
    (stop(message=""), NOTHING, END, "Turn ended"),
    (SHELLEY, NOTHING, END, "Turn ended: Fixed."),
    (stop(kind=EventKind.COMPLETION_CLAIM, message="Done"), NOTHING, END, "Turn ended: Done"),
    (stop(kind=EventKind.TURN_FAILED, message="", topic="rate_limit"), NOTHING, END, "Usage limit reached"),
    (notification("agent_completed", "ok"), NOTHING, END, "Turn ended: ok"),
    (stop(), Decision(stop="enough"), END, "Turn ended: All 12 tests pass."),
    (left("logout"), NOTHING, LEFT, "Session ended: you signed out"),
    (left("prompt_input_exit"), NOTHING, LEFT, "Session ended: you left it"),
    (left("moved_to_cloud"), NOTHING, LEFT, "Session ended: moved to cloud"),
    (left("other"), NOTHING, LEFT, "Session ended"),
    (stop(kind=EventKind.SESSION_END), NOTHING, LEFT, "Session ended"),
    (notification("permission_prompt", "May I?"), NOTHING, YOU, "May I?"),
    (notification("idle_prompt", "Waiting"), NOTHING, YOU, "Waiting"),
    (notification("elicitation_url_dialog", "Open it"), NOTHING, YOU, "Open it"),
    (notification("agent_needs_input", title="Which one?"), NOTHING, YOU, "Which one?"),
    (notification("", "Hello"), NOTHING, YOU, "Hello"),
    (notification("permission_prompt"), NOTHING, YOU, "Needs you"),
    (notification(""), NOTHING, YOU, "Needs you"),
    (notification("brand_new", "Hm"), NOTHING, YOU, "Hm"),
    (ASKS_IN_TERMINAL, NOTHING, YOU, f"Waits for your permission: {CALL}"),
    (ASKS_A_QUESTION, NOTHING, YOU, "Asks you: Which colour?"),
    (notification("auth_success", "Hi Ada"), NOTHING, INFORMATION, "Hi Ada"),
    (stop(problem="not JSON"), NOTHING, INFORMATION, "sent a payload we could not read: not JSON"),
    (bash(), said(Verdict.DENY, "no"), BLOCKED, f"{CALL} · blocked by guard: no"),
    (bash(), said(Verdict.DENY, ""), BLOCKED, f"{CALL} · blocked by guard"),
    (bash(), said(Verdict.DENY, WITH_JSON), BLOCKED, f"{CALL} · blocked by guard: not on main"),
    (bash(), said(Verdict.DENY, "{oops"), BLOCKED, f"{CALL} · blocked by guard: {{oops"),
    (bash(), said(Verdict.DENY, '{"a":' * 9000), BLOCKED, f"{CALL} · blocked by guard: " + '{"a":' * 25),
    (bash(), NOT_CARRIED, BLOCKED, f"{CALL} · blocked by guard: sure?"),
    (bash(), Decision(verdict=Verdict.DENY, reason="busy"), BLOCKED, f"{CALL} · blocked: busy"),
    (bash(), Decision(stop="budget spent"), BLOCKED, f"{CALL} · the agent is stopped: budget spent"),
    (bash(), STOPPED, BLOCKED, f"{CALL} · budget stopped the agent: budget spent"),
    (stop(), said(Verdict.DENY, "red"), BLOCKED, f"End of turn · {FINAL} · blocked by guard: red"),
    (stop(kind=EventKind.COMPLETION_CLAIM), said(Verdict.DENY, "red"), BLOCKED,
     f"Completion claim · {FINAL} · blocked by guard: red"),
    (stop(kind=EventKind.SUBAGENT_END), said(Verdict.DENY, "red"), BLOCKED,
     f"End of subagent · {FINAL} · blocked by guard: red"),
    (bash(), said(Verdict.ASK, "sure?"), AlertClass.ASKED, f"{CALL} · guard asks you: sure?"),
    (X_CODE, Decision(notes=("slow disk", "two warnings")), AlertClass.NOTE, "slow disk · two warnings"),
]  # fmt: skip


def row_of(event: Event, decision: Decision) -> Record:
    return make_record(event, decision, Answer(), at=0.0, ms=0.0, offline=True)


@every(("event", "decision"), [row[:2] for row in TABLE if row[1] != Decision(stop="budget spent")])
def test_a_row_shows_that_its_event_may_have_had_an_alert(event: Event, decision: Decision) -> None:
    assert may_have_alerts(row_of(event, decision))  # a row knows a stop by its hook


def test_a_row_of_a_step_to_which_no_hook_objects_shows_none() -> None:
    assert not may_have_alerts(row_of(bash(), NOTHING))


@every(("event", "decision", "cls", "body"), TABLE)
def test_an_event_and_its_decision_are_told_in_these_words(
    event: Event, decision: Decision, cls: AlertClass, body: str
) -> None:
    alert = only(event, decision)

    assert alert.cls is cls
    assert alert.body == body or (len(alert.body) == 200 and alert.body.startswith(body))


QUIET_KINDS = [
    *(EventKind.SUBAGENT_END, EventKind.ROUND_END, EventKind.TOOL_BEFORE, EventKind.SESSION_START),
    *(EventKind.OTHER, EventKind.TURN_INTERRUPTED),
]


@every(
    ("event", "decision"),
    [*((stop(kind=kind), NOTHING) for kind in QUIET_KINDS), (stop(), Decision(context="run the tests"))],
)
def test_events_without_a_waiting_user_and_a_stop_with_a_reminder_raise_no_alert(
    event: Event, decision: Decision
) -> None:
    assert alerts(event, decision) == ()


def test_the_title_is_agent_and_project() -> None:
    assert only(stop()).title == "claude-code · shop"
    assert only(SHELLEY).title == "shelley · fix-login"
    assert only(stop(cwd="")).title == "claude-code"


def test_what_was_blocked_is_named_without_its_input_where_the_user_wants_that() -> None:
    (hidden,) = alerts(bash(), said(Verdict.DENY, "no"), show_input=False)

    assert hidden.body == "Bash · blocked by guard: no"


def test_every_broken_hook_has_an_alert_of_its_own_that_names_the_cure() -> None:
    failed = [Outcome(hook=name, status=Status.FAILED, cause="killed by signal 9") for name in ("a", "b")]
    slow = Outcome(hook="c", status=Status.TIMED_OUT, cause="timed out after 10 s")
    unread = Outcome(hook="d", status=Status.FAILED, output=HookOutput(problem="not JSON"))

    found = alerts(bash(), Decision(outcomes=(*failed, slow, unread)))

    log = "`hooktray log` and `why` show what it wrote"
    assert [(alert.cls, alert.body) for alert in found] == [
        (AlertClass.HOOK_FAILED, f"a: killed by signal 9 · {log}"),
        (AlertClass.HOOK_FAILED, f"b: killed by signal 9 · {log}"),
        (AlertClass.HOOK_TIMED_OUT, "c: timed out after 10 s · make it quicker, or raise its `timeout:` in its file"),
        (AlertClass.HOOK_FAILED, f"d: not JSON · {log}"),
    ]
    assert len({alert.key for alert in found}) == 4


MISSING = Outcome(hook="guard", status=Status.FAILED, cause="not found: jq", let_through=True)


def test_a_guard_that_failed_and_stopped_nothing_is_a_critical_alert() -> None:
    rules: dict[str, AlertRule] = dict.fromkeys(AlertClass, AlertRule(notify=False, sound="none", urgency="low"))

    (alert,) = alerts(X_CODE, Decision(outcomes=(MISSING,)), rules)

    assert (alert.urgency, alert.notify, alert.sound) == (Urgency.CRITICAL, True, "alarm"), "no rule makes it quieter"
    assert alert.body == "guard failed, and x-code cannot ask you: Bash was not stopped · not found: jq"
    assert Button.DETAILS in alert.buttons


@every(
    ("verdict", "first"),
    [(Verdict.DENY, (BLOCKED, Urgency.NORMAL)), (Verdict.ASK, (AlertClass.ASKED, Urgency.CRITICAL))],
)
def test_a_call_that_another_hook_refused_or_asks_about_was_not_let_through(
    verdict: Verdict, first: tuple[AlertClass, Urgency]
) -> None:
    other = said(verdict, "no", "other")

    found = alerts(bash(), replace(other, outcomes=(*other.outcomes, MISSING)))

    assert [(alert.cls, alert.urgency) for alert in found] == [first, (AlertClass.HOOK_FAILED, Urgency.NORMAL)]


def test_a_rewrite_names_its_author_and_is_not_told_when_the_call_was_denied() -> None:
    rewrite = Rewrite(target=Target.INPUT, value={"command": "ls"})
    author = Outcome(hook="tidy", status=Status.OK, output=HookOutput(rewrite=rewrite))
    decision = Decision(rewrite=rewrite, outcomes=(author,))

    assert only(bash(), decision).body == "Bash · rm -rf build/ · rewritten by tidy"
    denied = alerts(bash(), replace(decision, verdict=Verdict.DENY, reason="x"))
    assert [alert.cls for alert in denied] == [AlertClass.BLOCKED]


def test_needing_you_outranks_a_turn_end_but_an_idle_prompt_does_not_stay() -> None:
    assert only(notification("permission_prompt")).urgency is Urgency.CRITICAL
    assert only(notification("idle_prompt")).urgency is Urgency.NORMAL
    assert only(stop(problem="x")).urgency is Urgency.LOW


def test_the_same_class_of_a_session_replaces_itself_and_nothing_else() -> None:
    first = only(stop(message="one"))

    assert only(stop(message="two")).key == first.key
    denials = [only(bash(id=id), said(Verdict.DENY, "no")).key for id in ("e1", "e2")]
    assert len(set(denials)) == 2, "each refusal is of another call"
    others = [stop(session="s2"), stop(agent="x-code"), stop(kind=EventKind.SESSION_END)]
    assert len({first.key, *(only(event).key for event in others)}) == 4


@every(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://a b", "https://a\n", "", "https://" + "a" * 3000]
)
def test_only_web_addresses_can_be_opened(url: str) -> None:
    assert only(stop(url=url)).url == ""
    assert only(SHELLEY).url == "https://s.dev/c/9"


def test_rules_change_the_notification_and_the_sound_of_a_class() -> None:
    (loud,) = alerts(stop(), NOTHING, {"turn_end": AlertRule(sound="bell")})
    (quiet,) = alerts(stop(), NOTHING, {"turn_end": AlertRule(sound="none")})
    (heard,) = alerts(stop(), NOTHING, {"turn_end": AlertRule(notify=False)})

    assert (loud.sound, loud.notify) == ("bell", True)
    assert (quiet.sound, quiet.notify) == ("", True)
    assert (heard.sound, heard.notify) == ("chime", False)
    assert alerts(stop(), NOTHING, {"turn_end": AlertRule(notify=False, sound="")}) == ()


def test_every_class_has_a_default_and_a_key_in_the_settings() -> None:
    assert set(DEFAULTS) == set(AlertClass)
    assert [str(cls) for cls in AlertClass] == list(CLASSES)


@every("text", HOSTILE)
def test_hostile_text_reaches_no_alert_as_it_is(text: str) -> None:
    decision = replace(said(Verdict.DENY, text, hook=text), notes=(text,))
    events = [stop(message=text, cwd=f"/x/{text}"), notification("", text, title=text), stop(problem=text), bash()]
    found = [alert for event in events for alert in alerts(event, decision) + alerts(event, NOTHING)]
    for alert in found:
        assert_fit_for_the_screen(alert)


@every(
    ("event", "decision", "body"),
    [
        (stop(message="All done"), NOTHING, "回合结束: All done"),
        (bash(), said(Verdict.DENY, ""), f"{CALL} · 被 guard 拦截"),
        (bash(), said(Verdict.DENY, "Turn ended"), f"{CALL} · 被 guard 拦截: Turn ended"),
    ],
)
def test_our_words_are_in_the_readers_language_and_what_hooks_and_agents_say_stays(
    monkeypatch: pytest.MonkeyPatch, event: Event, decision: Decision, body: str
) -> None:
    monkeypatch.setenv("LANGUAGE", "zh_CN")

    assert only(event, decision).body == body


@every(
    ("agent", "decision"),
    [("claude-code", NOTHING), ("codex", Decision(verdict=Verdict.ALLOW)), ("codex", Decision(stop="enough"))],
)
def test_a_permission_that_is_settled_or_notified_otherwise_needs_nobody(agent: str, decision: Decision) -> None:
    event = bash(agent=agent, name="PermissionRequest", kind=EventKind.PERMISSION_REQUEST)

    assert [one for one in alerts(event, decision) if one.cls is AlertClass.NEEDS_YOU] == []
