"""Another agent that runs a line of ours is recognised, and Claude Code is never taken for one."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from agents.foreign_payloads import Sent, named, sent
from agents.recordings import FOLDER, address
from every import every
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tray.agents import recognition
from tray.agents.agent import never
from tray.agents.packages import PackagedAgents
from tray.agents.protocol import spec
from tray.agents.recognition import neutral, recognise
from tray.agents.registry import AGENTS, BUILT_IN, UNKNOWN, UNSUPPORTED, SupportedAgents, known_agents
from tray.model.decision import Answer, SkipReason
from tray.model.event import TEST_VARIABLE, EventKind

LINES = tuple(AGENTS)
# Of these, whatever has the shape that others have too is taken for their own on their line.
OWN_SHAPES = tuple(agent for agent in AGENTS if not AGENTS[agent].marks.shares_shape)
RECORDED = [(file.parent.name, file.stem) for file in sorted(FOLDER.glob("*/*.json"))]
SAMPLED = [(agent, name) for agent, one in AGENTS.items() for name in one.events if not spec(agent, name).plain]
INHERITED = {"CURSOR_VERSION": "3", "COPILOT_CLI": "1", "GEMINI_SESSION_ID": "other", "CLAUDE_PROJECT_DIR": "/p"}
SESSION = "8599f3e0-cb9f-4fa4-8e7e-c6bbde88efdc"
CLAUDE = {
    "session_id": SESSION,
    "transcript_path": f"/home/dev/.claude/projects/-home-dev-api/{SESSION}.jsonl",
    "cwd": "/home/dev/api",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "toolu_01",
}
PLAIN = {"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Bash", "tool_input": {"command": "ls"}}
ENVELOPES = ("cursor_version", "client_type", "agent_action_name", "stepIdx", "conversationId", "workspaceRoot")


@cache
def payload_of(agent: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / agent / f"{name}.json").read_text(encoding="utf-8"))
    return found


@every("line", LINES)
@every("one", sent(), ids=named)
def test_an_agent_without_support_is_recognised_on_every_line(one: Sent, line: str) -> None:
    caller = recognise(line, one.word, one.payload, {})

    assert caller is not None
    assert (caller.agent, caller.event, caller.via_agent) == (one.agent, one.event, line)
    assert (caller.skip_reason, caller.answer) == (SkipReason.NOT_SUPPORTED, Answer())


def test_a_call_of_antigravity_without_the_lines_word_is_answered_nothing() -> None:
    caller = recognise("claude-code", "", {"toolCall": {"name": "run_command"}, "stepIdx": 7}, {})

    assert caller is not None
    assert (caller.agent, caller.event) == ("antigravity", "")
    answer = neutral("claude-code", "", b'{"toolCall": {"name": "run_command"}, "stepIdx": 7}', {})
    assert answer == Answer()  # `{}` would deny before a call


@every(("agent", "name"), RECORDED)
@every("environment", [{}, INHERITED, {"COPILOT_CLI": "1"}], ids=["own", "inherited", "one mark"])
def test_a_recorded_payload_of_the_lines_own_agent_is_its_own(
    agent: str, name: str, environment: dict[str, str]
) -> None:
    assert recognise(agent, address(agent, name), payload_of(agent, name), environment) is None


@every(("agent", "name"), SAMPLED)
def test_a_sample_of_the_lines_own_agent_is_its_own(agent: str, name: str) -> None:
    sample = json.loads(AGENTS[agent].protocol.sample(name))

    assert recognise(agent, name, sample, {}) is None
    assert recognise(agent, name, sample, {"CURSOR_VERSION": "3"}) is None
    assert recognise(agent, name, sample | {"since_next_year": 1}, {}) is None
    assert {one.id for one in known_agents() if one.marks.is_sender(sample)} <= {agent}


@every(("agent", "name"), RECORDED)
def test_a_supported_agent_on_another_ones_line_is_known_by_its_own_name(agent: str, name: str) -> None:
    for line in OWN_SHAPES:
        if line == agent:
            continue
        word = address(agent, name) if agent == "antigravity" else "word"  # its payloads name no event
        caller = recognise(line, word, payload_of(agent, name), {})
        assert caller is not None
        assert (caller.agent, caller.event, caller.skip_reason) == (agent, address(agent, name), None)


MARKS = sorted({word for agent in known_agents() for word in (*agent.marks.variables, *agent.variables)})
environments = st.dictionaries(st.sampled_from(MARKS), st.sampled_from(["1", SESSION]))


@settings(max_examples=50)
@given(st.sampled_from(RECORDED), st.sampled_from(OWN_SHAPES), environments)
def test_neither_the_line_nor_an_inherited_environment_hides_the_sender(
    recording: tuple[str, str], line: str, environment: dict[str, str]
) -> None:
    agent, name = recording

    caller = recognise(line, address(agent, name), payload_of(agent, name), environment)

    assert (caller.agent if caller else line) == agent
    assert caller is None or caller.skip_reason is None


@settings(max_examples=50)
@given(st.sampled_from(sent()), st.sampled_from(LINES), environments)
def test_nor_do_they_hide_an_agent_without_support(one: Sent, line: str, environment: dict[str, str]) -> None:
    environment.pop("CLAUDE_CODE_SESSION_ID", None)  # that of the payload's own session proves its sender

    caller = recognise(line, one.word, one.payload, environment)

    assert caller is not None
    assert (caller.agent, caller.skip_reason) == (one.agent, SkipReason.NOT_SUPPORTED)


values = st.none() | st.booleans() | st.integers() | st.text() | st.dictionaries(st.text(), st.text(), max_size=2)
unheard = st.text(min_size=1).filter(lambda key: key not in ENVELOPES and key not in CLAUDE)
alike = st.sampled_from(["timestamp", "turn_id", "model", "prompt_id", "extra", "sessionId", "stop_reason", "type"])


@settings(max_examples=50)
@given(
    more=st.dictionaries(unheard | alike, values, max_size=4),
    event=st.sampled_from(list(AGENTS["claude-code"].events)),
)
def test_claude_code_with_fields_that_are_not_known_yet_stays_claude_code(more: dict[str, Any], event: str) -> None:
    payload = {**more, **CLAUDE, "hook_event_name": event}
    if isinstance(more.get("timestamp"), int):
        more.pop("sessionId", None)  # these two are an envelope of Copilot CLI's own
        payload.pop("sessionId", None)

    assert recognise("claude-code", event, payload, INHERITED) is None


@every("name", [name for agent, name in RECORDED if agent == "qwen-code"])
def test_the_session_in_its_environment_proves_claude_code_whatever_else_it_sends_one_day(name: str) -> None:
    payload = payload_of("qwen-code", name)
    environment = {"CLAUDE_CODE_SESSION_ID": str(payload["session_id"])}

    assert recognise("claude-code", address("qwen-code", name), payload, environment) is None


@settings(max_examples=50)
@given(agent=st.sampled_from(LINES), payload=st.dictionaries(st.text() | alike | st.sampled_from(ENVELOPES), values))
def test_no_payload_makes_it_fail(agent: str, payload: dict[str, Any]) -> None:
    recognise(agent, "PreToolUse", payload, INHERITED)
    assert isinstance(neutral(agent, "PreToolUse", json.dumps(payload).encode(), {}), Answer)


@pytest.mark.parametrize("variable", ["COPILOT_CLI", "CURSOR_VERSION", "GEMINI_SESSION_ID"])
def test_claude_code_without_a_transcript_stays_claude_code_below_another_agent(variable: str) -> None:
    payload = CLAUDE | {"transcript_path": None}
    environment = {"CLAUDE_CODE_SESSION_ID": SESSION, variable: "1"}

    assert recognise("claude-code", "PreToolUse", payload, environment) is None


@pytest.mark.parametrize(
    ("agent", "variable"),
    [(one.id, word) for one in known_agents() if one.id != "claude-code" for word in one.marks.variables],
)
def test_an_environment_mark_counts_where_the_payload_has_no_known_shape(agent: str, variable: str) -> None:
    caller = recognise("claude-code", "PreToolUse", PLAIN, {variable: "x"})

    assert caller is not None
    assert caller.agent == agent
    assert recognise("claude-code", "PreToolUse", PLAIN, {}) is None
    assert recognise("claude-code", "PreToolUse", CLAUDE, {variable: "x"}) is None


def test_marks_of_two_agents_do_not_count() -> None:
    assert recognise("claude-code", "PreToolUse", PLAIN, {"COPILOT_CLI": "1", "CURSOR_VERSION": "3"}) is None


def test_what_our_own_commands_send_has_the_terminals_environment_and_not_the_agents() -> None:
    assert recognise("claude-code", "PreToolUse", PLAIN, {"COPILOT_CLI": "1", TEST_VARIABLE: "1"}) is None


NOT_UNDERSTOOD = [
    {"hook": "tool.execute.before", "input": {"tool": "bash"}},
    {"hook_event_name": "preToolUse", "cwd": "/p", "tool_name": "execute_bash", "tool_input": {"command": "ls"}},
    {"hookEventName": "PreToolUse", "toolCall": "x"},
]


@pytest.mark.parametrize("payload", NOT_UNDERSTOOD, ids=["hook", "other style", "camel case"])
def test_a_payload_that_no_protocol_here_understands_has_an_unknown_sender(payload: dict[str, Any]) -> None:
    caller = recognise("claude-code", "PreToolUse", payload, {})

    assert caller is not None
    assert (caller.agent, caller.skip_reason, caller.answer) == (UNKNOWN, SkipReason.NOT_UNDERSTOOD, Answer())


@pytest.mark.parametrize("payload", [{}, {"tool_name": "Bash"}, {"hook_event_name": "NextYear"}, PLAIN])
def test_what_claude_code_may_have_sent_is_its_own(payload: dict[str, Any]) -> None:
    assert recognise("claude-code", "PreToolUse", payload, {}) is None


def test_only_the_top_of_a_payload_counts() -> None:
    inside = {**CLAUDE, "tool_input": {"command": "x", "cursor_version": "3", "client_type": "kimi_code_cli"}}

    assert recognise("claude-code", "PreToolUse", inside, {}) is None


def test_after_a_failure_of_ours_each_agent_gets_its_own_neutral_answer() -> None:
    call = json.dumps({"toolCall": {"name": "run_command"}, "stepIdx": 7}).encode()

    assert neutral("claude-code", "PreToolUse", call, {}).stdout == b'{"decision":"ask"}'
    assert neutral("claude-code", "PreToolUse", json.dumps(CLAUDE).encode(), {}) == Answer()
    assert neutral("claude-code", "PreToolUse", b"nonsense", {}) == Answer()
    assert neutral("shelley", "system-prompt", b'{"cursor_version": "3"}', {}).stdout == b'{"cursor_version": "3"}'
    assert neutral("unknown-word", "x", b"{}", {}) == Answer()


def test_the_table_names_no_agent_that_is_supported() -> None:
    assert UNSUPPORTED.keys().isdisjoint(AGENTS)
    assert list(UNSUPPORTED) == sorted(UNSUPPORTED)
    assert all(agent.marks.is_alike is not never for agent in AGENTS.values())
    by_payload = {name for name in UNSUPPORTED if name != "devin"}  # that one is known by a variable only
    assert {one.agent for one in sent()} == by_payload


UNCLAIMED = [
    (file.stem, row["event"], row["payload"])
    for file in sorted((FOLDER.parent / "unclaimed").glob("*.json"))
    for row in json.loads(file.read_text(encoding="utf-8"))
]
KNOWN = tuple(known_agents())
KNOWN_BY_ID = {one.id: one for one in KNOWN}
# Their payloads have nothing of their own: they count on their own lines only.
BY_LINE = {"claude-code", "devin", "kiro", "shelley", "starchild", "x-code"}
SHAPES = {"shelley", "starchild", "x-code"}  # of which nothing else has the shape


@every(("agent", "name"), RECORDED)
def test_exactly_one_agent_claims_a_recorded_payload(agent: str, name: str) -> None:
    payload = payload_of(agent, name)

    assert [one.id for one in KNOWN if one.marks.is_sender(payload)] == ([] if agent in BY_LINE else [agent])
    if agent in SHAPES:
        assert [one.id for one in KNOWN if one.marks.is_alike(payload)] == [agent]
    if agent in BY_LINE:
        assert KNOWN_BY_ID[agent].marks.is_alike(payload)


@given(st.sampled_from(RECORDED), st.sampled_from(LINES), st.permutations(LINES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_the_order_of_the_table_changes_no_sender(
    monkeypatch: pytest.MonkeyPatch, recording: tuple[str, str], line: str, order: list[str]
) -> None:
    agent, name = recording
    payload, word = payload_of(agent, name), address(agent, name)
    usual = recognise(line, word, payload, {})

    with monkeypatch.context() as patch:
        patch.setattr(recognition, "AGENTS", Shuffled(order))
        assert recognise(line, word, payload, {}) == usual


class Shuffled(SupportedAgents):
    """The same agents in another order."""

    def __init__(self, order: list[str]) -> None:
        super().__init__({id: BUILT_IN[id] for id in order})
        self.__dict__["packaged"] = PackagedAgents()


@every(("agent", "event", "payload"), UNCLAIMED, ids=[f"{agent} {event}" for agent, event, _ in UNCLAIMED])
def test_no_agent_claims_the_payload_of_one_without_support(agent: str, event: str, payload: dict[str, Any]) -> None:
    assert [one.id for one in KNOWN if one.marks.is_sender(payload)] == []
    for line in LINES:
        caller = recognise(line, event, payload, {})
        assert caller is not None, line
        assert (caller.agent, caller.skip_reason) == (UNKNOWN, SkipReason.NOT_UNDERSTOOD), line


def test_a_second_stop_of_grok_when_its_session_ends_ends_no_turn() -> None:
    payload = payload_of("grok", "Stop")
    ended = payload | {"reason": "shutdown"}
    name = AGENTS["grok"].protocol.event_name

    assert spec("grok", name(payload)).kind is EventKind.TURN_END
    assert (spec("grok", name(ended)).kind, spec("grok", name(ended)).observe_only) == (EventKind.OTHER, True)
    assert name({"hookEventName": "pre_tool_use"}) == "PreToolUse"  # an older one has this spelling only
