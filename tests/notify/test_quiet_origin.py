"""Sessions before which no user sits, and requests that an agent answers by itself."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from every import every
from notify import samples
from notify.announced import FAILED, Announced, event

from tray.model.decision import Decision, HookOutput, Outcome, Status, Verdict
from tray.model.event import Event, EventKind
from tray.notify.alert import AlertClass
from tray.notify.service import PATIENCE
from tray.settings import Settings


def answered(verdict: Verdict, reason: str) -> Decision:
    output = HookOutput(verdict=verdict, reason=reason)
    return Decision(verdict=verdict, outcomes=(Outcome(hook="h", status=Status.OK, output=output),))


class Headless(samples.Surroundings):
    """Sessions are headless if `headless` is true; the test runs the timers."""

    def __init__(self, headless: bool) -> None:
        self.headless = headless
        self.timers: list[tuple[float, Callable[[], object]]] = []

    def is_headless(self, agent: str, session: str) -> bool:
        return self.headless

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        self.timers.append((seconds, work))


class Quiet(Announced):
    """Records what is announced about sessions without a user."""

    def __init__(self, settings: Settings | None = None, *, headless: bool = True) -> None:
        around = Headless(headless)
        super().__init__(settings, around)
        self.timers = around.timers


@every("kind", [EventKind.TURN_END, EventKind.TURN_FAILED, EventKind.SESSION_END])
def test_the_ends_of_a_headless_session_are_not_announced_unless_wanted(kind: EventKind) -> None:
    quiet, wanted = Quiet(), Quiet(Settings(notify_headless=True))
    quiet.decide(event(kind))
    wanted.decide(event(kind))

    assert (len(quiet.alerts), len(wanted.alerts)) == (0, 1)


def test_what_a_guard_did_and_a_hook_that_failed_are_announced_in_any_session() -> None:
    quiet = Quiet()
    quiet.decide(event(EventKind.TOOL_BEFORE, "1"), answered(Verdict.DENY, "no"))
    quiet.decide(event(EventKind.TURN_END, "2"), FAILED)

    assert quiet.classes == [AlertClass.BLOCKED, AlertClass.HOOK_FAILED]


def request(id: str = "1") -> Event:
    return event(EventKind.PERMISSION_REQUEST, id, agent="codex", name="PermissionRequest")


def test_a_request_is_announced_once_when_its_session_has_not_gone_on_for_a_second() -> None:
    patient = Quiet(headless=False)
    patient.decide(request("1"))
    patient.decide(request("2"))
    before = list(patient.alerts)
    for seconds, work in patient.timers:
        assert seconds == PATIENCE
        work()

    assert before == []
    assert patient.classes == [AlertClass.NEEDS_YOU]


def test_a_request_that_the_agent_answered_by_itself_is_not_announced() -> None:
    patient = Quiet(headless=False)
    patient.decide(request())
    patient.decide(event(EventKind.TOOL_AFTER, "2", agent="codex"))
    patient.timers[0][1]()

    assert patient.alerts == []


LIMIT, RESETS = "Usage limit reached: ", "You've hit your session limit · resets 3pm"


@every(
    ("topic", "message", "shown"),
    [
        ("rate_limit", RESETS, LIMIT + RESETS),
        ("error", RESETS, LIMIT + RESETS),
        ("error", "AI usage limit reached|1749924000", f"{LIMIT}AI usage limit reached · resets 14 Jun 18:00"),
        ("error", "Quota exceeded. Try again at 10:00.", f"{LIMIT}Quota exceeded. Try again at 10:00."),
        ("server_error", "The limits of my language", "Turn failed: The limits of my language"),
    ],
)
def test_a_usage_limit_is_called_by_its_name_with_the_time_of_its_end(
    monkeypatch: pytest.MonkeyPatch, topic: str, message: str, shown: str
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    limited = Quiet(headless=False)
    limited.decide(event(EventKind.TURN_FAILED, topic=topic, message=message))
    (alert,) = limited.alerts

    assert alert.body == shown
    assert alert.category == ("resource.limit" if shown.startswith(LIMIT) else "task.error")


def test_a_question_in_print_mode_waits_for_nobody() -> None:
    asked = answered(Verdict.ASK, "sure?")
    quiet, wanted = Quiet(), Quiet(Settings(notify_headless=True))

    quiet.decide(event(EventKind.TOOL_BEFORE), asked)
    wanted.decide(event(EventKind.TOOL_BEFORE), asked)

    assert quiet.classes == [AlertClass.BLOCKED]
    assert quiet.bodies[0].endswith("nobody is there to answer")
    assert wanted.classes == [AlertClass.ASKED]
