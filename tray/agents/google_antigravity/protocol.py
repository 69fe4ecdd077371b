"""Antigravity's hooks, whose payloads name no event. From others' live probes, not tried with a real Antigravity.

In:  {"conversationId":"c-1","workspacePaths":["/p"],"modelName":"m","toolCall":{"name":"run_command",
      "args":{"CommandLine":"rm -rf build","Cwd":"/p"}},"stepIdx":7}
Out: {"decision":"deny","reason":"no"} or {"decision":"force_ask"}; before a tool, {"decision":"ask"} is neutral.

Before a tool, any other byte refuses the call: `{}`, text, an exit code. An `allow` runs it without a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tray.agents import wire
from tray.agents.google_antigravity import hook_format
from tray.agents.google_antigravity.hook_format import EVENTS, SAMPLES
from tray.agents.google_antigravity.hook_format import hook_event_name as hook_event_name
from tray.agents.google_antigravity.hook_format import read as read
from tray.agents.google_antigravity.hook_format import stdin as stdin
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Verdict
from tray.model.event import Event, EventKind, RelayRequest, Tool

NEUTRAL: Mapping[str, bytes] = {
    "PostInvocation": b"{}",
    "PostToolUse": b"{}",
    "PreInvocation": b"{}",
    "PreToolUse": b'{"decision":"ask"}',  # its own policy applies
    "Stop": b'{"decision":""}',
}


def event_name(payload: Mapping[str, Any]) -> str:
    return ""


def session(request: RelayRequest, payload: Mapping[str, Any]) -> str:
    return wire.text(payload, "conversationId")


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    call, step = wire.nested(payload, "toolCall"), payload.get("stepIdx")
    found = wire.tool(call, name="name", input="args", call="", output="")
    return replace(found, call=str(step)) if found and isinstance(step, int) else found


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    kind = wire.spec(EVENTS, name).kind
    error = wire.text(payload, "error")
    if name == "Stop" and error:
        kind = EventKind.TURN_FAILED
    elif name == "Stop" and payload.get("fullyIdle") is False:  # something it has started goes on
        kind = EventKind.RESPONSE_END
    folders = wire.text_list(payload, "workspacePaths")
    call = tool(name, payload)
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=kind,
        session=session(request, payload),
        cwd=wire.text(call.input if call else {}, "Cwd") or next(filter(None, folders), "") or request.cwd,
        project_folder=next(filter(None, folders), ""),
        model=wire.text(payload, "modelName"),
        topic=wire.text(payload, "terminationReason"),
        tool=call,
        message=error,
    )


def neutral(name: str, body: bytes) -> Answer:
    """Nothing for an event that is not known: any byte could refuse it."""
    return Answer(stdout=NEUTRAL[name]) if name in NEUTRAL else EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    return ""  # it takes none


def render(event: Event, decision: Decision) -> Answer:
    answer = _answer(event.name, decision)
    return Answer(stdout=wire.dumps(answer)) if answer else neutral(event.name, event.body)


def _answer(name: str, decision: Decision) -> dict[str, Any]:
    reason = decision.reason or wire.DEFAULT_REASON
    if name == "PreToolUse" and decision.verdict is Verdict.DENY:
        return {"decision": "deny", "reason": reason}
    if name == "PreToolUse" and decision.verdict is Verdict.ASK:
        return {"decision": "force_ask"}
    if name == "Stop" and decision.verdict is Verdict.DENY:
        return {"decision": "continue", "reason": reason}
    if name == "PreInvocation" and decision.context:
        return {"injectSteps": [{"ephemeralMessage": decision.context}]}
    return {}


def environment(event: Event) -> Mapping[str, str]:
    return {}


def sample(name: str) -> bytes:
    """A synthetic payload. Raises KeyError for an event without one."""
    return wire.dumps({**hook_format.COMMON, **SAMPLES[name]})
