"""Calls that an agent ran unjudged are found by its event after them; nothing else is taken for one."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import MagicMock

import pytest
from agents import recordings
from clock import Clock
from desk import wait
from every import every
from house import House
from notify import samples
from turns import EndedTurns
from workers import IdleWorkers

from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.agents.relay_table import ANSWERED_ALONE
from tray.app.service import EventBus
from tray.edit.backups import CONNECTIONS
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions, Execution
from tray.engine.record import make_record
from tray.engine.session_states import TurnEndDetector
from tray.engine.stores import open_stores
from tray.model.decision import EMPTY_ANSWER, NO_OPINION, Record, Verdict
from tray.model.event import PROBE_PREFIX, Event, EventKind, RelayRequest
from tray.notify.alert import Alert, FixedSettings
from tray.sessions import call_audit
from tray.sessions.call_audit import CallAudit
from tray.settings import Settings

UNSEEN, DENIED = "it ran, and no hook saw it before", "denied, and it ran all the same"
AUDITED = frozenset(agent.id for agent in AGENTS.values() if agent.keeps_call_ids)
TURN = (EventKind.SESSION_START, EventKind.PROMPT, EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER, EventKind.TURN_END)
CALL_IDS = re.compile(rb"(toolu|call)_\w+")  # of the samples, which are of different calls
Payload = dict[str, Any]


@dataclass
class Bench:
    """An engine whose events are audited. What the audit does later is done by `settle`."""

    house: House
    alerts: list[Alert] = field(default_factory=list)
    waiting: list[Callable[[], object]] = field(default_factory=list)
    shown: list[Record] = field(default_factory=list)
    clock: Clock = field(default_factory=lambda: Clock(time.time()))

    def __post_init__(self) -> None:
        self.settings = FixedSettings(Settings(show_input=True))
        self.bus = EventBus(self, self.house.stores.journal, TurnEndDetector(EndedTurns()))
        self.bus.view = self.bus.sessions = self.bus.presence_files = self.bus.page = self.bus.alerts = MagicMock()
        self.bus.refresh = MagicMock()
        self.engine = Engine(self.house.stores, self.bus, self.house, EngineOptions())
        self.restart()

    def restart(self) -> None:
        """A tray that knows what the disk has, and no more."""
        stores = self.house.stores
        service = samples.service(self, self.settings)
        self.audit = CallAudit(
            self.house.paths, stores.journal, stores.switch, service, timer=self, view=self, clock=self.clock
        )
        self.bus.audit = self.audit

    # ---- the queue and the timer, and the menu and the page

    def post(self, work: Callable[[], object]) -> None:
        work()

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        self.waiting.append(work)

    def publish_offline(self, records: Sequence[Record]) -> list[Record]:
        self.shown += records
        return list(records)

    # ---- the gate of the alerts

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        self.alerts += alerts

    def withdraw(self, keys: tuple[str, ...]) -> None: ...

    # ---- what an agent sends

    def send(self, payload: Payload | bytes, agent: str = "claude-code") -> None:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        request = RelayRequest(agent=agent, event="", id=os.urandom(16).hex(), body=body, cwd=str(self.house.root))
        begun = self.engine.begin(request)
        if isinstance(begun, Execution):
            begun.run(None)
        self.house.join()
        self.clock.now += 10

    def settle(self) -> list[Record]:
        """What was found; whatever waits for its time is done, and written down."""
        waiting, self.waiting = self.waiting, []
        for work in waiting:
            work()
        self.house.stores.journal.close()
        return [row for row in self.house.stores.journal.recent() if row.verdict is Verdict.UNJUDGED]


@pytest.fixture
def bench(house: House) -> Bench:
    return Bench(house)


def event(name: str, **fields: Any) -> Payload:
    return {"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/home/dev/shop", **fields}


def call(name: str, number: int = 1, command: str = "rm -rf build", **fields: Any) -> Payload:
    named = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{number}"}
    return event(name, **named, **fields)


def before(number: int = 1, **fields: Any) -> Payload:
    return call("PreToolUse", number, **fields)


def after(number: int = 1, **fields: Any) -> Payload:
    return call("PostToolUse", number, tool_response={"stdout": ""}, **fields)


START, PROMPT, STOP = event("SessionStart", source="startup"), event("UserPromptSubmit", prompt="x"), event("Stop")
FAILED = call("PostToolUseFailure", error="Exit code 3")
REFUSED = call("PostToolUseFailure", error="<tool_use_error>no such tool</tool_use_error>")
DENIED_CALL: Payload = {"command": "touch forbidden"}


# ---- what is done between events, by name


def restart(bench: Bench) -> None:
    bench.restart()


def switch(enabled: bool) -> Callable[[Bench], None]:
    return lambda bench: bench.house.stores.switch.set_enabled(enabled, "test")


def pause(bench: Bench) -> None:
    bench.house.stores.switch.pause(time.time() + 600, channel="test")


def still_running(bench: Bench) -> None:
    """Returns the hooks of the event before a call."""
    body = json.dumps(before()).encode()
    bench.bus.arrived(parse(RelayRequest(agent="claude-code", event="PreToolUse", id="1", body=body)), answered=False)


def one_shot(payload: Payload) -> Callable[[Bench], None]:
    """The event goes to the one-shot engine, as when the tray is away or busy."""

    def answer(bench: Bench) -> None:
        stores = open_stores(bench.house.paths, create=False, offline=True)
        engine = Engine(stores, House(bench.house.root / "once"), IdleWorkers(), EngineOptions(offline=True))
        body = json.dumps(payload).encode()
        begun = engine.begin(RelayRequest(agent="claude-code", event="", id=os.urandom(16).hex(), body=body))
        if isinstance(begun, Execution):
            begun.run(None)
        stores.journal.close()

    return answer


def unreadable(bench: Bench) -> None:
    """Half of an event."""
    body = json.dumps(before()).encode()[:-30]
    begun = bench.engine.begin(RelayRequest(agent="claude-code", event="PreToolUse", id="2" * 32, body=body))
    assert not isinstance(begun, Execution)


def answered_alone(bench: Bench) -> None:
    """A relay gave the answer of its table."""
    (bench.house.paths.state / ANSWERED_ALONE).touch()
    os.utime(bench.house.paths.state / ANSWERED_ALONE, (bench.clock.now, bench.clock.now))


def connect(bench: Bench) -> None:
    """Entries were written into an agent's settings."""
    folder = bench.house.paths.state / CONNECTIONS
    folder.mkdir(exist_ok=True)
    (folder / "note").touch()
    os.utime(folder, (bench.clock.now, bench.clock.now))


Step = Payload | Callable[[Bench], None]
SCENES: dict[str, tuple[Sequence[Step], list[str]]] = {
    "with its event before": ((START, before(), after()), []),
    "without it": ((START, PROMPT, after()), [UNSEEN]),
    "without it, in a session that begins with a prompt": ((PROMPT, after()), [UNSEEN]),
    "without it, after a turn that was watched": ((before(1), after(1), STOP, after(2)), [UNSEEN]),
    "three of them": ((START, after(1), before(2), after(2), after(3), after(4)), [UNSEEN] * 3),
    "reported twice": ((START, after(), after()), [UNSEEN]),
    "two lines of one agent": ((START, before(), after(), after()), []),
    "denied before": ((START, before(**DENIED_CALL), after(**DENIED_CALL)), [DENIED]),
    "denied, and reported as failed": ((START, before(**DENIED_CALL), FAILED), []),
    "denied, then asked about again under its id": ((START, before(**DENIED_CALL), before(), after()), []),
    "failed with an exit code": ((START, FAILED), [UNSEEN]),
    "failed before it began": ((START, REFUSED), []),
    "parallel calls": ((START, before(1), before(2), before(3), after(3), after(1), after(2)), []),
    "the first event of its session": ((after(), after(2)), []),
    "calls under way when the first event came": ((before(2), after(1), after(2)), []),
    "a prompt typed while calls were under way": ((before(2), PROMPT, after(1)), []),
    "compacted while calls were under way": ((event("SessionStart", source="compact"), after()), []),
    "cleared while calls were under way": ((event("SessionStart", source="clear"), PROMPT, after()), []),
    "an event before that could not be read": ((START, unreadable, after()), []),
    "an event before without an id": ((START, {**before(), "tool_use_id": ""}, after()), []),
    "a probe of ours": (tuple({**one, "session_id": f"{PROBE_PREFIX}1"} for one in (START, PROMPT, after())), []),
    "another session's event before": (
        (START, {**START, "session_id": "t"}, {**before(), "session_id": "t"}, after()), [UNSEEN],
    ),
    "a subagent": (
        (START, before(1), before(2, agent_id="a", agent_type="x"), after(2, agent_id="a", agent_type="x"), after(1)),
        [],
    ),
    "a subagent's end, while calls were under way": (
        (before(2), event("Stop", agent_id="a", agent_type="x"), after(1)), [],
    ),
    "without an id": ((START, {**after(), "tool_use_id": ""}), []),
    "an event before whose hooks still run": ((START, still_running, after()), []),
    "off": ((START, switch(False), after()), []),
    "off, then on": ((START, switch(False), before(), switch(True), after()), []),
    "off, with an event before that no line saw": ((START, switch(False), before(1), switch(True), after(2)), []),
    "paused": ((START, pause, after()), []),
    "restarted after the event before": ((START, before(), restart, after()), []),
    "restarted, with an event before that nothing kept": ((START, restart, after()), []),
    "restarted, then prompted": ((START, restart, PROMPT, after()), [UNSEEN]),
    "denied by an earlier tray": ((START, before(**DENIED_CALL), restart, PROMPT, after(**DENIED_CALL)), [DENIED]),
    "the one-shot engine before": ((START, one_shot(before()), after()), []),
    "the one-shot engine before, and a payload that was cut": (
        (START, one_shot(before(description="x" * 80_000)), after()), [],
    ),
    "denied by the one-shot engine": ((START, one_shot(before(**DENIED_CALL)), after(**DENIED_CALL)), [DENIED]),
    "the relay's table before": ((START, answered_alone, after()), []),
    "the relay's table in an earlier turn": ((START, answered_alone, after(1), STOP, after(2)), [UNSEEN]),
    "connected meanwhile": ((START, connect, after()), []),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "found"), SCENES.values(), ids=SCENES)
def test_what_is_found(bench: Bench, steps: Sequence[Step], found: list[str]) -> None:
    bench.house.hook("no", on="tool_before", type="rule", decision="deny", matcher="forbidden")
    for step in steps:
        step(bench) if callable(step) else bench.send(step)

    assert [row.reason for row in bench.settle()] == found
    assert len(bench.shown) == len(found)


def test_the_row_says_what_ran_and_the_notification_of_a_session_adds_up(bench: Bench) -> None:
    bench.send(START)
    for number in range(3):
        bench.send(after(number, command=f"rm -rf build{number}"))

    rows = bench.settle()

    assert [(row.agent, row.session, row.tool, row.subject, row.kind) for row in reversed(rows)] == [
        ("claude-code", "s", "Bash", f"rm -rf build{number}", "tool_after") for number in range(3)
    ]
    assert {row.label for row in rows} == {"unjudged"}
    assert [alert.body.partition(" · ")[0] for alert in bench.alerts] == [
        "claude-code ran 1 command that no hook saw: `rm -rf build0`",
        "claude-code ran 2 commands that no hook saw: `rm -rf build0`, `rm -rf build1`",
        "claude-code ran 3 commands that no hook saw: `rm -rf build0`, `rm -rf build1` …",
    ]
    assert {(alert.cls.value, alert.urgency.name, alert.key, alert.title) for alert in bench.alerts} == {
        ("unjudged", "CRITICAL", "claude-code|s|unjudged", "claude-code · shop")
    }
    assert [alert.about for alert in bench.alerts] == [row.id for row in reversed(rows)]
    assert bench.audit.unseen == 3


@pytest.mark.parametrize(
    ("show_input", "steps", "body"),
    [
        (False, (START, after()), "claude-code ran 1 command that no hook saw: Bash ·"),
        (True, (START, before(**DENIED_CALL), after(**DENIED_CALL)),
         "claude-code ran 1 command although a hook denied it: `touch forbidden` ·"),
    ],
)  # fmt: skip
def test_the_notification_names_the_tool_or_its_input(
    bench: Bench, show_input: bool, steps: Sequence[Payload], body: str
) -> None:
    bench.house.hook("no", on="tool_before", type="rule", decision="deny", matcher="forbidden")
    bench.settings.current = Settings(show_input=show_input)
    for step in steps:
        bench.send(step)

    assert bench.settle()[0].subject == steps[-1]["tool_input"]["command"]
    assert bench.alerts[-1].body.startswith(body)


def test_older_calls_are_looked_up_in_the_journal(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_audit, "CALLS", 2)
    bench.send(START)
    for number in range(9):
        bench.send(before(number))
    assert len(bench.audit._judged) < 9
    wait(lambda: bench.house.stores.journal.count() == 10)
    for number in range(9):
        bench.send(after(number))

    assert bench.settle() == []


# ---- the recordings of all agents


def record_of(event: Event) -> Record:
    return make_record(event, NO_OPINION, EMPTY_ANSWER, at=1.0, ms=1.0, offline=False)


def recorded_calls() -> list[Event]:
    names = ((agent, path.stem) for agent in AGENTS for path in sorted((recordings.FOLDER / agent).glob("*.json")))
    events = (recordings.recorded(agent, name) for agent, name in names)
    return [one for one in events if one.tool is not None and one.tool.call and one.session]


@every("one", recorded_calls(), lambda one: f"{one.agent}-{one.name}-{one.tool and one.tool.name}")
def test_a_row_keeps_the_id_of_a_recorded_call(one: Event) -> None:
    assert one.tool is not None
    assert call_audit.CALL_ID.fullmatch(one.tool.call)
    assert one.tool.call in record_of(one).payload


def test_the_recordings_of_audited_agents_give_a_call_the_same_id_before_and_after_it() -> None:
    """An agent with another id after its calls would have each of them reported."""
    before, after = set[tuple[str, str]](), set[tuple[str, str]]()
    for one in recorded_calls():
        assert one.tool is not None
        (before if one.kind is EventKind.TOOL_BEFORE else after).add((one.agent, one.tool.call))

    assert {agent for agent, _ in before & after} >= AUDITED - {"qwen-code"}  # of its calls there is no pair here


@pytest.mark.parametrize("agent", sorted(AUDITED))
@pytest.mark.parametrize("is_seen", [True, False])
def test_a_turn_of_each_audited_agent(bench: Bench, agent: str, is_seen: bool) -> None:
    """By its own samples: without the event before a call the call is reported, with it nothing is."""
    known = AGENTS[agent]
    names = {spec.kind: name for name, spec in known.events.items()}
    call = CALL_IDS.search(known.protocol.sample(names[EventKind.TOOL_AFTER]))
    assert call is not None
    for kind in TURN:
        if kind in names and (is_seen or kind is not EventKind.TOOL_BEFORE):
            bench.send(CALL_IDS.sub(call[0], known.protocol.sample(names[kind])), agent)

    assert len(bench.settle()) == int(not is_seen)


def test_an_agent_whose_ids_are_not_known_is_left_out(bench: Bench) -> None:
    for name in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        bench.send(recordings.wire("x-code", name), "x-code")

    assert (bench.settle(), bench.waiting) == ([], [])
