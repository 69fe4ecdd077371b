"""Events and answers of a Claude-shaped agent whose values are not those of Claude Code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.larch import EVENTS, event, shape

from tray.agents.claude_shape.protocol import ShapedProtocol
from tray.agents.claude_shape.shape import ClaudeShape, PayloadKeys, RefusalStyle
from tray.model.decision import Answer, Decision, Rewrite, Target, Verdict
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
DENIED = Decision(verdict=Verdict.DENY, reason="no")


def rendered(one: ClaudeShape, decision: Decision, on: str = "BeforeTool") -> tuple[dict[str, Any], Answer]:
    answer = ShapedProtocol(one).render(event(on), decision)
    return (json.loads(answer.stdout) if answer.stdout else {}), answer


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


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (EventKind.TOOL_FAILED, "AfterTool"),
        (EventKind.SLASH_COMMAND, "Prompt"),
        (EventKind.MODEL_BEFORE, "BeforeModel"),
        (EventKind.OUTBOUND_MESSAGE, "outbound_message"),
    ],
)
def test_a_hook_gets_the_nearest_event_of_its_agent(kind: EventKind, name: str) -> None:
    foreign = Event(id="1", agent="other", name="x", kind=kind)

    assert ShapedProtocol(shape()).hook_event_name(foreign) == name


def test_a_topic_is_a_word_that_the_agent_has() -> None:
    start = Event(id="1", agent="other", name="x", kind=EventKind.SESSION_START, topic="warp")
    own = shape(topic_words={EventKind.SESSION_START: ("begin", "warp")})

    assert json.loads(ShapedProtocol(shape()).stdin(start))["source"] == "startup"
    assert json.loads(ShapedProtocol(own).stdin(start))["source"] == "warp"


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


@pytest.mark.parametrize(
    ("style", "answer", "code"),
    [
        (
            RefusalStyle.PERMISSION,
            {
                "hookSpecificOutput": {
                    "hookEventName": "BeforeTool",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "no",
                }
            },
            0,
        ),
        (RefusalStyle.BLOCK, {"decision": "deny", "reason": "no"}, 0),
        (RefusalStyle.EXIT_2, {}, 2),
    ],
)
def test_a_tool_is_refused_in_the_agents_own_style(style: RefusalStyle, answer: dict[str, Any], code: int) -> None:
    one = shape(refusals={"BeforeTool": style}, refusal_words=("deny", "block"))

    printed, whole = rendered(one, DENIED)

    assert (printed, whole.code) == (answer, code)
    assert whole.stderr == (b"no\n" if code else b"")


@pytest.mark.parametrize("style", [RefusalStyle.BLOCK, RefusalStyle.EXIT_2])
def test_a_stop_does_not_suppress_the_refusal_of_a_tool(style: RefusalStyle) -> None:
    both = Decision(verdict=Verdict.DENY, reason="no", stop="enough")

    printed, whole = rendered(shape(refusals={"BeforeTool": style}), both)

    assert printed["continue"] is False
    assert (printed.get("decision"), whole.code) == (("block", 0) if style is RefusalStyle.BLOCK else (None, 2))


@pytest.mark.parametrize("style", [RefusalStyle.BLOCK, RefusalStyle.EXIT_2])
def test_a_stop_beats_a_refusal_that_would_make_the_agent_continue(style: RefusalStyle) -> None:
    both = Decision(verdict=Verdict.DENY, reason="go on", stop="enough")

    printed, whole = rendered(shape(refusals={"Done": style}), both, on="Done")

    assert (printed, whole.code) == ({"continue": False, "stopReason": "enough"}, 0)


def test_a_new_input_comes_with_an_allow_where_the_agent_needs_one() -> None:
    decision = Decision(rewrite=Rewrite(target=Target.INPUT, value={"command": "pwd"}))

    alone, _ = rendered(shape(), decision)
    allowed, _ = rendered(shape(rewrite_needs_allow=True), decision)

    assert "permissionDecision" not in alone["hookSpecificOutput"]
    assert allowed["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert allowed["hookSpecificOutput"]["updatedInput"] == {"command": "pwd"}


def test_extras_are_at_the_top_where_the_agent_has_them_there() -> None:
    decision = Decision(verdict=Verdict.DENY, reason="no", extra=(("bell", "x"), ("colour", "red")))

    printed, _ = rendered(shape(top_extras=frozenset({"bell"})), decision)

    assert (printed["bell"], printed["hookSpecificOutput"]["colour"]) == ("x", "red")
    assert "bell" not in printed["hookSpecificOutput"]


@pytest.mark.parametrize("name", EVENTS)
def test_a_sample_is_made_for_each_event_and_is_read_as_it(name: str) -> None:
    protocol = ShapedProtocol(shape(keys=KEYS, samples={"Done": {"mood": "good"}}))
    payload = json.loads(protocol.sample(name))

    parsed = protocol.parse(RelayRequest(agent="larch", event=name, id="1", body=b""), name, payload)

    assert (protocol.event_name(payload), bool(parsed.session), parsed.cwd) == (name, True, "/home/dev/project")
    assert (parsed.tool is not None) == bool(EVENTS[name].subject)
    assert ("mood" in payload) == (name == "Done")


def test_an_event_that_the_agent_does_not_have_has_no_sample() -> None:
    with pytest.raises(KeyError):
        ShapedProtocol(shape()).sample("Elsewhere")
