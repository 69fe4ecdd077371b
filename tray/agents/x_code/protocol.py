"""X-Code CLI's plugin hooks, https://github.com/woai3c/x-code-cli (docs/plugin-hooks.md): one JSON line each way.

In:  {"event":"PreToolUse","session":{"cwd":"/abs/project","modelId":"anthropic:claude-sonnet-4-6"},
      "plugin":{"id":"linear@market","dir":"/abs/…"},
      "tool":{"name":"shell","args":{"command":"rm -rf build"},"callId":"c1"}}
Out: {"decision":"deny","reason":"Editing prod config is forbidden"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, wire
from tray.agents.x_code.hook_format import hook_event_name as hook_event_name
from tray.agents.x_code.hook_format import read as read
from tray.agents.x_code.hook_format import stdin as stdin
from tray.model.decision import EMPTY_ANSWER, Answer, Decision, Target, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec, RelayRequest, Tool

# 30 s is the most the agent allows (it refuses a plugin's hooks altogether above that): connect writes it.
EVENTS: Mapping[str, EventSpec] = {
    "PostCompact": EventSpec(kind=EventKind.COMPACT_AFTER, timeout=30),
    # A deny comes too late there: the agent heeds nothing but another output.
    "PostToolUse": EventSpec(
        kind=EventKind.TOOL_AFTER, can=Capability.REWRITE_OUTPUT, timeout=30, subject="tool.name", after_the_fact=True
    ),
    "PreCompact": EventSpec(kind=EventKind.COMPACT_BEFORE, timeout=30),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=Capability.DENY | Capability.REWRITE_INPUT, timeout=30, subject="tool.name"
    ),
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=30),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, timeout=30),
    "SubagentStart": EventSpec(kind=EventKind.SUBAGENT_START, timeout=30),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, timeout=30),
    "TurnComplete": EventSpec(kind=EventKind.ROUND_END, timeout=30),  # after every model round
    "UserPromptSubmit": EventSpec(kind=EventKind.PROMPT, can=Capability.DENY | Capability.CONTEXT, timeout=30),
}
DEFAULT_CAN = Capability.NOTHING


def event_name(payload: Mapping[str, Any]) -> str:
    return wire.event_name(payload, "event")


def session(request: RelayRequest, payload: Mapping[str, Any]) -> str:
    """The agent's types know a session id, the agent sends none."""
    fields = wire.nested(payload, "session")
    return wire.text(fields, "sessionId") or f"{request.parent}:{wire.text(fields, 'cwd') or request.cwd}"


def tool(name: str, payload: Mapping[str, Any]) -> Tool | None:
    call = wire.nested(payload, "tool")
    failed = call.get("isError") is True
    return wire.tool(call, name="name", input="args", call="callId", output="output", failed=failed)


def parse(request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event:
    fields = wire.nested(payload, "session")
    agent = wire.nested(payload, "agent")
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=session(request, payload),
        cwd=wire.text(fields, "cwd") or request.cwd,
        model=wire.text(fields, "modelId"),
        topic=wire.text(payload, "trigger", "outcome"),
        title=wire.text(agent, "description"),
        tool=tool(name, payload),
        prompt=wire.text(payload, "prompt") or wire.text(agent, "prompt"),
        message=wire.text(payload, "summary"),
        subagent=wire.text(agent, "name"),
    )


def neutral(name: str, body: bytes) -> Answer:
    return EMPTY_ANSWER


def rewrite_problem(event: Event, decision: Decision) -> str:
    if decision.rewrite is None:
        return ""
    value = decision.rewrite.value
    if decision.rewrite.target is Target.OUTPUT:
        return wire.json_problem(value)
    return "is not a JSON object" if not isinstance(value, Mapping) else wire.json_problem(value)


def render(event: Event, decision: Decision) -> Answer:
    answer: dict[str, Any] = {}
    if decision.verdict is Verdict.DENY:
        answer = {"decision": "deny", "reason": decision.reason or wire.DEFAULT_REASON}
    elif decision.rewrite is not None and decision.rewrite.target is Target.INPUT:
        answer = {"decision": "modify", "args": decision.rewrite.value}
    elif decision.rewrite is not None:
        answer = {"decision": "modify", "output": outputs.as_text(decision.rewrite.value)}
    elif decision.context:
        answer = {"decision": "allow", "context": decision.context}
    return Answer(stdout=wire.dumps_line(answer)) if answer else Answer()


def environment(event: Event) -> Mapping[str, str]:
    return {}


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {
        "event": name,
        "session": {"cwd": "/home/dev/project", "modelId": "anthropic:claude-sonnet-4-6"},
        "plugin": {"id": "hooktray@local", "dir": "/home/dev/.x-code/plugins/cache/local/hooktray/1.0.0"},
    }
    return wire.dumps_line({**common, **SAMPLES[name]})


USAGE = {"inputTokens": 4321, "outputTokens": 567, "totalTokens": 4888}
CALL = {"name": "shell", "args": {"command": "ls -la"}, "callId": "call_abc124"}
REVIEWER = {"name": "code-reviewer", "description": "review the diff"}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "PostCompact": {"trigger": "proactive", "messageCount": 12, "summary": "The parser was fixed."},
    "PostToolUse": {"tool": {**CALL, "output": "README.md", "isError": False}},
    "PreCompact": {"trigger": "proactive", "messageCount": 87, "tokenEstimate": 184000},
    "PreToolUse": {"tool": CALL},
    "SessionEnd": {},
    "SessionStart": {},
    "SubagentStart": {"agent": {**REVIEWER, "prompt": "Review the diff of the last commit."}},
    "SubagentStop": {"agent": REVIEWER, "durationMs": 12345, "outcome": "completed", "tokenUsage": USAGE},
    "TurnComplete": {"turn": 3, "tokenUsage": USAGE},
    "UserPromptSubmit": {"prompt": "Fix the parser."},
}
