"""Events and answers of a Claude-shaped agent whose values are not those of Claude Code."""

from __future__ import annotations

import json

from agents.larch import event, shape

from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.shape import ClaudeShape, PayloadKeys
from tray.model.event import Event, EventKind, EventSpec, RelayRequest, Tool

KEYS = PayloadKeys(
    event="hookEventName",
    session="sessionId",
    cwd="root",
    tool="toolName",
    input="toolInput",
    call="id",
    output="out",
)


def test_a_payload_is_read_by_the_agents_own_keys() -> None:
    protocol = ShapedProtocol(shape(keys=KEYS, messages={"AfterTool": ("remark",)}, titles={"AfterTool": ("label",)}))
    payload = {
        "hookEventName": "AfterTool",
        "sessionId": "s",
        "root": "/p",
        "toolName": "Bash",
        "toolInput": {"a": 1},
        "id": "c",
        "out": "done",
        "remark": "well",
        "label": "a title",
        "session_id": "not this",
    }
    request = RelayRequest(agent="larch", event="", id="1", body=b"{}")

    parsed = protocol.parse(request, protocol.event_name(payload), payload)

    assert (parsed.name, parsed.kind, parsed.session, parsed.cwd) == ("AfterTool", EventKind.TOOL_AFTER, "s", "/p")
    assert parsed.tool == Tool(name="Bash", input={"a": 1}, call="c", output="done")
    assert (parsed.message, parsed.title) == ("well", "a title")


def test_a_matchers_subject_is_the_topic_unless_it_is_the_tool() -> None:
    events = {
        "BeforeTool": EventSpec(kind=EventKind.TOOL_BEFORE, subject="toolName"),
        "Begin": EventSpec(kind=EventKind.SESSION_START, subject="source"),
        "Notify": EventSpec(kind=EventKind.NOTIFICATION, subject="sort"),
    }

    one = ClaudeShape(agent="larch", events=events, keys=KEYS, topics={"Notify": "level"})

    assert one.topic_keys == {"Begin": "source", "Notify": "level"}


def test_a_hook_of_the_agent_reads_the_same_keys_and_its_own_output() -> None:
    one = shape(keys=KEYS, output_from_text=lambda tool, input, text: {"text": text})
    foreign = Event(
        id="1",
        agent="claude-code",
        name="PostToolUse",
        kind=EventKind.TOOL_AFTER,
        session="s",
        cwd="/p",
        tool=Tool(name="Bash", input={"command": "ls"}, call="c", output="README.md"),
    )

    assert json.loads(ShapedProtocol(one).stdin(foreign)) == {
        "sessionId": "s",
        "transcript_path": "",
        "root": "/p",
        "hookEventName": "AfterTool",
        "toolName": "Bash",
        "toolInput": {"command": "ls"},
        "id": "c",
        "out": {"text": "README.md"},
    }


def test_the_agents_variables_name_project_and_session() -> None:
    protocol = ShapedProtocol(shape(project_variables=("A_DIR", "B_DIR"), session_variables=("S",)))
    given = {"B_DIR": "/own", "A_DIR": ""}

    assert protocol.environment(event(session="s", cwd="/p", environment=given)) == {
        "A_DIR": "/p",
        "B_DIR": "/own",
        "S": "s",
    }
    foreign = event(agent="other", session="s", cwd="/p", environment=given)
    assert protocol.environment(foreign)["B_DIR"] == "/p"
