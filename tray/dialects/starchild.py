"""Starchild's agent hooks, https://github.com/Starchild-ai-agent/official-skills (agent-hooks): JSON both ways.

In:  {"event":"pre_tool_call","session_id":"sess-1","agent_id":"agent-1","cwd":"/data/workspace",
      "tool_name":"bash","tool_input":{"command":"rm -rf /"}}
Out: {"decision":"block","reason":"refusing destructive command"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.dialects import starchild_answers, tools, wire
from tray.model.decision import Answer, Decision, Reading, Result, Target, Verdict
from tray.model.event import Can, Event, EventKind, EventSpec, Knock

AGENT = "starchild"
# 20 s is the agent's default for a hook; it allows at most 120.
EVENTS: Mapping[str, EventSpec] = {
    "on_completion_claim": EventSpec(kind=EventKind.COMPLETION_CLAIM, can=Can.DENY | Can.NOTE, timeout=20),
    "on_session_end": EventSpec(kind=EventKind.SESSION_END, timeout=20),
    "on_session_start": EventSpec(kind=EventKind.SESSION_START, can=Can.CONTEXT, timeout=20),
    "on_stop": EventSpec(kind=EventKind.TURN_END, can=Can.DENY | Can.NOTE, timeout=20),
    "pre_tool_call": EventSpec(kind=EventKind.TOOL_BEFORE, can=Can.DENY | Can.REWRITE_INPUT | Can.NOTE, timeout=20),
}
NAMES = {spec.kind: name for name, spec in EVENTS.items()}


def title(payload: Mapping[str, Any]) -> str:
    return wire.name(payload, "event")


def parse(knock: Knock, name: str, payload: Mapping[str, Any]) -> Event:
    return Event(
        **wire.frame(knock, payload),
        name=name,
        kind=EVENTS.get(name, wire.UNKNOWN).kind,
        session=wire.text(payload, "session_id"),
        cwd=wire.text(payload, "cwd") or knock.cwd,
        model=wire.text(payload, "model"),
        topic=wire.text(payload, "status"),
        tool=wire.tool(payload, name="tool_name", input="tool_input", call="", output="tool_result"),
        prompt=wire.text(payload, "message", "last_user_message"),
        message=wire.text(payload, "summary", "response", "notification"),
        repeated=payload.get("stop_hook_active") is True,
        tools=wire.names(payload, "tool_names"),
    )


def neutral(name: str, body: bytes) -> Answer:
    return Answer()


def carries(event: Event, decision: Decision) -> str:
    """The agent replaces the values of keys that are there; it neither adds nor removes any."""
    if decision.rewrite is None:
        return ""
    value = decision.rewrite.value
    if not isinstance(value, Mapping):
        return "is no JSON object"
    now = event.tool.input if event.tool else {}
    if value.keys() - now.keys():
        return "adds a key"
    return "removes a key" if now.keys() - value.keys() else wire.unwritable(value)


def render(event: Event, decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stdout=wire.line({"decision": "block", "reason": decision.reason or wire.BLOCKED}))
    answer: dict[str, Any] = {}
    if decision.rewrite is not None and decision.rewrite.target is Target.INPUT:
        answer["tool_input"] = decision.rewrite.value
    answer |= wire.filled(context=decision.context)
    if Can.NOTE in EVENTS.get(event.name, wire.UNKNOWN).can:
        answer |= wire.filled(systemMessage=wire.joined(decision.notes))
    return Answer(stdout=wire.line(answer)) if answer else Answer()


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return event.body
    fields = {
        "event": NAMES.get(event.kind, event.kind.value),
        "session_id": event.session,
        "agent_id": event.agent,
        "cwd": event.cwd,
    }
    return wire.dumps(fields | _known(event) | _extras(event))


def _known(event: Event) -> dict[str, Any]:
    """What the agent does not send with every event is there under our own words, when it says something."""
    return wire.filled(
        model=event.model,
        topic=event.topic,
        title=event.title,
        prompt=event.prompt,
        message=event.message,
        url=event.url,
        subagent=event.subagent,
    )


def _extras(event: Event) -> dict[str, Any]:
    used = [tools.native(AGENT, tools.canonical(event.agent, each)) for each in event.tools]
    if event.kind in (EventKind.TURN_END, EventKind.SUBAGENT_END, EventKind.ROUND_END):
        return {
            "response": event.message,
            "tool_names": used,
            "stop_hook_active": event.repeated,
            "model": event.model,
        }
    if event.kind is EventKind.COMPLETION_CLAIM:
        return {"goal": "", "summary": event.message, "response": event.message, "tool_names": used}
    if event.kind in (EventKind.SESSION_START, EventKind.SESSION_END):
        return {"status": "started" if event.kind is EventKind.SESSION_START else "ended"}
    return _tool(event)


def _tool(event: Event) -> dict[str, Any]:
    if event.tool is None:
        return {}
    return {
        "tool_name": tools.native(AGENT, tools.canonical(event.agent, event.tool.name)),
        "tool_input": tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input),
    }


def environment(event: Event) -> Mapping[str, str]:
    return {}


def read(event: Event, result: Result) -> Reading:
    return starchild_answers.read(event, result)


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {"event": name, "session_id": "sess-1", "agent_id": "agent-1", "cwd": "/data/workspace"}
    return wire.dumps({**common, **SAMPLES[name]})


SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "on_completion_claim": {
        "goal": "publish the page",
        "summary": "The page is published.",
        "response": "I published the page.",
        "tool_names": ["write_file"],
    },
    "on_session_end": {"status": "ended"},
    "on_session_start": {"status": "started"},
    "on_stop": {
        "response": "All tests pass.",
        "tool_names": ["bash"],
        "stop_hook_active": False,
        "model": "claude-sonnet-5-5",
    },
    "pre_tool_call": {"tool_name": "bash", "tool_input": {"command": "ls -la"}},
}
