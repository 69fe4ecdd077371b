"""The fast path leads where the whole way does: the same answer, the same news, the same row."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from agents.recordings import FOLDER, address, wire
from desk.wait import wait
from every import every
from house import PRE_TOOL_USE, House
from hypothesis import given
from hypothesis import strategies as st

from tray.agents.agent import Payload
from tray.agents.protocol import parse, parse_payload
from tray.agents.registry import AGENTS
from tray.app import build_engine
from tray.engine.async_output import AsyncOutput
from tray.engine.fast_path import FastPath
from tray.engine.lost_approvals import LostApprovals
from tray.engine.user_questions import PendingQuestion, UserQuestions
from tray.model.decision import Verdict
from tray.model.event import TEST_VARIABLE, EventKind, RelayRequest
from tray.protection.protected_paths import ProtectedPaths
from tray.protection.self_protection import Protection
from tray.store.ledger import LedgerState
from tray.store.sessions import SessionNote

RECORDED = [(file.parent.name, file.stem) for file in sorted(FOLDER.glob("*/*.json"))]
SAMPLED = [(agent, name) for agent, known in AGENTS.items() for name in known.events]
AFTER = {**PRE_TOOL_USE, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "x"}}
SKILL = {**PRE_TOOL_USE, "tool_name": "Skill", "tool_input": {"skill": "lint"}}


def call(tool: str, **input: Any) -> dict[str, Any]:
    return {**PRE_TOOL_USE, "tool_name": tool, "tool_input": input}


def readable(request: RelayRequest) -> Payload | None:
    """What the engine makes of the payload before it looks at the fast path."""
    if request.problem:
        return None
    try:
        return parse_payload(request)
    except ValueError:
        return None


def is_fast(house: House, request: RelayRequest) -> bool:
    return house.engine._fast_path.check(request, house.stores.ledger.state, readable(request)).fast


def outcome(house: House, request: RelayRequest) -> tuple[object, ...]:
    """The answer, the news, the row and what is remembered, without the times that it took."""
    before = len(house.decisions)
    begun = house.engine.begin(request)
    response = begun(None) if callable(begun) else begun
    house.join()
    if isinstance(response, PendingQuestion):
        return ("pending",)
    [(event, decision, record)] = house.decisions[before:]
    outcomes = tuple(replace(one, ms=0) for one in decision.outcomes)
    hooks = tuple({**one, "ms": 0} for one in record.hooks)
    row = replace(record, at=0, ms=0, wait_ms=0, hooks_ms=0, hooks=hooks)
    marks = house.stores.sessions.marks(event.agent, event.session)
    return response, event, replace(decision, outcomes=outcomes, hook_times=None), row, marks, tuple(house.endings)


@contextmanager
def whole_way(house: House) -> Iterator[None]:
    house.awaits_turn_end = True
    try:
        yield
    finally:
        house.awaits_turn_end = False


def agree(house: House, request: RelayRequest) -> bool:
    """That both ways lead to the same; whether this event took the fast one."""
    took = is_fast(house, request)
    fast = outcome(house, request)
    with whole_way(house):
        assert not is_fast(house, request)
        assert outcome(house, request) == fast
    return took


@every(("agent", "name"), RECORDED)
def test_every_recorded_event_comes_out_the_same(house: House, agent: str, name: str) -> None:
    agree(house, house.relay_request(agent, wire(agent, name), event=address(agent, name)))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("switch", [True, False])
def test_every_event_comes_out_the_same_with_and_without_hooks(house: House, agent: str, switch: bool) -> None:
    names = list(AGENTS[agent].events)
    house.hook("elsewhere", on="teammate_idle", type="rule", decision="deny", agent=["claude-code"])
    house.stores.switch.set_enabled(switch, "test")

    @every("name", names)
    def same(name: str, turn: str, fast: bool | None) -> None:
        request = house.relay_request(agent, AGENTS[agent].protocol.sample(name), event=name)
        # A session of its own, where the payload names one: no event leaves a mark for the next.
        session = parse(request).session.encode() or b"no session"

        took = agree(house, replace(request, body=request.body.replace(session, f"{turn} {name}".encode())))

        assert fast is None or took is (fast and (agent, name) in FAST)

    same(turn="without", fast=None)
    for name in names:
        house.hook(f"on {name}", on=name, type="rule", decision="deny", agent=[agent])
    same(turn="with", fast=not switch)


FAST = {
    ("antigravity", "PostInvocation"),
    ("antigravity", "PostToolUse"),
    ("claude-code", "MessageDisplay"),
    ("claude-code", "PostToolUse"),
    ("claude-code", "PreToolUse"),
    ("codex", "PostToolUse"),
    ("codex", "PreToolUse"),
    ("copilot-cli", "PostToolUse"),
    ("copilot-cli", "PreToolUse"),
    *(("cursor", f"after{word}") for word in ("AgentThought", "FileEdit", "MCPExecution", "ShellExecution")),
    ("cursor", "afterAgentResponse"),
    *(("cursor", f"before{word}") for word in ("MCPExecution", "ShellExecution")),
    *(("cursor", name) for name in ("postToolUse", "preToolUse")),
    ("gemini-cli", "AfterModel"),
    ("gemini-cli", "AfterTool"),
    ("gemini-cli", "BeforeTool"),
    *((agent, name) for agent in ("devin", "droid", "grok") for name in ("PostToolUse", "PreToolUse")),
    ("kiro", "postToolUse"),
    ("kiro", "preToolUse"),
    ("kimi-code", "PostToolUse"),
    ("kimi-code", "PreToolUse"),
    ("opencode", "PostToolUse"),
    ("opencode", "PreToolUse"),
    ("qwen-code", "MessageDisplay"),
    ("qwen-code", "PostToolUse"),
    ("qwen-code", "PreToolUse"),
    ("starchild", "post_llm_call"),
    ("starchild", "post_tool_call"),
    ("starchild", "pre_tool_call"),
    ("starchild", "transform_tool_result"),
    ("x-code", "PostToolUse"),
    ("x-code", "PreToolUse"),
}


def fast_ones(house: House) -> set[tuple[str, str]]:
    return {
        (agent, name)
        for agent, name in SAMPLED
        if is_fast(house, house.relay_request(agent, AGENTS[agent].protocol.sample(name), event=name))
    }


def test_these_pass_when_nobody_is_asked_and_when_nobody_may_run(house: House) -> None:
    assert fast_ones(house) == FAST
    for kind in EventKind:
        house.hook(f"on {kind.value}", on=kind.value, type="rule", decision="deny")
    assert fast_ones(house) == set()
    house.stores.switch.set_enabled(False, "test")
    assert fast_ones(house) == FAST


@pytest.mark.parametrize(
    ("whom", "passes"), [({}, True), ({"agent": "claude-code"}, False), ({"session": "s-1"}, False)]
)
def test_a_pause_for_everybody_lets_pass_at_once(house: House, whom: dict[str, str], passes: bool) -> None:
    house.hook("rule", on="tool_before", type="rule", decision="deny")
    house.stores.switch.pause(time.time() + 60, channel="test", **whom)

    assert agree(house, house.relay_request("claude-code", PRE_TOOL_USE, event="PreToolUse")) is passes
    assert house.last.hooks[0]["gate"] == "paused"


def test_while_hooks_are_off_agents_are_still_kept_from_our_own_files(house: House) -> None:
    house.stores.switch.set_enabled(False, "test")
    body = call("Bash", command="hooktray on; hooktray pause")

    assert not agree(house, house.relay_request("claude-code", body, event="PreToolUse"))
    assert house.last.verdict is Verdict.DENY


STRANGE: dict[str, bytes] = {
    "another event than the line says": json.dumps({**PRE_TOOL_USE, "hook_event_name": "Stop"}).encode(),
    "an event without a name": json.dumps({**PRE_TOOL_USE, "hook_event_name": ""}).encode(),
    "a name that is no text": json.dumps({**PRE_TOOL_USE, "hook_event_name": 7}).encode(),
    "no tool": b"{}",
    "a tool without a name": json.dumps({**PRE_TOOL_USE, "tool_name": ""}).encode(),
    "a tool whose input is a list": json.dumps({**PRE_TOOL_USE, "tool_input": ["hooktray pause"]}).encode(),
    "a key twice": b'{"tool_name":"Bash","tool_name":"Read"}',
    "no JSON": b"{",
    "no UTF-8": b'{"tool_name":"\xff"}',
    "nothing": b"",
    "a list": b"[]",
    "too deep": b"[" * 300 + b"]" * 300,
    "switched off by the agent": json.dumps(call("Bash", command="hooktray off")).encode(),
    "in quotes": json.dumps(call("Bash", command="hoo'kt'ray off")).encode(),
    "escaped in JSON": rb'{"tool_name":"Bash","tool_input":{"command":"hook\u0074ray off"}}',
    "a command over two lines": json.dumps(call("Bash", command="hook\\\ntray off")).encode(),
    "our own file": json.dumps(call("Write", file_path="/nowhere/hooktray.yaml", content="")).encode(),
    "any other file": json.dumps(call("Write", file_path="/tmp/a", content="")).encode(),
    "a skill": json.dumps(SKILL).encode(),
    "an unknown tool": json.dumps(call("mcp__a__b", path="/tmp/settings.json")).encode(),
}


@every("case", STRANGE)
def test_a_strange_payload_comes_out_the_same(house: House, case: str) -> None:
    agree(house, house.relay_request("claude-code", STRANGE[case], event="PreToolUse"))


PASS = {"an event without a name", "a name that is no text", "no tool", "a tool without a name",
        "a tool whose input is a list"}  # fmt: skip


def test_of_the_strange_ones_only_those_pass_that_nobody_has_to_do_with(house: House) -> None:
    passing = {
        case
        for case, body in STRANGE.items()
        if is_fast(house, house.relay_request("claude-code", body, event="PreToolUse"))
    }

    assert passing == PASS


@pytest.mark.parametrize(
    "more",
    [
        {"agent": "another"},
        {"event": "Another"},
        {"event": ""},
        {"problem": "payload of 99 bytes is over the limit of 9"},
        {"environment": {TEST_VARIABLE: "1"}},
    ],
)
def test_an_unusual_request_goes_the_whole_way(house: House, more: dict[str, Any]) -> None:
    request = replace(house.relay_request("claude-code", PRE_TOOL_USE, event="PreToolUse"), **more)

    assert not agree(house, request)


def test_while_a_question_is_open_the_end_of_its_call_is_heard_at_once(house: House) -> None:
    house.asks = ("claude-code",)
    house.hook("ask", on="PermissionRequest", type="rule", decision="ask", agent=["claude-code"])
    payload = {**PRE_TOOL_USE, "hook_event_name": "PermissionRequest"}
    pending = house.engine.begin(house.relay_request("claude-code", payload, event="PermissionRequest", id="a"))
    pending = pending(None) if callable(pending) else pending
    assert isinstance(pending, PendingQuestion)
    assert pending.on_ready(lambda work: None)
    left: list[Callable[[], object]] = []

    house.engine.begin(
        house.relay_request("claude-code", AFTER, event="PostToolUse", id="b"),
        defer=lambda work, **_: left.append(work),
    )

    assert house.endings  # though nothing was done yet of what is left for afterwards
    assert left


def test_while_a_rounds_end_waits_whatever_goes_on_is_heard_at_once(house: House) -> None:
    request = house.relay_request("x-code", AGENTS["x-code"].protocol.sample("PreToolUse"), event="PreToolUse")

    assert agree(house, request)
    assert [event.name for event, _ in house.arrivals] == ["PreToolUse"], "the whole way alone tells of its arrival"


def test_a_skill_is_in_force_before_its_call_is_answered(house: House) -> None:
    left: list[Callable[[], object]] = []

    house.engine.begin(
        house.relay_request("claude-code", SKILL, event="PreToolUse"), defer=lambda work, **_: left.append(work)
    )

    assert house.stores.sessions.marks("claude-code", "s-1") == {"skill:lint"}
    assert left


def test_what_a_hook_said_too_late_is_told_with_the_next_event(house: House) -> None:
    house.stores.sessions.add_note("claude-code", "s-1", SessionNote(hook="slow", text="it was late"))

    assert is_fast(house, house.relay_request("claude-code", {**AFTER, "session_id": "another"}, event="PostToolUse"))
    answer = house.relay("claude-code", "PostToolUse", AFTER)

    assert b"it was late" in answer.stdout


def test_news_and_row_wait_until_the_answer_has_left_and_tell_when_it_did(house: House) -> None:
    left: list[tuple[Callable[[], object], bool]] = []

    def after(work: Callable[[], object], /, *, soon: bool = False) -> None:
        left.append((work, soon))

    request = house.relay_request("claude-code", PRE_TOOL_USE, event="PreToolUse")
    begun = time.time()
    house.engine.begin(request, elapsed=5.0, defer=after)
    answered = time.time()

    assert house.decisions == []
    [(record_event, soon)] = left
    assert not soon
    wait(lambda: time.time() > answered + 0.1, what="some time has gone by")
    record_event()
    assert house.last.event == "PreToolUse"
    assert 0 <= house.last.ms / 1000 - 5.0 <= answered - begun + 0.01
    assert begun - 0.01 <= house.last.at + 5.0 <= answered + 0.01


def test_a_listener_that_fails_on_the_fast_path_costs_no_row(house: House, caplog: pytest.LogCaptureFixture) -> None:
    house.listener_fails = True

    assert house.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout == b""
    assert "could not be written down" in caplog.text
    wait(lambda: house.stores.journal.count() == 1, what="its row is there")


ATTEMPTS = [
    "hooktray off",
    "hooktray pause 30m",
    "rm -rf ~/.config/hooktray",
    "echo {} >~/.claude/settings.json",
    "ls",
]
NOISE = ["", "'", '"', "\\\n", "+", "''", " ", "\N{KELVIN SIGN}"]


@st.composite
def hidden(draw: st.DrawFn) -> str:
    """An attempt with a sign put in somewhere, which a shell may or may not take away again."""
    text = draw(st.sampled_from(ATTEMPTS))
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(NOISE)) + text[place:]


KEYS = st.sampled_from(["command", "file_path", "path", "code", "args"])
inputs = st.dictionaries(KEYS, hidden() | st.lists(hidden(), max_size=2) | st.integers(), min_size=1, max_size=2)
TOOLS = st.sampled_from(["Bash", "Read", "Write", "Edit", "Skill", "mcp__shell__run", "bash", "write_file", "Task"])


@given(agent=st.sampled_from(["claude-code", "starchild"]), tool=TOOLS, input=inputs)
def test_no_call_is_fast_that_self_protection_has_anything_to_say_to(
    agent: str, tool: str, input: dict[str, Any]
) -> None:
    protection = Protection(protected_paths=ProtectedPaths(own=("/home/u/.config/hooktray",), home="/home/u"))
    name = "PreToolUse" if agent == "claude-code" else "pre_tool_call"
    named = {"hook_event_name": name, "cwd": "/home/u", "tool_name": tool, "tool_input": input}
    request = RelayRequest(agent=agent, event=name, id="0", body=json.dumps(named).encode())
    path = FastPath(
        switch=Nobody(),  # type: ignore[arg-type]
        protection=protection,
        async_output=AsyncOutput(Nobody()),  # type: ignore[arg-type]
        questions=UserQuestions(),
        listener=Nobody(),  # type: ignore[arg-type]
        lost=LostApprovals(),
    )

    event = parse(request)
    assert event.tool is not None
    if path.check(request, LedgerState(), readable(request)).fast:
        assert protection._findings(event, event.tool) == []


class Nobody:
    """No session is remembered, nobody waits for anything, and nobody turns a switch."""

    awaits_turn_end = False

    def has_entries(self, agent: str, session: str) -> bool:
        return False


def test_a_fault_on_the_fast_path_is_met_on_the_whole_way(house: House, caplog: pytest.LogCaptureFixture) -> None:
    def port() -> int:
        raise RuntimeError("no port")

    house.engine = build_engine(house.stores, house, house._spawn, house.background, llm=lambda: None, port=port)

    assert house.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout == b""
    assert "may take the fast path" in caplog.text
    assert house.last.problem == "internal error: RuntimeError"
