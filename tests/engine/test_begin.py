"""What is answered at once, and what is left until the answer is out."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from itertools import product
from typing import cast

import pytest
from desk.wait import wait
from house import PRE_TOOL_USE, House
from msgspec.structs import replace
from workers import IdleWorkers

from tray.agents.protocol import parse
from tray.engine import plan as plan_module
from tray.engine.execute import HookStatus
from tray.engine.pipeline import Engine
from tray.engine.plan import EventSearch, matches, plan
from tray.engine.ports import EngineListener, EngineOptions, Execution
from tray.engine.user_questions import EngineResponse, PendingQuestion
from tray.model.decision import Answer, Record, Verdict
from tray.model.event import Event, RelayRequest
from tray.protection.self_protection import PageAddress
from tray.store.ledger import Ledger, LedgerState
from tray.store.sessions import SessionNote

BODY = json.dumps(PRE_TOOL_USE).encode()
AFTER = {**PRE_TOOL_USE, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "x"}}
SKILL = {**PRE_TOOL_USE, "tool_name": "Skill", "tool_input": {"skill": "lint"}}


def request(agent: str = "claude-code", event: str = "PreToolUse", body: bytes = BODY) -> RelayRequest:
    return RelayRequest(agent=agent, event=event, id="0" * 32, body=body, cwd="/")


def ran(begun: EngineResponse | Execution) -> Answer:
    """Returns what the agent gets after its hooks have run."""
    answer = begun.run(None) if isinstance(begun, Execution) else begun
    assert isinstance(answer, Answer)
    return answer


def fail(*_: object) -> None:
    raise RuntimeError("a fault of ours")


@pytest.mark.parametrize("case", ["nothing matches", "a rule", "switch off", "disabled"])
def test_what_needs_no_process_is_answered_at_once(house: House, case: str) -> None:
    if case == "a rule":
        house.hook("rule", on="tool_before", type="rule", decision="deny")
    elif case != "nothing matches":
        house.hook("guard", on="tool_before", script="exit 2", enabled=case != "disabled")
    if case == "switch off":
        house.stores.switch.set_enabled(False, "test")

    assert isinstance(house.engine.begin(request()), Answer)


def test_what_needs_a_process_does_not_hold_up_who_asks(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 2")

    assert not isinstance(house.engine.begin(request()), Answer)


class Left(list[Callable[[], object]]):
    """A caller that keeps what is left for afterwards."""

    def defer(self, work: Callable[[], object], /, *, soon: bool = False) -> None:
        self.append(work)

    def acknowledge(self) -> None: ...


def test_an_answer_without_an_opinion_does_not_wait_to_be_written_down(house: House) -> None:
    left = Left()

    house.engine.begin(request(), left)

    assert house.decisions == []
    left.pop()()
    assert house.last.event == "PreToolUse"


def test_an_answer_that_refuses_is_written_down_before_it_leaves(house: House) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny")
    house.stores.journal._wait = 20  # by default it leaves without a row that takes too long
    left = Left()

    house.engine.begin(request(), left)

    assert left == []
    assert house.stores.journal.count() == 1


def test_of_many_hooks_those_are_looked_at_that_the_event_may_ask(house: House) -> None:
    everybody = ["claude-code", "copilot-cli", "shelley", "starchild", "x-code"]
    events = [("PreToolUse", ["claude-code"]), ("tool_before", everybody), ("tool_before", ["claude-code", "x-code"])]
    for number, (event, agents) in enumerate([*events, ("tool_before", ["shelley"]), ("turn_end", everybody)]):
        house.hook(f"h{number}", on=event, type="rule", decision="allow", agent=agents)
    house.hook("open", on="tool_before", type="rule", decision="allow")
    ledger = house.stores.ledger

    for asking, name in product(("claude-code", "x-code", "shelley"), ("PreToolUse", "Stop", "end-of-turn", "other")):
        arrived = parse(request(asking, name))
        each = tuple(one for one in ledger.in_order() if matches(one.hook.match, arrived, EventSearch(arrived)))
        assert plan(arrived, ledger.state, house.stores.switch, None) == each
    asked = ledger.state.candidates("claude-code", "tool_before", "PreToolUse")
    assert [place for _, places in asked for place in places] == [0, 1, 2, 5]


def test_a_pattern_that_fails_asks_all_hooks_that_share_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, tool in (("one", "Bash"), ("another", "Ba.*")):
        house.hook(name, on="tool_before", type="rule", decision="deny", tool=tool, matcher="mkfs(?= )")
    arrived, compiled = parse(request()), plan_module._compiled

    def compile_failing(pattern: str) -> object:
        if pattern == "mkfs(?= )":
            raise MemoryError
        return compiled(pattern)

    monkeypatch.setattr(plan_module, "_compiled", compile_failing)

    asked = plan(arrived, house.stores.ledger.state, house.stores.switch, None)
    assert {one.hook.name for one in asked} == {"one", "another"}


class Moving(Ledger):
    """A ledger that a person changes between any two looks."""

    def __init__(self, *states: LedgerState) -> None:
        self._states = iter(states)

    @property
    def state(self) -> LedgerState:  # type: ignore[override]
        return next(self._states)


def test_an_event_is_judged_by_the_one_version_that_its_row_names(house: House) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny")
    before = house.stores.ledger.state
    house.consent.revoke(house.state("rule").key, "test")
    moving = Moving(before, house.stores.ledger.state)

    Engine(replace(house.stores, ledger=moving), house, IdleWorkers(full=True), EngineOptions()).begin(request())

    assert (house.last.ledger, house.last.verdict) == (before.version, Verdict.DENY)


class BrokenRecords:
    """A journal that takes nothing."""

    def append(self, record: Record, *, commit: bool) -> object:
        raise RuntimeError("no journal")


class BrokenDisplay:
    """A display that raises."""

    def status_shown(self, turn: str, text: str) -> None:
        raise RuntimeError("no display")

    def status_hidden(self, turn: str) -> None:
        raise RuntimeError("no display")


class Startled:
    """Somebody of ours who fails on every event that comes in."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.decided, self.status_shown, self.status_hidden = house.decided, house.status_shown, house.status_hidden

    def arrived(self, event: Event, *, answered: bool) -> None:
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")


@pytest.mark.parametrize(
    ("tool", "policy", "expected"),
    [("Bash", "block", b'"deny"'), ("", "block", b'"deny"'), ("Bash", "allow", b""), ("Read", "block", b"")],
)
def test_an_engine_failure_leaves_the_guards_in_force(house: House, tool: str, policy: str, expected: bytes) -> None:
    house.hook("guard", on="tool_before", tool=tool, script="exit 0", failure=policy)
    broken = Engine(house.stores, Startled(house), IdleWorkers(), EngineOptions())

    answer = broken.begin(request())

    assert isinstance(answer, Answer)
    assert expected in answer.stdout
    assert bool(answer.stdout) is bool(expected)
    assert "internal error: UnicodeEncodeError" in house.last.problem


@pytest.mark.parametrize("path", ["/tmp/hook\ud800", "/x/a\0b", "/x/" + "a" * 300], ids=["half", "nul", "long"])
def test_no_name_of_a_file_takes_a_guard_out_of_the_way(house: House, path: str) -> None:
    house.hook("guard", on="tool_before", type="rule", decision="deny", reason="no")
    body = json.dumps({**PRE_TOOL_USE, "tool_name": "Write", "tool_input": {"file_path": path}}).encode()

    answer = house.engine.begin(request(body=body))

    assert isinstance(answer, Answer)
    assert b'"deny"' in answer.stdout
    assert not house.last.problem


@pytest.mark.parametrize("whom", [{}, {"agent": "claude-code"}, {"session": "s-1"}])
def test_a_pause_is_what_the_row_of_a_paused_hook_names(house: House, whom: dict[str, str]) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny")
    house.stores.switch.pause(time.time() + 60, channel="test", **whom)

    assert house.engine.begin(request()) == Answer()
    assert house.last.hooks[0]["gate"] == "paused"


def test_while_hooks_are_off_agents_are_still_kept_from_our_own_files(house: House) -> None:
    house.stores.switch.set_enabled(False, "test")
    tool = {"tool_name": "Bash", "tool_input": {"command": "hooktray on; hooktray pause"}}

    house.engine.begin(request(body=json.dumps(PRE_TOOL_USE | tool).encode()))

    assert house.last.verdict is Verdict.DENY


def test_while_a_question_is_open_the_end_of_its_call_is_heard_at_once(house: House) -> None:
    house.asks = ("claude-code",)
    house.hook("ask", on="PermissionRequest", type="rule", decision="ask", agent=["claude-code"])
    payload = {**PRE_TOOL_USE, "hook_event_name": "PermissionRequest"}
    pending = house.engine.begin(house.relay_request("claude-code", payload, event="PermissionRequest", id="a"))
    pending = pending.run(None) if isinstance(pending, Execution) else pending
    assert isinstance(pending, PendingQuestion)
    pending.open(house)
    assert house.questions.open
    left = Left()

    house.engine.begin(house.relay_request("claude-code", AFTER, event="PostToolUse", id="b"), left)

    assert house.endings  # though nothing was done yet of what is left for afterwards
    assert left


def test_a_skill_is_in_force_before_its_call_is_answered(house: House) -> None:
    left = Left()

    house.engine.begin(request(body=json.dumps(SKILL).encode()), left)

    assert house.stores.sessions.marks("claude-code", "s-1") == {"skill:lint"}
    assert left


def test_what_a_hook_said_too_late_is_told_with_the_next_event_of_its_session(house: House) -> None:
    house.stores.sessions.add_note("claude-code", "s-1", SessionNote(hook="slow", text="it was late"))

    assert house.relay("claude-code", "PostToolUse", {**AFTER, "session_id": "another"}).stdout == b""
    assert b"it was late" in house.relay("claude-code", "PostToolUse", AFTER).stdout


def test_the_row_has_the_times_of_the_answer_and_not_those_of_its_writing(house: House) -> None:
    left = Left()
    begun = time.time()
    house.engine.begin(request(), left, elapsed=5.0)
    answered = time.time()

    wait(lambda: time.time() > answered + 0.1, what="some time has gone by")
    left.pop()()
    assert 0 <= house.last.ms / 1000 - 5.0 <= answered - begun + 0.01
    assert begun - 0.01 <= house.last.at + 5.0 <= answered + 0.01


def test_a_fault_of_self_protection_is_in_the_row_of_the_event(house: House) -> None:
    class Unknown(PageAddress):
        def __getattribute__(self, name: str) -> object:
            if name == "port":
                raise RuntimeError("no port")
            return super().__getattribute__(name)

    engine = Engine(house.stores, house, house, EngineOptions(background=house.background, page=Unknown()))

    assert engine.begin(request()) == Answer()
    assert house.last.problem == "internal error: RuntimeError"


@pytest.mark.parametrize("tool", ["Bash", "mcp__files__write"])
def test_a_large_payload_is_copied_no_more_often_than_it_must_be(house: House, tool: str) -> None:
    """To text, and from there to the argument; self-protection searches what is not a shell's in two copies more."""
    content = "word " * 200_000
    call = PRE_TOOL_USE | {"tool_name": tool, "tool_input": {"command": "make", "content": content}}
    large = request(body=json.dumps(call).encode())
    house.engine.begin(request())  # whatever is imported or cached at first

    tracemalloc.start()
    house.engine.begin(large, Left())
    copies = tracemalloc.get_traced_memory()[1] / len(content)
    tracemalloc.stop()

    assert copies < (2.1 if tool == "Bash" else 3.1)


@pytest.mark.parametrize("who", ["listener", "journal"])
def test_a_denial_that_cannot_be_kept_is_answered(house: House, caplog: pytest.LogCaptureFixture, who: str) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny", reason="no")
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2", matcher="git")
    records = BrokenRecords() if who == "journal" else None
    house.listener_fails = who == "listener"
    engine = Engine(house.stores, house, house, EngineOptions(), records=records)
    calls = [PRE_TOOL_USE, PRE_TOOL_USE | {"tool_input": {"command": "git push"}}]

    answers = [ran(engine.begin(request(body=json.dumps(each).encode()))) for each in calls]

    assert all(b'"deny"' in each.stdout for each in answers)
    assert caplog.text.count("could not be written down") == 2


def test_a_failure_after_the_hooks_ran_does_not_bypass_a_guard(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.hook("guard", on="tool_before", script="exit 0", failure="block")
    monkeypatch.setattr(house.engine, "_decision", fail)

    assert b'"deny"' in ran(house.engine.begin(request())).stdout
    assert house.last.problem == "internal error: RuntimeError"


@pytest.mark.parametrize("hooks", [0, 1])
def test_an_engine_failure_does_not_drop_the_question_to_the_user(
    house: House, monkeypatch: pytest.MonkeyPatch, hooks: int
) -> None:
    """The user is asked about what an agent may not do by itself, also if the engine fails later."""
    if hooks:
        house.hook("guard", on="tool_before", script="exit 0", failure="allow")
    kill = PRE_TOOL_USE | {"tool_input": {"command": "pkill hooktray"}}
    before = ran(house.engine.begin(request(body=json.dumps(kill).encode())))

    monkeypatch.setattr(house.engine, "_decision", fail)
    answer = ran(house.engine.begin(request(body=json.dumps(kill).encode())))

    assert b'"ask"' in before.stdout
    assert b'"ask"' in answer.stdout
    assert house.last.problem == "internal error: RuntimeError"


def test_a_status_that_cannot_be_shown_is_logged(house: House, caplog: pytest.LogCaptureFixture) -> None:
    status = HookStatus(cast(EngineListener, BrokenDisplay()), "turn", "looking")
    status.hide()
    status.hide()

    assert caplog.text.count("status could not be shown") == 2


def test_a_hook_whose_matcher_fails_runs(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    house.hook("guard", on="tool_before", tool="Write", script="echo no >&2; exit 2", failure="allow")
    monkeypatch.setattr(plan_module, "_tool_fits", fail)

    assert b'"deny"' in ran(house.engine.begin(request())).stdout
    assert "a fault of ours" in caplog.text
