"""Who is sent what, and when: once an event, while nobody is there, again only where nothing can have arrived."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from clock import Timeline
from every import every
from msgspec.structs import replace
from notify.samples import alert

from tray.notify.alert import Alert, AlertClass, Urgency
from tray.notify.alert_gate import Attention, Throttle
from tray.notify.push.message import PushMessage, PushResult, PushStatus
from tray.notify.push.push_queue import MINUTE, RATE, RETRIES, WAITING_LIMIT, PushQueue
from tray.notify.push.sender import SendAnswer, SendRequest
from tray.notify.push.sender_process import PushProcesses
from tray.settings import PushTarget, Settings
from tray.threads import run_logged

URL = "ntfy://x9topic"
SENT = PushResult(PushStatus.SENT)
ALWAYS = PushTarget(url=URL, when="always")


class Recorded(PushProcesses):
    """Starts nothing, and answers what it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[SendRequest] = []
        self.results: list[PushResult | Exception] = []

    def run(self, request: SendRequest) -> SendAnswer:
        self.requests.append(request)
        result = self.results.pop(0) if self.results and request.message else SENT
        if isinstance(result, Exception):
            raise result
        return SendAnswer(result=result)


class World(Timeline):
    def __init__(
        self, settings: Settings, *, is_away: bool = True, is_quiet: bool = False, has_threads: bool = True
    ) -> None:
        super().__init__()
        self.current, self.is_away, self.has_threads = settings, is_away, has_threads
        self.processes = Recorded()
        throttle = Throttle(self, self)
        if is_quiet:
            throttle.snooze(600)
        self.queue = PushQueue(
            self, presence=self, throttle=throttle, timer=self, workers=self, folder=Path("/nowhere"),
            processes=self.processes, clock=self,
        )  # fmt: skip

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        assert (agent, session) == ("", "")
        self.after(0.01, lambda: answer(Attention(is_away=self.is_away)))

    @property
    def sent(self) -> list[PushMessage]:
        return [one.message for one in self.processes.requests if one.message]

    def spawn(self, work: Callable[[], object]) -> bool:
        if self.has_threads:
            run_logged((work,), "it failed")  # as a thread of the tray's pool does
        return self.has_threads

    def push(self, *alerts: Alert, event: str = "e1") -> None:
        self.queue.push(alerts, event)
        self.wait()


def world(*targets: PushTarget, **more: Any) -> World:
    return World(Settings(push=list(targets or (PushTarget(url=URL),))), **more)


def ended(event: str = "e1", **more: Any) -> Alert:
    return replace(alert(key="k", body="Turn ended: I wrote secrets.txt", **more), event=event)


def test_while_nobody_is_there_class_agent_and_project_are_sent_once() -> None:
    there = world()
    there.push(ended())

    assert there.sent == [PushMessage(url=URL, title="claude-code · shop", body="Turn ended")]


def test_while_somebody_is_there_only_those_are_sent_that_always_are() -> None:
    there = world(PushTarget(url=URL), PushTarget(url="json://x", when="always"), is_away=False)
    there.push(ended())

    assert [one.url for one in there.sent] == ["json://x"]


WITH_TEXT = PushTarget(url=URL, show_input=True)


@every(
    ("target", "general", "one", "bodies"),
    [
        (WITH_TEXT, True, ended(), ["Turn ended: I wrote secrets.txt"]),
        (WITH_TEXT, False, ended(), ["Turn ended"]),
        (PushTarget(url=URL), True, ended(), ["Turn ended"]),
        (WITH_TEXT, True, replace(ended(), body="@everyone look"), ["＠everyone look"]),  # noqa: RUF001
        (PushTarget(url=URL, classes=["blocked"]), True, ended(), []),
        (PushTarget(url=URL), True, replace(ended(), notify=False), []),
    ],
)
def test_only_wanted_classes_are_sent_and_text_only_if_target_and_settings_allow_it(
    target: PushTarget, general: bool, one: Alert, bodies: list[str]
) -> None:
    there = World(Settings(push=[target], show_input=general))
    there.push(one)

    assert [one.body for one in there.sent] == bodies


def test_an_event_is_sent_once_however_often_it_is_announced() -> None:
    """A question of an event and what was decided about it, and of several alerts the most urgent."""
    there = world(PushTarget(url=URL, when="always", classes=["asked", "turn_end"]))
    asked = replace(ended(), cls=AlertClass.ASKED, urgency=Urgency.CRITICAL)
    there.queue.push((ended(), asked), "")
    there.queue.push((ended(),), "e1")
    there.queue.push((ended("e2"),), "e2")
    there.wait()

    assert [one.body for one in there.sent] == ["Asked", "Turn ended"]


def test_in_quiet_hours_only_what_is_critical_is_sent() -> None:
    there = world(is_quiet=True)
    there.queue.push((ended(),), "e1")
    there.queue.push((replace(ended("e2"), cls=AlertClass.NEEDS_YOU, urgency=Urgency.CRITICAL),), "e2")
    there.wait()

    assert [one.body for one in there.sent] == ["Agent needs you"]


@every("status", [PushStatus.UNREACHED, PushStatus.BUSY])
def test_what_cannot_have_arrived_is_sent_again_ever_later_and_then_no_more(status: PushStatus) -> None:
    there = world(ALWAYS)
    there.processes.results = [PushResult(status, "no")] * 50
    there.queue.push((ended(),), "e1")
    counts = []
    for seconds in (0.5, *RETRIES, 10_000):
        there.wait(seconds)
        counts.append(len(there.sent))

    assert counts == [1, 2, 3, 4, 5, 5]
    assert there.queue.problem == "ntfy://… · no"


@every("status", [PushStatus.UNKNOWN, PushStatus.REFUSED])
def test_what_may_have_arrived_or_was_refused_is_not_sent_again(status: PushStatus) -> None:
    there = world(ALWAYS)
    there.processes.results = [PushResult(status, "why")]
    there.queue.push((ended(),), "e1")
    there.wait(10_000)

    assert len(there.sent) == 1
    assert there.queue.problem == "ntfy://… · why"


def test_a_sent_message_ends_the_problem_and_a_removed_target_takes_its_problem_along() -> None:
    there = world(ALWAYS)
    there.processes.results = [PushResult(PushStatus.UNREACHED, "no"), SENT, PushResult(PushStatus.REFUSED, "no")]
    there.push(ended())
    problems = [there.queue.problem]
    there.wait(10)
    problems.append(there.queue.problem)
    there.push(ended("e2"), event="e2")
    problems.append(there.queue.problem)
    there.current = replace(there.current, push=[])
    there.queue.refresh()

    assert [*problems, there.queue.problem] == ["ntfy://… · no", "", "ntfy://… · no", ""]


def test_errors_that_end_the_sending_thread_are_reported_and_keep_no_room() -> None:
    there = world(ALWAYS)
    there.processes.results = [ArithmeticError() for _ in range(WAITING_LIMIT)]
    for number in range(WAITING_LIMIT):
        there.queue.push((ended(f"e{number}"),), f"e{number}")
        there.wait(MINUTE)
    problem = there.queue.problem
    there.queue.push((ended("last"),), "last")
    there.wait()

    assert problem.endswith(" · an unexpected error, see the log: it may have arrived")
    assert (len(there.sent), there.queue.problem) == (WAITING_LIMIT + 1, "")


def test_a_flood_becomes_one_message_that_counts_the_rest() -> None:
    there = world(ALWAYS)
    for number in range(RATE + 7):
        there.queue.push((ended(f"e{number}"),), f"e{number}")
    there.wait(MINUTE + 1)

    assert [one.body for one in there.sent] == ["Turn ended"] * RATE + ["7 more notifications"]


def test_without_a_thread_left_it_is_tried_later() -> None:
    there = world(ALWAYS, has_threads=False)
    there.queue.push((ended(),), "e1")
    there.has_threads = True
    there.wait(RETRIES[0] + 1)

    assert len(there.sent) == 1


def test_a_url_of_the_settings_in_force_is_kept_once_and_a_reference_never() -> None:
    there = world(PushTarget(url=URL), PushTarget(url=f"secret:json:{'0' * 64}"))
    there.queue.refresh()
    there.queue.refresh()

    assert [one.keep for one in there.processes.requests] == [[URL]]
