"""Starchild's agent hooks, https://github.com/Starchild-ai-agent/official-skills (agent-hooks): JSON both ways.

In:  {"event":"pre_tool_call","session_id":"sess-1","agent_id":"agent-1","cwd":"/data/workspace",
      "tool_name":"bash","tool_input":{"command":"rm -rf /"}}
Out: {"decision":"block","reason":"refusing destructive command"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire
from tray.agents.starchild.hook_format import environment as environment
from tray.agents.starchild.hook_format import hook_event_name as hook_event_name
from tray.agents.starchild.hook_format import read as read
from tray.agents.starchild.hook_format import stdin as stdin
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

CAN_REFUSE = Capability.DENY | Capability.NOTE
# `connect` writes these. 20 s is the agent's default for a hook. Where it waits for the answer it is the most that it
# allows, so that a hook of ours may have any time-out that it could have there.
EVENTS: Mapping[str, EventSpec] = {
    "on_completion_claim": EventSpec(kind=EventKind.COMPLETION_CLAIM, can=CAN_REFUSE, timeout=120),
    "on_outbound_message": EventSpec(
        kind=EventKind.OUTBOUND_MESSAGE, can=CAN_REFUSE | Capability.REWRITE_MESSAGE, timeout=120
    ),
    # The response is written already: it may be masked, and the agent cannot be made to write it again.
    "on_response_end": EventSpec(
        kind=EventKind.RESPONSE_END, can=Capability.REWRITE_MESSAGE | Capability.NOTE, timeout=120
    ),
    "on_session_end": EventSpec(kind=EventKind.SESSION_END, timeout=20),
    "on_session_start": EventSpec(kind=EventKind.SESSION_START, can=Capability.CONTEXT, timeout=120),
    "on_stop": EventSpec(kind=EventKind.TURN_END, can=CAN_REFUSE, timeout=120),
    "on_user_message": EventSpec(kind=EventKind.PROMPT, can=CAN_REFUSE | Capability.REWRITE_PROMPT, timeout=120),
    "post_llm_call": EventSpec(kind=EventKind.MODEL_AFTER, timeout=20),
    "post_tool_call": EventSpec(kind=EventKind.TOOL_AFTER, timeout=20),
    "pre_llm_call": EventSpec(kind=EventKind.MODEL_BEFORE, can=CAN_REFUSE | Capability.CONTEXT, timeout=120),
    "pre_tool_call": EventSpec(kind=EventKind.TOOL_BEFORE, can=CAN_REFUSE | Capability.REWRITE_INPUT, timeout=120),
    # The note behind a result is all that it takes.
    "transform_tool_result": EventSpec(kind=EventKind.TOOL_RESULT, can=Capability.NOTE, timeout=120),
}
# Each text is replaced under the name that it came in.
DEFAULT_CAN = Capability.DENY | Capability.NOTE
REWRITE_KEYS: Mapping[str, str] = {
    "on_outbound_message": "notification",
    "on_response_end": "response",
    "on_user_message": "message",
    "pre_tool_call": "tool_input",
}


def event_name(payload: Mapping[str, Any]) -> str:
    return wire.event_name(payload, "event")


def session(request: RelayRequest, payload: Mapping[str, Any]) -> str:
    return wire.text(payload, "session_id")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    return wire.tool(payload, name="tool_name", input="tool_input", call="", output="tool_result")


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    system = wire.text(payload, "system") if name == "pre_llm_call" else ""
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=session(request, payload),
        cwd=wire.text(payload, "cwd") or request.cwd,
        model=wire.text(payload, "model"),
        topic=wire.text(payload, "status", "channel", "type"),
        title=wire.text(payload, "goal"),
        tool=tool(name, payload),
        prompt=wire.text(payload, "message", "last_user_message") or system,
        message=wire.text(payload, "summary", "response", "notification"),
        repeated=payload.get("stop_hook_active") is True,
        tools=wire.text_list(payload, "tool_names"),
    )


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    """Of a tool's input the agent replaces values of keys that are there; it neither adds nor removes any."""
    if decision.rewrite is None:
        return ""
    value = decision.rewrite.value
    if decision.rewrite.target is not Target.INPUT:
        return wire.text_problem(value, blank=False)
    if not isinstance(value, Mapping):
        return "is not a JSON object"
    current = event.tool.input if event.tool else {}
    if value.keys() - current.keys():
        return "adds a key"
    return "removes a key" if current.keys() - value.keys() else wire.json_problem(value)


def render(event: Event, decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stdout=wire.dumps_line({"decision": "block", "reason": decision.reason or wire.DEFAULT_REASON}))
    answer: dict[str, Any] = {}
    if decision.rewrite is not None and event.name in REWRITE_KEYS:
        answer[REWRITE_KEYS[event.name]] = decision.rewrite.value
    answer |= wire.non_empty(context=decision.context)
    if Capability.NOTE in event.spec.can:
        answer |= wire.non_empty(systemMessage=wire.join_notes(decision.notes))
    return Answer(stdout=wire.dumps_line(answer)) if answer else Answer()


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {"event": name, "session_id": "sess-1", "agent_id": "agent-1", "cwd": "/data/workspace"}
    return wire.dumps({**common, **SAMPLES[name]})


MODEL = {"model": "claude-sonnet-5-5"}
TOOL_RESULT = {"tool_name": "bash", "tool_result": "README.md"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "on_completion_claim": {
        "goal": "publish the page",
        "summary": "The page is published.",
        "response": "I published the page.",
        "tool_names": ["write_file"],
    },
    "on_outbound_message": {"notification": "The build is finished.", "type": "telegram"},
    "on_response_end": {
        "response": "All tests pass.",
        **MODEL,
        "tokens": {"input": 1200, "output": 80, "cache_read": 0, "cache_creation": 0},
        "turn_cost_usd": 0.0123,
        "tool_names": ["bash"],
    },
    "on_session_end": {"status": "ended"},
    "on_session_start": {"status": "started"},
    "on_stop": {"response": "All tests pass.", "tool_names": ["bash"], "stop_hook_active": False, **MODEL},
    "on_user_message": {"message": "Fix the parser.", "channel": "web"},
    "post_llm_call": MODEL,
    "post_tool_call": TOOL_RESULT,
    "pre_llm_call": {"system": "You are a careful agent.", "last_user_message": "Fix the parser.", **MODEL},
    "pre_tool_call": {"tool_name": "bash", "tool_input": {"command": "ls -la"}},
    "transform_tool_result": TOOL_RESULT,
}
