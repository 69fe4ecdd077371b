"""What a hook reads: its own agent's exact bytes, any other agent's event in the form its dialect knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.recordings import recorded, request_for
from every import every
from msgspec.structs import replace

from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.model.event import EventKind


@pytest.mark.parametrize(
    ("agent", "end"), [("claude-code", b"\n"), ("shelley", b""), ("starchild", b""), ("x-code", b"\n")]
)
def test_the_newline_that_an_agent_sends_is_there_even_when_the_relay_lost_it(agent: str, end: bytes) -> None:
    body = b'{"cwd":  "/p", "odd": "\xc3\xa9"}'

    assert AGENTS[agent].protocol.stdin(parse(request_for(agent, "some-event", body))) == body + end


SESSION = "40:/abs/path/to/project"
AT = {"cwd": "/abs/path/to/project", "model": "anthropic:claude-sonnet-4-6"}
LAST_ROUND: dict[str, dict[str, Any]] = {
    "starchild": {"event": "on_stop", "session_id": SESSION, "agent_id": "x-code", "response": "", "tool_names": []}
    | {"stop_hook_active": False},
    "claude-code": {"hook_event_name": "Stop", "session_id": SESSION, "transcript_path": ""}
    | {"stop_hook_active": False, "last_assistant_message": ""},
    "shelley": {"type": "end_of_turn", "conversation_id": SESSION, "slug": "project"},
}


@every("dialect", LAST_ROUND)
def test_a_round_that_ends_the_turn_is_passed_to_hooks_as_the_end_of_a_turn(dialect: str) -> None:
    event = replace(recorded("x-code", "TurnComplete"), kind=EventKind.TURN_END)

    assert json.loads(AGENTS[dialect].protocol.stdin(event)) == AT | LAST_ROUND[dialect]


def test_a_shelley_hook_reads_a_foreign_system_prompt_as_bare_text() -> None:
    event = replace(recorded("claude-code", "Stop"), kind=EventKind.SYSTEM_PROMPT, prompt="You are … x")

    assert AGENTS["shelley"].protocol.stdin(event) == "You are … x".encode()


def test_a_claude_hook_finds_the_project_in_its_environment() -> None:
    environment = AGENTS["claude-code"].protocol.environment

    assert environment(recorded("claude-code", "Stop"))["CLAUDE_PROJECT_DIR"] == "/home/dev/project"
    assert environment(recorded("starchild", "on_stop")) == {
        "CLAUDE_PROJECT_DIR": "/data/workspace",
        "CLAUDE_CODE_SESSION_ID": "sess-1",
    }
    assert environment(recorded("shelley", "end-of-turn")) == {"CLAUDE_CODE_SESSION_ID": "cMT7MTV"}


def test_no_variable_is_promised_that_a_process_could_not_be_given() -> None:
    event = replace(recorded("starchild", "on_stop"), cwd="/a\0b", session="\ud800")

    assert AGENTS["claude-code"].protocol.environment(event) == {}
