"""A recorded payload becomes the expected Event; whatever else comes in becomes a problem, never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.recordings import FOLDER, recorded, request_for, sampled, wire
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tray.agents.protocol import parse, spec
from tray.agents.registry import AGENTS
from tray.agents.wire import dumps
from tray.engine.plan import EventSearch, matches
from tray.model.event import Capability, EventKind, RelayRequest
from tray.model.hook import Match

RECORDED = [(path.parent.name, path.stem) for path in sorted(FOLDER.glob("*/*.json"))]


@every(("agent", "name"), RECORDED)
def test_a_recorded_payload_is_an_event_of_a_known_session_with_what_the_relay_sent(agent: str, name: str) -> None:
    event = recorded(agent, name)

    assert (event.problem, bool(event.session), bool(event.payload)) == ("", True, True)
    assert (event.id, event.agent, event.pid, event.body) == ("01", agent, 41, wire(agent, name))
    assert event.environment["PATH"] == "/usr/bin"


@every(("agent", "name"), [(agent, name) for agent, known in AGENTS.items() for name in known.events])
def test_every_event_has_a_sample_that_parses_to_its_kind(agent: str, name: str) -> None:
    event = sampled(agent, name)

    assert (event.problem, event.name, event.kind) == ("", name, spec(agent, name).kind)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_event_without_a_sample_raises_a_key_error(agent: str) -> None:
    with pytest.raises(KeyError):
        AGENTS[agent].protocol.sample("no-such-event")


BAD = {
    b"": "empty payload",
    b" \n": "empty payload",
    b"hello": "payload is not JSON: Expecting value at line 1, column 1",
    b'{"a":1,\n "b" 2}': "payload is not JSON: Expecting ':' delimiter at line 2, column 6",
    b'{"a":1} trailing': "payload is not JSON: Extra data at line 1, column 9",
    b"[1,2]": "payload is a JSON array, not an object",
    b'"text"': "payload is a JSON string, not an object",
    b"7": "payload is a JSON number, not an object",
    b"1.5": "payload is a JSON number, not an object",
    b"true": "payload is a JSON boolean, not an object",
    b"null": "payload is a JSON null, not an object",
    b'{"a":"\xff"}': "payload is not UTF-8: byte 6 cannot be read",
    b'{"a":NaN}': "payload is not JSON: NaN is not a number",
    b'{"a":-Infinity}': "payload is not JSON: -Infinity is not a number",
    b'{"a":1e999}': "payload is not JSON: a number is too large",
    b'{"a":1,"a":2}': "payload is JSON that has a key twice in one object",
    b'{"a":' * 300 + b"1" + b"}" * 300: "payload is JSON nested more than 200 deep",
    b"[" * 100_000 + b"]" * 100_000: "payload is JSON nested more than 200 deep",
    b'{"a":' + b"9" * 5000 + b"}": "payload is not JSON: a number is too large",
}


@every("agent", AGENTS)
@every(("body", "problem"), BAD.items(), ids=[f"bad{n}" for n in range(len(BAD))])
def test_a_payload_that_cannot_be_read_is_an_event_with_a_problem(agent: str, body: bytes, problem: str) -> None:
    name = next(name for name, each in AGENTS[agent].events.items() if not each.plain)

    event = parse(request_for(agent, name, body))

    assert event.problem == problem
    assert (event.name, event.kind, event.cwd) == (name, spec(agent, name).kind, "/relay")
    assert (event.id, event.pid, event.body, event.payload) == ("01", 41, body, {})


MANY = {"numbers": list(range(10**9, 10**9 + 30_000)), "lists": [[{}], [0.5, -1, None]] * 300}
LARGE = json.dumps(MANY)[:-1].encode()  # still open at its end
IN_LARGE = {
    b', "a": 1}': "",
    b', "a": 1} trailing': "payload is not JSON: Extra data at line 1, column %d",
    b', "a": NaN}': "payload is not JSON: NaN is not a number",
    b', "a": 1e999}': "payload is not JSON: a number is too large",
    b', "a": %s}' % (b"9" * 300): "",
    b', "a": %s}' % (b"9" * 301): "payload is not JSON: a number is too large",
    b', "a": %s}' % (b"9" * 5000): "payload is not JSON: a number is too large",
    b', "a": "%s"}' % (b"9" * 5000): "",
    b', "a": "\t"}': f"payload is not JSON: Invalid control character at at line 1, column {len(LARGE) + 9}",
    b', "a": "\xff"}': f"payload is not UTF-8: byte {len(LARGE) + 8} cannot be read",
    b', "a": 1, "a": 2}': "payload is JSON that has a key twice in one object",
    b', "a": %s}' % (b"[" * 199 + b"]" * 199): "",
    b', "a": %s}' % (b"[" * 201 + b"]" * 201): "payload is JSON nested more than 200 deep",
}


@every(("end", "problem"), IN_LARGE.items(), ids=[f"large{n}" for n in range(len(IN_LARGE))])
def test_a_large_payload_is_read_as_strictly_as_a_small_one(end: bytes, problem: str) -> None:
    body = LARGE + end

    event = parse(request_for("claude-code", "Stop", body))

    assert event.problem == (problem % (body.index(b"}", len(LARGE)) + 3) if "%d" in problem else problem)
    assert event.payload == ({} if problem else json.loads(body))


def test_a_large_list_is_no_object() -> None:
    event = parse(request_for("claude-code", "Stop", json.dumps(MANY["numbers"]).encode()))

    assert (event.problem, event.payload) == ("payload is a JSON array, not an object", {})


CALLS = [
    (agent, name)
    for agent, known in AGENTS.items()
    for name, one in known.events.items()
    if one.kind is EventKind.TOOL_BEFORE
]


@every(("agent", "name"), CALLS)
def test_a_tool_call_whose_tool_is_not_named_is_a_problem_so_that_every_guard_is_asked(agent: str, name: str) -> None:
    event = parse(RelayRequest(agent=agent, event=name, id="1", body=b'{"renamed": "Bash"}'))

    assert event.problem
    assert matches(Match(event="tool_before", tool="Bash"), event, EventSearch(event))


def test_a_problem_never_quotes_the_payload() -> None:
    assert "s3cret" not in parse(request_for("claude-code", "Stop", b'{"s3cret": s3cret}')).problem


def test_an_unknown_agent_is_named_together_with_the_known_ones() -> None:
    event = parse(request_for("foo", "Stop", b"{}"))

    assert event.problem == f"unknown agent 'foo'; known agents: {', '.join(AGENTS)}"
    assert event.kind is EventKind.OTHER


def test_what_the_server_found_wrong_is_the_events_problem() -> None:
    event = parse(replace(request_for("claude-code", "Stop", b'{"hook_event_'), problem="payload over 16 MiB"))

    assert (event.problem, event.kind) == ("payload over 16 MiB", EventKind.TURN_END)


def test_an_unknown_event_is_other_and_keeps_its_name() -> None:
    event = parse(request_for("claude-code", "Stop", b'{"hook_event_name":"Brand_New","session_id":"s","cwd":"/p"}'))

    assert (event.name, event.kind, event.session, event.cwd) == ("Brand_New", EventKind.OTHER, "s", "/p")
    assert spec("claude-code", "Brand_New").can is Capability.NOTHING
    assert spec("claude-code", "Brand_New").timeout == 30


@pytest.mark.parametrize("body", [b"{}", b'{"hook_event_name":7}', b'{"hook_event_name":"%s"}' % (b"x" * 200)])
def test_without_a_word_of_the_payloads_own_the_address_names_the_event(body: bytes) -> None:
    assert parse(request_for("claude-code", "Stop", body)).name == "Stop"


def test_a_plain_payload_is_the_prompt_and_can_be_searched_like_any_other() -> None:
    event = parse(request_for("shelley", "system-prompt", '{"not": json}\n … text'.encode()))

    assert (event.problem, event.prompt) == ("", '{"not": json}\n … text')
    assert event.payload == {"prompt": event.prompt}


def test_a_plain_payload_that_is_not_utf_8_is_a_problem() -> None:
    event = parse(request_for("shelley", "system-prompt", b"a\xff"))

    assert event.problem == "payload is not UTF-8: byte 1 cannot be read"


def test_an_agent_type_without_an_agent_id_is_no_subagent() -> None:
    body = b'{"hook_event_name":"PreToolUse","tool_name":"Bash","agent_type":"reviewer"}'

    assert parse(request_for("claude-code", "PreToolUse", body)).subagent == ""


def test_half_a_surrogate_pair_never_reaches_a_field_that_is_written_somewhere() -> None:
    event = parse(request_for("claude-code", "Stop", rb'{"session_id":"a\ud800b","last_assistant_message":"\udfff"}'))

    assert (event.session, event.message) == ("a?b", "?")


JUNK: tuple[Any, ...] = (None, True, 7, 1.5, "", "text", "é", [], ["a", 1], {}, {"name": 7}, {"cwd": []}, [[{}]])
KEYS = sorted(
    {key for agent, name in RECORDED for key in recorded(agent, name).payload}
    | {"title", "slug", "vm_name", "status"}
)


@settings(max_examples=50)
@given(st.sampled_from(sorted(AGENTS)), st.dictionaries(st.sampled_from(KEYS), st.sampled_from(JUNK), max_size=12))
def test_fields_of_a_wrong_type_are_as_good_as_absent(agent: str, payload: dict[str, Any]) -> None:
    event = parse(request_for(agent, next(iter(AGENTS[agent].events)), dumps(payload)))

    assert event.problem == ""
    for field in ("name", "session", "cwd", "model", "topic", "title", "prompt", "message", "url", "subagent"):
        assert isinstance(getattr(event, field), str), field
    assert all(isinstance(name, str) for name in event.tools)


@settings(max_examples=50)
@given(st.sampled_from([*AGENTS, "foo", ""]), st.text(max_size=20), st.binary(max_size=80))
def test_parse_never_raises(agent: str, name: str, body: bytes) -> None:
    assert parse(request_for(agent, name, body)).body == body
