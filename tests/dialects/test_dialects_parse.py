"""A recorded payload becomes the expected Event; whatever else comes in becomes a problem, never an exception."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dialects.recordings import FOLDER, knock, recorded, sampled, wire
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.dialects import DIALECTS, parse, spec
from tray.dialects.wire import dumps
from tray.model.event import Can, EventKind, Tool

KIND = EventKind
LISTING = {"command": "ls -la", "description": "List the files"}
SUB = "/home/dev/project/sub"
CLAUDE = {"session": "8599f3e0-cb9f-4fa4-8e7e-c6bbde88efdc", "cwd": SUB}
CHILD = {"session": "sess-1", "cwd": "/data/workspace"}
X_CODE = {"session": "40:/abs/path/to/project", "cwd": "/abs/path/to/project", "model": "anthropic:claude-sonnet-4-6"}
EXPECTED: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "Stop"): CLAUDE | {"kind": KIND.TURN_END, "message": "All done.", "repeated": False},
    ("claude-code", "SubagentStop"): CLAUDE
    | {"kind": KIND.SUBAGENT_END, "message": "All done.", "subagent": "general-purpose"},
    ("claude-code", "SessionStart-clear"): {
        "kind": KIND.SESSION_START,
        "session": "24f10d65-4302-4c59-b0e2-dc80d8ccabe9",
        "topic": "clear",
    },
    ("claude-code", "SessionStart-resume"): {
        "kind": KIND.SESSION_START,
        "topic": "resume",
        "cwd": "/home/dev/project",
    },
    ("claude-code", "SessionEnd"): CLAUDE | {"kind": KIND.SESSION_END, "topic": "other"},
    ("claude-code", "SessionEnd-interactive-other"): {"kind": KIND.SESSION_END, "topic": "other"},
    ("claude-code", "Notification-permission_prompt"): {
        "kind": KIND.NOTIFICATION,
        "topic": "permission_prompt",
        "message": "Claude needs your permission",
        "title": "",
    },
    ("claude-code", "PreToolUse-Bash"): {
        "kind": KIND.TOOL_BEFORE,
        "tool": Tool(name="Bash", input={"command": "exit 3", "description": "fail"}, call="toolu_06"),
        "subagent": "",
    },
    ("claude-code", "PreToolUse-Bash-subagent"): {"kind": KIND.TOOL_BEFORE, "subagent": "general-purpose"},
    ("claude-code", "PreToolUse-Write"): {
        "tool": Tool(
            name="Write", input={"file_path": "/home/dev/project/a.txt", "content": "hello\n"}, call="toolu_01"
        )
    },
    ("claude-code", "StopFailure"): {
        "kind": KIND.TURN_FAILED,
        "session": "138d8934-a77a-48c0-a30e-3cb79f8f9e4b",
        "cwd": "/home/dev/project",
        "topic": "authentication_failed",
        "message": "Invalid API key · Fix external API key",
    },
    ("claude-code", "CwdChanged"): CLAUDE | {"kind": KIND.CWD_CHANGED, "path": SUB},
    ("claude-code", "SubagentStart"): CLAUDE | {"kind": KIND.SUBAGENT_START, "subagent": "general-purpose"},
    ("claude-code", "UserPromptExpansion"): {
        "kind": KIND.PROMPT_EXPANSION,
        "topic": "mycmd",
        "prompt": "/mycmd foo bar",
    },
    ("claude-code", "InstructionsLoaded-session_start"): {
        "kind": KIND.INSTRUCTIONS_LOADED,
        "topic": "session_start",
        "path": "/home/dev/project/CLAUDE.md",
    },
    ("claude-code", "MessageDisplay"): CLAUDE | {"kind": KIND.MESSAGE_DISPLAY, "message": "All done."},
    ("claude-code", "PostModelSwitch"): {
        "kind": KIND.MODEL_SWITCH_AFTER,
        "topic": "command",
        "model": "claude-sonnet-5-5",
    },
    ("claude-code", "PreModelSwitch"): {
        "kind": KIND.MODEL_SWITCH_BEFORE,
        "topic": "command",
        "model": "claude-sonnet-5-5",
    },
    ("claude-code", "PostToolUse-Edit"): {
        "kind": KIND.TOOL_AFTER,
        "tool": Tool(
            name="Edit",
            input={
                "file_path": "/home/dev/project/a.txt",
                "old_string": "hello",
                "new_string": "bye",
                "replace_all": False,
            },
            call="toolu_03",
            output={
                "filePath": "/home/dev/project/a.txt",
                "oldString": "hello",
                "newString": "bye",
                "originalFile": "hello\n",
                "structuredPatch": [
                    {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-hello", "+bye"]}
                ],
                "userModified": False,
                "replaceAll": False,
            },
        ),
    },
    ("claude-code", "PostToolUse-Agent-subagent"): {"kind": KIND.TOOL_AFTER, "subagent": "general-purpose"},
    ("claude-code", "PostToolUse-Read"): {"kind": KIND.TOOL_AFTER, "subagent": "", "path": ""},
    ("claude-code", "PostToolUseFailure-Bash"): {
        "kind": KIND.TOOL_FAILED,
        "tool": Tool(
            name="Bash",
            input={"command": "exit 3", "description": "fail"},
            call="toolu_06",
            output="Exit code 3",
            failed=True,
        ),
    },
    ("claude-code", "PreCompact"): {
        "kind": KIND.COMPACT_BEFORE,
        "topic": "manual",
        "prompt": "focus on x",
    },
    ("claude-code", "Setup"): {"kind": KIND.SETUP, "topic": "init", "cwd": "/home/dev/project"},
    ("shelley", "end-of-turn"): {
        "kind": KIND.TURN_END,
        "session": "cMT7MTV",
        "cwd": "",
        "model": "predictable",
        "title": "vm",
        "message": "Done.",
        "url": "https://vm.exe.xyz/",
        "project": "vm",
    },
    ("shelley", "end-of-turn-seed000"): {"name": "end-of-turn", "title": "my-slug", "session": "cXXXXXX"},
    ("shelley", "new-conversation"): {
        "kind": KIND.CONVERSATION_NEW,
        "session": "cH3UICU",
        "model": "predictable",
        "prompt": "hello shelley",
        "subagent": "",
    },
    ("shelley", "new-conversation-subagent"): {
        "kind": KIND.CONVERSATION_NEW,
        "cwd": "/home/user/project",
        "subagent": "subagent",
    },
    ("shelley", "new-conversation-seed000"): {"name": "new-conversation", "session": "cXXXXXX"},
    ("shelley", "chat-message"): {
        "kind": KIND.PROMPT,
        "session": "cH3UICU",
        "model": "predictable",
        "prompt": "follow-up question",
        "topic": "",
    },
    ("shelley", "chat-message-seed000"): {"kind": KIND.PROMPT, "model": "claude-sonnet-4.5"},
    ("shelley", "slash-command"): {
        "name": "slash/foo",
        "kind": KIND.SLASH_COMMAND,
        "session": "cXXXXXX",
        "cwd": "/home/user/project",
        "topic": "foo",
        "prompt": "/foo the rest of the message after /foo",
    },
    ("shelley", "slash-command-new"): {"name": "slash/files", "cwd": "", "model": "", "topic": "files"},
    ("starchild", "on_stop"): CHILD
    | {"kind": KIND.TURN_END, "message": "All done.", "tools": ("bash",), "model": "claude-sonnet-4-6"},
    ("starchild", "on_completion_claim"): CHILD
    | {"kind": KIND.COMPLETION_CLAIM, "message": "published", "tools": ("write_file",)},
    ("starchild", "on_session_start"): CHILD | {"kind": KIND.SESSION_START, "topic": "started"},
    ("starchild", "on_session_end"): CHILD | {"kind": KIND.SESSION_END, "topic": "ended"},
    ("starchild", "pre_tool_call"): CHILD
    | {"kind": KIND.TOOL_BEFORE, "tool": Tool(name="bash", input={"command": "rm -rf /"})},
    ("starchild", "on_user_message"): CHILD | {"kind": KIND.OTHER, "prompt": "here is my key sk-..."},
    ("starchild", "post_tool_call"): CHILD | {"kind": KIND.OTHER, "tool": Tool(name="bash", output="total 0")},
    ("x-code", "PreToolUse"): X_CODE
    | {
        "kind": KIND.TOOL_BEFORE,
        "tool": Tool(name="writeFile", input={"path": "src/foo.ts", "content": "..."}, call="call_abc123"),
    },
    ("x-code", "SessionStart"): X_CODE | {"kind": KIND.SESSION_START},
    ("x-code", "SessionEnd"): X_CODE | {"kind": KIND.SESSION_END},
    ("x-code", "TurnComplete"): X_CODE | {"kind": KIND.ROUND_END, "name": "TurnComplete"},
    ("x-code", "UserPromptSubmit"): X_CODE | {"kind": KIND.OTHER, "prompt": "Refactor X to do Y"},
    ("x-code", "SubagentStop"): X_CODE | {"kind": KIND.OTHER, "subagent": "code-reviewer"},
}


@pytest.mark.parametrize(("agent", "name"), EXPECTED, ids=lambda word: word)
def test_a_recorded_payload_becomes_this_event(agent: str, name: str) -> None:
    event = recorded(agent, name)

    assert event.problem == ""
    assert {field: getattr(event, field) for field in EXPECTED[agent, name]} == EXPECTED[agent, name]
    assert (event.id, event.agent, event.pid, event.body) == ("01", agent, 41, wire(agent, name))
    assert event.environment["PATH"] == "/usr/bin"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.json")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_recording_is_an_event_of_a_known_session(path: Path) -> None:
    event = recorded(path.parent.name, path.stem)

    assert (event.problem, bool(event.session), bool(event.payload)) == ("", True, True)


@pytest.mark.parametrize(("agent", "name"), [(agent, name) for agent, d in DIALECTS.items() for name in d.EVENTS])
def test_every_event_has_a_sample_that_parses_to_its_kind(agent: str, name: str) -> None:
    event = sampled(agent, name)

    assert (event.problem, event.name, event.kind) == ("", name, spec(agent, name).kind)


@pytest.mark.parametrize("agent", DIALECTS)
def test_an_event_without_a_sample_raises_a_key_error(agent: str) -> None:
    with pytest.raises(KeyError):
        DIALECTS[agent].sample("no-such-event")


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
    b'{"a":NaN}': "payload is not JSON: NaN is no number",
    b'{"a":-Infinity}': "payload is not JSON: -Infinity is no number",
    b'{"a":1e999}': "payload is not JSON: a number is too large",
    b'{"a":1,"a":2}': "payload is JSON that has a key twice in one object",
    b'{"a":' * 300 + b"1" + b"}" * 300: "payload is JSON nested more than 200 deep",
    b"[" * 100_000 + b"]" * 100_000: "payload is JSON nested more than 200 deep",
    b'{"a":' + b"9" * 5000 + b"}": "payload is not JSON: a number is too large",
}


@pytest.mark.parametrize("agent", DIALECTS)
@pytest.mark.parametrize(("body", "problem"), BAD.items(), ids=[f"bad{n}" for n in range(len(BAD))])
def test_a_payload_that_cannot_be_read_is_an_event_with_a_problem(agent: str, body: bytes, problem: str) -> None:
    name = next(name for name, each in DIALECTS[agent].EVENTS.items() if not each.plain)

    event = parse(knock(agent, name, body))

    assert event.problem == problem
    assert (event.name, event.kind, event.cwd) == (name, spec(agent, name).kind, "/relay")
    assert (event.id, event.pid, event.body, event.payload) == ("01", 41, body, {})


def test_a_problem_never_quotes_the_payload() -> None:
    assert "s3cret" not in parse(knock("claude-code", "Stop", b'{"s3cret": s3cret}')).problem


def test_an_unknown_agent_is_named_together_with_the_known_ones() -> None:
    event = parse(knock("foo", "Stop", b"{}"))

    assert event.problem == "unknown agent 'foo'; known agents: claude-code, shelley, starchild, x-code"
    assert event.kind is EventKind.OTHER


def test_what_the_door_found_wrong_is_the_events_problem() -> None:
    event = parse(replace(knock("claude-code", "Stop", b'{"hook_event_'), problem="payload over 16 MiB"))

    assert (event.problem, event.kind) == ("payload over 16 MiB", EventKind.TURN_END)


def test_an_unknown_event_is_other_and_keeps_its_name() -> None:
    event = parse(knock("claude-code", "Stop", b'{"hook_event_name":"Brand_New","session_id":"s","cwd":"/p"}'))

    assert (event.name, event.kind, event.session, event.cwd) == ("Brand_New", EventKind.OTHER, "s", "/p")
    assert spec("claude-code", "Brand_New").can is Can.NOTHING
    assert spec("claude-code", "Brand_New").timeout == 30


@pytest.mark.parametrize("body", [b"{}", b'{"hook_event_name":7}', b'{"hook_event_name":"%s"}' % (b"x" * 200)])
def test_without_a_word_of_the_payloads_own_the_address_names_the_event(body: bytes) -> None:
    assert parse(knock("claude-code", "Stop", body)).name == "Stop"


def test_a_plain_payload_is_the_prompt_and_can_be_searched_like_any_other() -> None:
    event = parse(knock("shelley", "system-prompt", '{"not": json}\n … text'.encode()))

    assert (event.problem, event.prompt) == ("", '{"not": json}\n … text')
    assert event.payload == {"prompt": event.prompt}


def test_a_plain_payload_that_is_not_utf_8_is_a_problem() -> None:
    assert parse(knock("shelley", "system-prompt", b"a\xff")).problem == "payload is not UTF-8: byte 1 cannot be read"


def test_an_agent_type_without_an_agent_id_is_no_subagent() -> None:
    body = b'{"hook_event_name":"PreToolUse","tool_name":"Bash","agent_type":"reviewer"}'

    assert parse(knock("claude-code", "PreToolUse", body)).subagent == ""


def test_half_a_surrogate_pair_never_reaches_a_field_that_is_written_somewhere() -> None:
    event = parse(knock("claude-code", "Stop", rb'{"session_id":"a\ud800b","last_assistant_message":"\udfff"}'))

    assert (event.session, event.message) == ("a?b", "?")


CONSTRUCTED: list[tuple[str, str, dict[str, Any]]] = [  # events that nobody recorded, from their documented fields
    ("claude-code", "ConfigChange", {"topic": "project_settings", "path": "/home/dev/project/.claude/settings.json"}),
    ("claude-code", "DirectoryAdded", {"topic": "slash_command", "path": "/home/dev/other"}),
    ("claude-code", "Elicitation", {"topic": "form", "title": "calendar", "message": "Which day?"}),
    ("claude-code", "ElicitationResult", {"topic": "accept", "title": "calendar"}),
    ("claude-code", "FileChanged", {"topic": "change", "path": "/home/dev/project/.envrc"}),
    ("claude-code", "PermissionDenied", {"topic": "", "message": "The command leaves the project."}),
    ("claude-code", "PermissionRequest", {"tool": Tool(name="Bash", input=LISTING)}),
    ("claude-code", "PostCompact", {"topic": "auto", "message": "The parser was fixed."}),
    ("claude-code", "PostToolBatch", {"tools": ("Bash",), "tool": None}),
    ("claude-code", "TaskCompleted", {"title": "Write the tests", "message": "One per behaviour."}),
    ("claude-code", "TaskCreated", {"title": "Write the tests", "message": "One per behaviour."}),
    ("claude-code", "TeammateIdle", {"title": "release", "subagent": "reviewer"}),
    ("claude-code", "UserPromptSubmit", {"prompt": "Fix the parser.", "topic": ""}),
    ("claude-code", "WorktreeCreate", {"title": "feature-parser"}),
    ("claude-code", "WorktreeRemove", {"path": "/home/dev/worktrees/feature-parser"}),
]


@pytest.mark.parametrize(("agent", "name", "fields"), CONSTRUCTED, ids=[name for _, name, _ in CONSTRUCTED])
def test_a_documented_payload_becomes_this_event(agent: str, name: str, fields: dict[str, Any]) -> None:
    event = sampled(agent, name)

    assert {field: getattr(event, field) for field in fields} == fields


JUNK: tuple[Any, ...] = (None, True, 7, 1.5, "", "text", "é", [], ["a", 1], {}, {"name": 7}, {"cwd": []}, [[{}]])
KEYS = sorted(
    {key for agent, name in EXPECTED for key in recorded(agent, name).payload}
    | {"title", "slug", "vm_name", "status"}
)


@settings(deadline=None)
@given(st.sampled_from(sorted(DIALECTS)), st.dictionaries(st.sampled_from(KEYS), st.sampled_from(JUNK), max_size=12))
def test_fields_of_a_wrong_type_are_as_good_as_absent(agent: str, payload: dict[str, Any]) -> None:
    event = parse(knock(agent, next(iter(DIALECTS[agent].EVENTS)), dumps(payload)))

    assert event.problem == ""
    for field in ("name", "session", "cwd", "model", "topic", "title", "prompt", "message", "url", "subagent"):
        assert isinstance(getattr(event, field), str), field
    assert all(isinstance(name, str) for name in event.tools)


@settings(deadline=None)
@given(st.sampled_from([*DIALECTS, "foo", ""]), st.text(max_size=20), st.binary(max_size=80))
def test_parse_never_raises(agent: str, name: str, body: bytes) -> None:
    assert parse(knock(agent, name, body)).body == body
