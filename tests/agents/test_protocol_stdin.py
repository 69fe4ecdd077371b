"""What a hook reads: its own agent's exact bytes, any other agent's event in the form its dialect knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.recordings import recorded, request_for, sampled, wire
from every import every
from msgspec.structs import replace

from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.model.event import Event, EventKind

RECORDINGS = [
    *[("claude-code", name) for name in ("Stop", "SessionEnd", "PreToolUse-Bash", "StopFailure")],
    *[("shelley", name) for name in ("end-of-turn", "new-conversation")],
    *[("starchild", name) for name in ("on_stop", "pre_tool_call", "on_user_message")],
    *[("x-code", name) for name in ("PreToolUse", "TurnComplete", "SubagentStop")],
]


@every(("agent", "name"), RECORDINGS)
def test_a_hook_of_the_agents_own_dialect_reads_the_agents_own_bytes(agent: str, name: str) -> None:
    assert AGENTS[agent].protocol.stdin(recorded(agent, name)) == wire(agent, name)


@pytest.mark.parametrize(
    ("agent", "end"), [("claude-code", b"\n"), ("shelley", b""), ("starchild", b""), ("x-code", b"\n")]
)
def test_the_newline_that_an_agent_sends_is_there_even_when_the_relay_lost_it(agent: str, end: bytes) -> None:
    body = b'{"cwd":  "/p", "odd": "\xc3\xa9"}'

    assert AGENTS[agent].protocol.stdin(parse(request_for(agent, "some-event", body))) == body + end


def turn_end() -> Event:
    """A round that the engine found to be the turn's last."""
    return replace(recorded("x-code", "TurnComplete"), kind=EventKind.TURN_END)


S = "8599f3e0-cb9f-4fa4-8e7e-c6bbde88efdc"
SUB = "/home/dev/project/sub"
X = {"session_id": "40:/abs/path/to/project", "cwd": "/abs/path/to/project", "model": "anthropic:claude-sonnet-4-6"}
PLUGIN = {"id": "hooktray", "dir": ""}
STARCHILD_PATHS = dict.fromkeys(("path", "file_path", "filename"), "/home/dev/project/a.txt")
X_CODE_PATHS = dict.fromkeys(("filePath", "path"), "/home/dev/project/a.txt")
UNCOUNTED = {"turn": 0, "tokenUsage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}}
GOLDEN: list[tuple[str, Event, dict[str, Any]]] = [
    (
        "starchild",
        recorded("claude-code", "Stop"),
        {"event": "on_stop", "session_id": S, "agent_id": "claude-code", "cwd": SUB, "message": "All done."}
        | {"response": "All done.", "tool_names": [], "stop_hook_active": False, "model": ""},
    ),
    (
        "starchild",
        recorded("claude-code", "SubagentStop"),
        {"event": "subagent_end", "session_id": S, "agent_id": "claude-code", "cwd": SUB, "message": "All done."}
        | {"subagent": "general-purpose", "response": "All done.", "tool_names": []}
        | {"stop_hook_active": False, "model": ""},
    ),
    (
        "starchild",
        recorded("claude-code", "SessionStart-resume"),
        {"event": "on_session_start", "session_id": "88681865-6db4-4647-aa97-a62d0a8a0332"}
        | {"agent_id": "claude-code", "cwd": "/home/dev/project", "topic": "resume", "status": "started"},
    ),
    (
        "starchild",
        recorded("claude-code", "SessionEnd"),
        {"event": "on_session_end", "session_id": S, "agent_id": "claude-code", "cwd": SUB}
        | {"topic": "other", "status": "ended"},
    ),
    (
        "starchild",
        recorded("claude-code", "Notification-permission_prompt"),
        {"event": "notification", "session_id": "11b0081e-ed7a-4657-bed7-c05f74118def", "agent_id": "claude-code"}
        | {"cwd": "/home/dev/project", "topic": "permission_prompt", "message": "Claude needs your permission"},
    ),
    (
        "starchild",
        recorded("claude-code", "PreToolUse-Write"),
        {"event": "pre_tool_call", "session_id": S, "agent_id": "claude-code", "cwd": "/home/dev/project"}
        | {"tool_name": "write_file", "tool_input": {**STARCHILD_PATHS, "content": "hello\n"}},
    ),
    (
        "starchild",
        recorded("shelley", "end-of-turn"),
        {"event": "on_stop", "session_id": "cMT7MTV", "agent_id": "shelley", "cwd": "", "model": "predictable"}
        | {"title": "vm", "message": "Done.", "url": "https://vm.exe.xyz/", "response": "Done.", "tool_names": []}
        | {"stop_hook_active": False},
    ),
    (
        "starchild",
        sampled("shelley", "system-prompt"),
        {"event": "system_prompt", "session_id": "", "agent_id": "shelley", "cwd": ""}
        | {"prompt": "You are Shelley, a coding agent.\nWork in small steps."},
    ),
    (
        "starchild",
        recorded("x-code", "PreToolUse-shell"),
        X
        | {
            "event": "pre_tool_call",
            "agent_id": "x-code",
            "tool_name": "bash",
            "tool_input": {"command": "rm -rf build"},
        },
    ),
    (
        "starchild",
        turn_end(),
        X | {"event": "on_stop", "agent_id": "x-code", "response": "", "tool_names": [], "stop_hook_active": False},
    ),
    (
        "starchild",
        recorded("x-code", "SessionEnd"),
        X | {"event": "on_session_end", "agent_id": "x-code", "status": "ended"},
    ),
    (
        "claude-code",
        recorded("starchild", "on_stop"),
        {"session_id": "sess-1", "transcript_path": "", "cwd": "/data/workspace", "hook_event_name": "Stop"}
        | {"model": "claude-sonnet-4-6", "stop_hook_active": False, "last_assistant_message": "All done."},
    ),
    (
        "claude-code",
        recorded("starchild", "pre_tool_call"),
        {"session_id": "sess-1", "transcript_path": "", "cwd": "/data/workspace", "hook_event_name": "PreToolUse"}
        | {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": ""},
    ),
    (
        "claude-code",
        recorded("starchild", "on_session_start"),
        {"session_id": "sess-1", "transcript_path": "", "cwd": "/data/workspace", "hook_event_name": "SessionStart"}
        | {"source": "startup"},
    ),
    (
        "claude-code",
        recorded("shelley", "end-of-turn"),
        {"session_id": "cMT7MTV", "transcript_path": "", "cwd": "", "hook_event_name": "Stop"}
        | {"model": "predictable", "stop_hook_active": False, "last_assistant_message": "Done."},
    ),
    (
        "claude-code",
        recorded("x-code", "PreToolUse"),
        X
        | {"transcript_path": "", "hook_event_name": "PreToolUse", "tool_name": "Write"}
        | {"tool_input": {"file_path": "src/foo.ts", "content": "..."}, "tool_use_id": "call_abc123"},
    ),
    (
        "claude-code",
        turn_end(),
        X
        | {"transcript_path": "", "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": ""},
    ),
    (
        "claude-code",
        recorded("x-code", "SessionEnd"),
        X | {"transcript_path": "", "hook_event_name": "SessionEnd", "reason": "other"},
    ),
    (
        "shelley",
        recorded("claude-code", "Stop"),
        {"type": "end_of_turn", "conversation_id": S, "cwd": SUB, "slug": "project", "final_response": "All done."},
    ),
    (
        "shelley",
        turn_end(),
        {"type": "end_of_turn", "conversation_id": "40:/abs/path/to/project", "cwd": "/abs/path/to/project"}
        | {"model": "anthropic:claude-sonnet-4-6", "slug": "project"},
    ),
    (
        "shelley",
        recorded("x-code", "PreToolUse-shell"),
        {"type": "tool_before", "conversation_id": "40:/abs/path/to/project", "cwd": "/abs/path/to/project"}
        | {"model": "anthropic:claude-sonnet-4-6", "slug": "project"}
        | {"tool_name": "Bash", "tool_input": {"command": "rm -rf build"}},
    ),
    (
        "x-code",
        recorded("claude-code", "PreToolUse-Write"),
        {"event": "PreToolUse", "session": {"cwd": "/home/dev/project", "modelId": ""}, "plugin": PLUGIN}
        | {
            "tool": {
                "name": "writeFile",
                "args": {**X_CODE_PATHS, "content": "hello\n"},
                "callId": "toolu_01",
            }
        },
    ),
    (
        "x-code",
        recorded("claude-code", "PreToolUse-WebFetch"),
        {"event": "PreToolUse", "session": {"cwd": SUB, "modelId": ""}, "plugin": PLUGIN}
        | {
            "tool": {
                "name": "webFetch",
                "args": {"url": "http://127.0.0.1:8979/x", "prompt": "p"},
                "callId": "toolu_12",
            }
        },
    ),
    (
        "x-code",
        recorded("claude-code", "Stop"),
        {"event": "TurnComplete", "session": {"cwd": SUB, "modelId": ""}, "plugin": PLUGIN, "message": "All done."}
        | UNCOUNTED,
    ),
    (
        "x-code",
        recorded("starchild", "on_session_end"),
        {
            "event": "SessionEnd",
            "session": {"cwd": "/data/workspace", "modelId": ""},
            "plugin": PLUGIN,
            "topic": "ended",
        },
    ),
]


@every(("dialect", "event", "fields"), GOLDEN, ids=[f"{d}-{e.agent}-{e.name}" for d, e, _ in GOLDEN])
def test_a_hook_of_another_dialect_reads_the_event_as_it_knows_it(
    dialect: str, event: Event, fields: dict[str, Any]
) -> None:
    written = AGENTS[dialect].protocol.stdin(event)

    assert json.loads(written) == fields
    assert written.endswith(b"\n") == (dialect in ("claude-code", "x-code"))


def test_a_shelley_hook_reads_a_foreign_system_prompt_as_bare_text() -> None:
    event = replace(recorded("claude-code", "Stop"), kind=EventKind.SYSTEM_PROMPT, prompt="You are … x")

    assert AGENTS["shelley"].protocol.stdin(event) == "You are … x".encode()


@every(("agent", "name"), [(agent, name) for agent, one in AGENTS.items() for name in one.events])
def test_every_dialect_can_hear_every_event(agent: str, name: str) -> None:
    for known in AGENTS.values():
        assert known.protocol.stdin(sampled(agent, name))


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
