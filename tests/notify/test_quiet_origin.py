"""Sessions before which no user sits, and requests that an agent answers by itself."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from notify import samples
from notify.test_service import FAILED, Announced, event, record

from tray.model.decision import NO_OPINION, Decision, HookOutput, Outcome, Status, Verdict
from tray.model.event import Event, EventKind
from tray.notify.alert import AlertClass, FixedSettings
from tray.notify.service import PATIENCE
from tray.settings import Settings

BLOCKED = Decision(
    verdict=Verdict.DENY,
    outcomes=(Outcome(hook="h", status=Status.OK, output=HookOutput(verdict=Verdict.DENY, reason="no")),),
)


class Quiet(samples.Surroundings):
    """A service whose sessions are headless, with timers that the test has in hand."""

    def __init__(self, settings: Settings, *, headless: bool = True) -> None:
        self.headless = headless
        self.announced = Announced()
        self.timers: list[tuple[float, Callable[[], object]]] = []
        self.service = samples.service(self.announced, FixedSettings(settings), self)

    def is_headless(self, agent: str, session: str) -> bool:
        return self.headless

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        self.timers.append((seconds, work))

    def decide(self, one: Event, decision: Decision = NO_OPINION) -> None:
        self.service.decided(one, decision, record(one))


@pytest.mark.parametrize("kind", [EventKind.TURN_END, EventKind.TURN_FAILED, EventKind.SESSION_END])
def test_the_ends_of_a_headless_session_are_not_announced_unless_wanted(kind: EventKind) -> None:
    quiet, wanted = Quiet(Settings()), Quiet(Settings(notify_headless=True))
    quiet.decide(event(kind))
    wanted.decide(event(kind))

    assert (len(quiet.announced.alerts), len(wanted.announced.alerts)) == (0, 1)


def test_what_a_guard_did_and_a_hook_that_failed_are_announced_in_any_session() -> None:
    quiet = Quiet(Settings())
    quiet.decide(event(EventKind.TOOL_BEFORE, "1"), BLOCKED)
    quiet.decide(event(EventKind.TURN_END, "2"), FAILED)

    assert quiet.announced.classes == [AlertClass.BLOCKED, AlertClass.HOOK_FAILED]


def request(id: str = "1") -> Event:
    return event(EventKind.PERMISSION_REQUEST, id, agent="codex", name="PermissionRequest")


def test_a_request_is_announced_when_its_session_has_not_gone_on_for_a_second() -> None:
    patient = Quiet(Settings(), headless=False)
    patient.decide(request())
    before = list(patient.announced.alerts)
    seconds, work = patient.timers[0]
    work()

    assert (before, seconds) == ([], PATIENCE)
    assert patient.announced.classes == [AlertClass.NEEDS_YOU]


def test_a_request_that_the_agent_answered_by_itself_is_not_announced() -> None:
    patient = Quiet(Settings(), headless=False)
    patient.decide(request())
    patient.decide(event(EventKind.TOOL_AFTER, "2", agent="codex"))
    patient.timers[0][1]()

    assert patient.announced.alerts == []


def test_of_two_requests_in_a_row_the_second_is_announced_once() -> None:
    patient = Quiet(Settings(), headless=False)
    patient.decide(request("1"))
    patient.decide(request("2"))
    for _, work in patient.timers:
        work()

    assert len(patient.announced.alerts) == 1


@pytest.mark.parametrize("topic", ["rate_limit", "error"])
@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("You've hit your session limit · resets 3pm", "You've hit your session limit · resets 3pm"),
        ("AI usage limit reached|1749924000", "AI usage limit reached · resets 14 Jun 18:00"),
        ("Quota exceeded. Try again at 10:00.", "Quota exceeded. Try again at 10:00."),
    ],
)
def test_a_usage_limit_is_called_by_its_name_with_the_time_of_its_end(
    monkeypatch: pytest.MonkeyPatch, topic: str, message: str, shown: str
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    limited = Quiet(Settings(), headless=False)
    limited.decide(event(EventKind.TURN_FAILED, topic=topic, message=message))
    (alert,) = limited.announced.alerts

    assert alert.body == f"Usage limit reached: {shown}"
    assert alert.category == "resource.limit"


def test_a_turn_that_failed_otherwise_is_no_limit() -> None:
    failed = Quiet(Settings(), headless=False)
    failed.decide(event(EventKind.TURN_FAILED, topic="server_error", message="The limits of my language"))
    (alert,) = failed.announced.alerts

    assert alert.body == "Turn failed: The limits of my language"
    assert alert.category == "task.error"


def test_a_question_in_print_mode_waits_for_nobody() -> None:
    asked = Decision(
        verdict=Verdict.ASK,
        outcomes=(Outcome(hook="h", status=Status.OK, output=HookOutput(verdict=Verdict.ASK, reason="sure?")),),
    )
    quiet, wanted = Quiet(Settings()), Quiet(Settings(notify_headless=True))

    quiet.decide(event(EventKind.TOOL_BEFORE), asked)
    wanted.decide(event(EventKind.TOOL_BEFORE), asked)

    (alert,) = quiet.announced.alerts
    assert alert.cls is AlertClass.BLOCKED
    assert alert.body.endswith("nobody is there to answer")
    assert wanted.announced.classes == [AlertClass.ASKED]
