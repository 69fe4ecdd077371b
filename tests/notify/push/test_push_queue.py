"""Who is sent what, and when: once an event, while nobody is there, again only where nothing can have arrived."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
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


@dataclass
class World:
    """A desktop with a clock."""

    settings: Settings
    is_away: bool = True
    is_quiet: bool = False
    now: float = 1000.0
    happened: list[str] = field(default_factory=list)
    has_threads: bool = True

    def __post_init__(self) -> None:
        self._numbers = itertools.count()
        self._timers: list[tuple[float, int, Callable[[], object]]] = []
        self.processes = Recorded()
        throttle = Throttle(self, self)
        if self.is_quiet:
            throttle.snooze(600)
        self.queue = PushQueue(
            self,
            presence=self,
            throttle=throttle,
            timer=self,
            workers=self,
            folder=Path("/nowhere"),
            processes=self.processes,
            clock=self,
        )

    @property
    def current(self) -> Settings:
        return self.settings

    def time(self) -> float:
        return self.now

    monotonic = time

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        assert (agent, session) == ("", "")
        self.after(0.01, lambda: answer(Attention(is_away=self.is_away)))

    @property
    def sent(self) -> list[PushMessage]:
        return [one.message for one in self.processes.requests if one.message]

    def spawn(self, work: Callable[[], object]) -> bool:
        if self.has_threads:
            self.happened.append("sent")
            run_logged((work,), "it failed")  # as a thread of the tray's pool does
        return self.has_threads

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        heapq.heappush(self._timers, (self.now + seconds, next(self._numbers), work))

    def wait(self, seconds: float = 1.0) -> None:
        until = self.now + seconds
        while self._timers and self._timers[0][0] <= until:
            self.now, _, work = heapq.heappop(self._timers)
            work()
        self.now = until


def world(*targets: PushTarget, **more: Any) -> World:
    return World(Settings(push=list(targets or (PushTarget(url=URL),))), **more)


def ended(event: str = "e1", **more: Any) -> Alert:
    return replace(alert(key="k", body="Turn ended: I wrote secrets.txt", **more), event=event)


def test_while_nobody_is_there_class_agent_and_project_are_sent_once() -> None:
    there = world()
    there.queue.push((ended(),), "e1")
    there.wait()

    assert there.sent == [PushMessage(url=URL, title="claude-code · shop", body="Turn ended")]


def test_while_somebody_is_there_only_those_are_sent_that_always_are() -> None:
    there = world(PushTarget(url=URL), PushTarget(url="json://x", when="always"), is_away=False)
    there.queue.push((ended(),), "e1")
    there.wait()

    assert [one.url for one in there.sent] == ["json://x"]


@pytest.mark.parametrize(
    ("target", "general", "body"),
    [
        (PushTarget(url=URL, show_input=True), True, "Turn ended: I wrote secrets.txt"),
        (PushTarget(url=URL, show_input=True), False, "Turn ended"),
        (PushTarget(url=URL), True, "Turn ended"),
    ],
)
def test_the_text_goes_along_only_where_the_target_and_the_settings_say_so(
    target: PushTarget, general: bool, body: str
) -> None:
    there = World(Settings(push=[target], show_input=general))
    there.queue.push((ended(),), "e1")
    there.wait()

    assert [one.body for one in there.sent] == [body]


def test_nobody_is_called_by_what_an_agent_says() -> None:
    there = world(PushTarget(url=URL, show_input=True))
    there.queue.push((replace(ended(), body="@everyone look"),), "e1")
    there.wait()

    assert [one.body for one in there.sent] == ["＠everyone look"]  # noqa: RUF001


def test_an_event_is_sent_once_however_often_it_is_announced() -> None:
    """A question of an event and what was decided about it, and of several alerts the most urgent."""
    there = world(PushTarget(url=URL, when="always", classes=["asked", "turn_end"]))
    asked = replace(ended(), cls=AlertClass.ASKED, urgency=Urgency.CRITICAL)
    there.queue.push((ended(), asked), "")
    there.queue.push((ended(),), "e1")
    there.queue.push((ended("e2"),), "e2")
    there.wait()

    assert [one.body for one in there.sent] == ["Asked", "Turn ended"]


def test_other_classes_and_what_is_turned_off_are_not_sent() -> None:
    there = world(PushTarget(url=URL, when="always", classes=["blocked"]))
    there.queue.push((ended(), replace(ended(), cls=AlertClass.BLOCKED, notify=False)), "e1")
    there.wait()

    assert there.sent == []


def test_in_quiet_hours_only_what_is_critical_is_sent() -> None:
    there = world(is_quiet=True)
    there.queue.push((ended(),), "e1")
    there.queue.push((replace(ended("e2"), cls=AlertClass.NEEDS_YOU, urgency=Urgency.CRITICAL),), "e2")
    there.wait()

    assert [one.body for one in there.sent] == ["Agent needs you"]


@pytest.mark.parametrize("status", [PushStatus.UNREACHED, PushStatus.BUSY])
def test_what_cannot_have_arrived_is_sent_again_ever_later_and_then_no_more(status: PushStatus) -> None:
    there = world(PushTarget(url=URL, when="always"))
    there.processes.results = [PushResult(status, "no")] * 50
    there.queue.push((ended(),), "e1")
    counts = []
    for seconds in (0.5, *RETRIES, 10_000):
        there.wait(seconds)
        counts.append(len(there.sent))

    assert counts == [1, 2, 3, 4, 5, 5]
    assert there.queue.problem == "ntfy://… · no"


@pytest.mark.parametrize("status", [PushStatus.UNKNOWN, PushStatus.REFUSED])
def test_what_may_have_arrived_or_was_refused_is_not_sent_again(status: PushStatus) -> None:
    there = world(PushTarget(url=URL, when="always"))
    there.processes.results = [PushResult(status, "why")]
    there.queue.push((ended(),), "e1")
    there.wait(10_000)

    assert len(there.sent) == 1
    assert there.queue.problem == "ntfy://… · why"


def test_a_message_that_arrives_ends_the_problem() -> None:
    there = world(PushTarget(url=URL, when="always"))
    there.processes.results = [PushResult(PushStatus.UNREACHED, "no")]
    there.queue.push((ended(),), "e1")
    there.wait()
    before = there.queue.problem
    there.wait(10)

    assert (before, there.queue.problem) == ("ntfy://… · no", "")


def test_errors_that_end_the_sending_thread_are_reported_and_keep_no_room() -> None:
    there = world(PushTarget(url=URL, when="always"))
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
    there = world(PushTarget(url=URL, when="always"))
    for number in range(RATE + 7):
        there.queue.push((ended(f"e{number}"),), f"e{number}")
    there.wait(MINUTE + 1)

    assert [one.body for one in there.sent] == ["Turn ended"] * RATE + ["7 more notifications"]


def test_without_a_thread_left_it_is_tried_later() -> None:
    there = world(PushTarget(url=URL, when="always"), has_threads=False)
    there.queue.push((ended(),), "e1")
    there.has_threads = True
    there.wait(RETRIES[0] + 1)

    assert len(there.sent) == 1


def test_a_url_of_the_settings_in_force_is_kept_once_and_a_reference_never() -> None:
    there = world(PushTarget(url=URL), PushTarget(url=f"secret:json:{'0' * 64}"))
    there.queue.refresh()
    there.queue.refresh()

    assert [one.keep for one in there.processes.requests] == [[URL]]


def test_the_problem_of_a_target_that_is_gone_is_forgotten() -> None:
    there = world(PushTarget(url=URL, when="always"))
    there.processes.results = [PushResult(PushStatus.REFUSED, "no")]
    there.queue.push((ended(),), "e1")
    there.wait()
    there.settings = msgspec.structs.replace(there.settings, push=[])
    there.queue.refresh()

    assert there.queue.problem == ""
