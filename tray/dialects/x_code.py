"""X-Code CLI's plugin hooks, https://github.com/woai3c/x-code-cli (docs/plugin-hooks.md): one JSON line each way.

In:  {"event":"PreToolUse","session":{"cwd":"/abs/project","modelId":"anthropic:claude-sonnet-4-6"},
      "plugin":{"id":"linear@market","dir":"/abs/…"},
      "tool":{"name":"shell","args":{"command":"rm -rf build"},"callId":"c1"}}
Out: {"decision":"deny","reason":"Editing prod config is forbidden"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.dialects import tools, wire
from tray.model.decision import Answer, Decision, Reading, Result, Rewrite, Target, Verdict
from tray.model.event import Can, Event, EventKind, EventSpec, Knock

AGENT = "x-code"
# 30 s is the most the agent allows (it refuses a plugin's hooks altogether above that): connect writes it.
EVENTS: Mapping[str, EventSpec] = {
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=Can.DENY | Can.REWRITE_INPUT, timeout=30, subject="tool.name"
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=30),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, timeout=30),
    "TurnComplete": EventSpec(kind=EventKind.ROUND_END, timeout=30),  # after every model round
}
NAMES = {spec.kind: name for name, spec in EVENTS.items()} | {EventKind.TURN_END: "TurnComplete"}
DECIDING = (EventKind.PROMPT, EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER)
IGNORED = "The hook's output {}; ignored."


def title(payload: Mapping[str, Any]) -> str:
    return wire.name(payload, "event")


def parse(knock: Knock, name: str, payload: Mapping[str, Any]) -> Event:
    session = wire.inner(payload, "session")
    cwd = wire.text(session, "cwd") or knock.cwd
    return Event(
        **wire.frame(knock, payload),
        name=name,
        kind=EVENTS.get(name, wire.UNKNOWN).kind,
        session=f"{knock.parent}:{cwd}",  # the agent sends no session id
        cwd=cwd,
        model=wire.text(session, "modelId"),
        tool=wire.tool(wire.inner(payload, "tool"), name="name", input="args", call="callId", output="output"),
        prompt=wire.text(payload, "prompt"),
        subagent=wire.text(wire.inner(payload, "agent"), "name"),
    )


def neutral(name: str, body: bytes) -> Answer:
    return Answer()


def carries(event: Event, decision: Decision) -> str:
    if decision.rewrite is None:
        return ""
    value = decision.rewrite.value
    return "is no JSON object" if not isinstance(value, Mapping) else wire.unwritable(value)


def render(event: Event, decision: Decision) -> Answer:
    if decision.verdict is Verdict.DENY:
        return Answer(stdout=wire.line({"decision": "deny", "reason": decision.reason or wire.BLOCKED}))
    if decision.rewrite is not None and decision.rewrite.target is Target.INPUT:
        return Answer(stdout=wire.line({"decision": "modify", "args": decision.rewrite.value}))
    return Answer()


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return event.body if event.body.endswith(b"\n") else event.body + b"\n"
    fields: dict[str, Any] = {
        "event": NAMES.get(event.kind, event.kind.value),
        "session": {"cwd": event.cwd, "modelId": event.model},
        "plugin": {"id": "hooktray", "dir": ""},
    }
    said = wire.filled(topic=event.topic, title=event.title, prompt=event.prompt, message=event.message)
    return wire.line(fields | said | _extras(event))


def _extras(event: Event) -> dict[str, Any]:
    if event.kind in (EventKind.TURN_END, EventKind.ROUND_END):
        # Nobody counted: hooks read these fields without asking whether they are there.
        return {"turn": 0, "tokenUsage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}}
    if event.tool is None:
        return {}
    name = tools.native(AGENT, tools.canonical(event.agent, event.tool.name))
    args = tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input)
    return {"tool": {"name": name, "args": args, "callId": event.tool.call}}


def environment(event: Event) -> Mapping[str, str]:
    return {}


def read(event: Event, result: Result) -> Reading:
    if problem := wire.not_run(result):
        return Reading(problem=problem)
    if result.code != 0:
        return Reading(problem=f"exit {result.code}")
    said = result.stdout.strip()
    if event.kind not in DECIDING or not said:
        return Reading()
    try:
        answer = wire.mapping(said)
    except ValueError as error:
        return Reading(warning=IGNORED.format(f"is {error}"))
    return _reading(event, answer)


def _reading(event: Event, answer: Mapping[str, Any]) -> Reading:
    decision = answer.get("decision")
    if decision == "deny":
        return Reading(verdict=Verdict.DENY, reason=wire.text(answer, "reason"))
    if decision == "allow":  # only goes on: it does not skip the agent's own question
        return Reading()
    if decision != "modify":
        return Reading(warning=IGNORED.format("has a decision that is none of allow, deny, modify"))
    args = answer.get("args")
    if event.tool is None or not isinstance(args, dict):
        return Reading(warning=IGNORED.format("modifies nothing: its args are no object"))
    value = tools.translate_back(event.agent, AGENT, event.tool.name, event.tool.input, args)
    return Reading(rewrite=Rewrite(target=Target.INPUT, value=value))


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {
        "event": name,
        "session": {"cwd": "/home/dev/project", "modelId": "anthropic:claude-sonnet-4-6"},
        "plugin": {"id": "hooktray@local", "dir": "/home/dev/.x-code/plugins/cache/local/hooktray/1.0.0"},
    }
    return wire.line({**common, **SAMPLES[name]})


SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "PreToolUse": {"tool": {"name": "shell", "args": {"command": "ls -la"}, "callId": "call_abc124"}},
    "SessionEnd": {},
    "SessionStart": {},
    "TurnComplete": {"turn": 3, "tokenUsage": {"inputTokens": 4321, "outputTokens": 567, "totalTokens": 4888}},
}
