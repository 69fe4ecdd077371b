"""How many objects and modules are between the engine's decision and the notification, counted on real ones."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any, cast

import pytest
from house import House
from notify.parts import wait
from turns import EndedTurns

from tray.app.service import EventBus
from tray.desktop.alert_controller import AlertController
from tray.desktop.opener import Opener
from tray.desktop.presenter import Presenter
from tray.desktop.session_focus import SessionFocus
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions
from tray.engine.session_states import TurnEndDetector
from tray.engine.user_questions import UserQuestions
from tray.event_loop import LoopThread, QueueTimer, ThrottledCall
from tray.execution.known_agents import KnownAgents
from tray.model.decision import Decision, Outcome, Record, Status
from tray.model.event import Event, RelayRequest
from tray.notify.alert import Alert, AlertSettings, FixedSettings, SettingsInForce
from tray.notify.alert_gate import NOTHING_PROVED, Attention
from tray.notify.notifier import ServerState
from tray.sessions.presence_files import PresenceFiles
from tray.sessions.session_tracker import SessionTracker
from tray.settings import PushTarget, Settings
from tray.threads import WorkQueue
from tray.web.page import WebPage

SESSION = {"session_id": "s", "cwd": "/home/dev/shop"}
ALERTING = ("tray.notify.", "tray.desktop.")
BESIDE = ("tray.notify.push.", "tray.notify.sound")  # they get the same alerts, but do not pass them to the back end
PLUMBING = ("tray.threads",)  # a thread's queue carries any work


class RecordingBackend:
    """Takes every alert."""

    name = "recording"

    def __init__(self) -> None:
        self.sent: list[Alert] = []

    def send(self, alert: Alert) -> Coroutine[Any, Any, None]:
        self.sent.append(alert)  # while the notifier calls it: what it returns runs in a task of its own
        return self.close()

    async def withdraw(self, key: str) -> None:
        raise AssertionError(key)

    async def server_state(self) -> ServerState:
        return ServerState()

    async def close(self) -> None:
        """Nothing is open."""


class ClosedPage:
    """A page that was never opened."""

    server = None

    def publish(self, record: object) -> None:
        raise AssertionError(record)


class Presence:
    """Answers nobody."""

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None: ...


class Menu:
    """What the icon would show."""

    def __init__(self) -> None:
        self.recent: deque[Record] = deque()
        self.last_events: dict[str, float] = {}

    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...
    def show(self) -> None: ...


class Audit:
    """Has nothing to find."""

    def arrived(self, event: Event) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...


class Desk:
    """Cannot find out whether its user looks, shows every session, and has no thread for push messages."""

    def __init__(self, work: WorkQueue) -> None:
        self.work = work

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        self.work.post(lambda: answer(NOTHING_PROVED))

    def can_focus(self, agent: str, session: str) -> bool:
        return True

    def go(self, agent: str, session: str) -> None: ...

    def spawn(self, work: Callable[[], object]) -> bool:
        return False


class Tracer:
    """Which object got the decision, or an alert of it, from which other object."""

    def __init__(self) -> None:
        self.given: dict[int, set[int]] = defaultdict(set)
        self.objects: dict[int, object] = {}  # by their ids, which are theirs as long as they are in here

    def __call__(self, frame: FrameType, what: str, _: object) -> None:
        if what != "call" or not any(map(_is_carried, frame.f_locals.values())):
            return
        to, giver = _object(frame), frame.f_back
        while giver is not None and _object(giver) in (None, to):
            giver = giver.f_back
        if to is not None and giver is not None:
            for one in (to, _object(giver)):
                self.objects[id(one)] = one
            self.given[id(_object(giver))].add(id(to))

    def between(self, first: object, last: object) -> list[str]:
        """The classes of all objects on any way from the first to before the last."""
        back: dict[int, set[int]] = defaultdict(set)
        for giver, takers in self.given.items():
            for one in takers:
                back[one].add(giver)
        found = _reached(self.given, id(first)) & _reached(back, id(last)) - {id(last)}
        return sorted(type(self.objects[one]).__name__ for one in found)


def _is_carried(value: object) -> bool:
    return isinstance(value, Decision | Alert) or (isinstance(value, tuple | list) and any(map(_is_alert, value)))


def _is_alert(value: object) -> bool:
    return isinstance(value, Alert)


def _object(frame: FrameType) -> object | None:
    """The object whose method this is, if it is one of ours."""
    found = frame.f_locals.get("self") if frame.f_code.co_varnames[:1] == ("self",) else None
    module = type(found).__module__
    return found if module == __name__ or (module.startswith("tray.") and module not in PLUMBING) else None


def _reached(edges: dict[int, set[int]], start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for one in edges.get(waiting.pop(), set()) - found:
            found.add(one)
            waiting.append(one)
    return found


class ModuleTracer:
    """Collects the modules of alerts and desktop whose functions are called."""

    def __init__(self) -> None:
        self.modules: set[str] = set()

    def __call__(self, frame: FrameType, what: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if what == "call" and module.startswith(ALERTING) and not module.startswith(BESIDE):
            self.modules.add(module)


@contextmanager
def traced(tracer: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    """Traces this thread and all threads that start meanwhile."""
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextmanager
def wired(house: House, settings: SettingsInForce) -> Iterator[EventBus]:
    """Yields the engine's listener, connected to everything that announces its events."""
    house.stores.switch.mute(True)
    loop, work = LoopThread(), WorkQueue("work")
    bus = EventBus(work, house.stores.journal, TurnEndDetector(EndedTurns()))
    desk, timer = Desk(work), QueueTimer(loop.loop, work)
    sessions = SessionTracker(house.stores.session_rows, KnownAgents(os.getpid()), house.stores.journal)
    controller = AlertController(
        loop.loop, work, desk, house.stores, settings, UserQuestions(),
        deliveries=bus, sessions=sessions, places=cast(SessionFocus, desk), presence=desk, timer=timer,
        opener=Opener(), folder=house.paths.state,
    )  # fmt: skip
    bus.view, bus.page, bus.alerts = cast(Presenter, Menu()), cast(WebPage, ClosedPage()), controller.alerts
    bus.sessions = sessions
    bus.presence_files = PresenceFiles(Presence(), timer)
    bus.audit = Audit()
    bus.refresh = ThrottledCall(loop.loop, lambda: None, 1.0)
    with closing(loop), closing(work), closing(controller):
        yield bus


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> RecordingBackend:
    """Replaces the back ends of the system, as there is no desktop."""
    backend = RecordingBackend()
    monkeypatch.setattr(AlertController, "backends", lambda _: (backend,))
    return backend


def test_four_objects_are_between_a_decision_and_its_notification(house: House, backend: RecordingBackend) -> None:
    tracer = Tracer()
    settings = FixedSettings(Settings(push=[PushTarget(url="ntfy://x", when="always")]))
    with traced(tracer), wired(house, settings) as bus:
        engine = Engine(house.stores, bus, house, EngineOptions())
        body = json.dumps({"hook_event_name": "Stop", "session_id": "s", "cwd": "/home/dev/shop"}).encode()
        engine.begin(RelayRequest(agent="claude-code", event="Stop", id="0" * 32, body=body, cwd="/"))
        wait(lambda: backend.sent, "the notification")

    assert [one.body for one in backend.sent] == ["Turn ended"]
    assert tracer.between(bus, backend) == ["AlertGate", "AlertService", "EventBus", "Notifier"]


def test_five_modules_are_between_a_decision_and_its_back_end(house: House, backend: RecordingBackend) -> None:
    rule = {"event": "tool_before", "type": "rule", "name": "guard", "matcher": "make", "decision": "deny"}
    house.configure({"hooks": [rule]})
    state = house.state("guard")
    house.consent.approve(state.key, state.digest, "test")
    house.relay("claude-code", "UserPromptSubmit", {**SESSION, "prompt": "hello"})
    house.relay("claude-code", "PreToolUse", {**SESSION, "tool_name": "Bash", "tool_input": {"command": "make"}})
    house.relay("claude-code", "PostToolUse", {**SESSION, "tool_name": "Write", "tool_input": {"file_path": "/a.py"}})
    house.relay("claude-code", "Stop", SESSION)
    house.relay("claude-code", "StopFailure", {**SESSION, "error": "rate_limit"})
    failed = Decision(outcomes=(Outcome(hook="guard", status=Status.FAILED, cause="exit 1"),))
    house.decisions.append((house.decisions[1][0], failed, house.decisions[1][2]))
    settings = AlertSettings(house.catalog, house.stores.ledger, house.stores.switch)

    tracer = ModuleTracer()
    with traced(tracer), wired(house, settings) as bus:
        tracer.modules.clear()  # those that made the parts
        for one in house.decisions:
            bus.decided(*one)
        wait(lambda: len(backend.sent) == 4, "the notifications")
        found = frozenset(tracer.modules)

    assert [one.cls.value for one in backend.sent] == ["blocked", "turn_end", "turn_end", "hook_failed"]
    assert found == {f"tray.notify.{name}" for name in ("alert", "alert_gate", "notifier", "policy", "service")}
