"""Claude Code's hooks, https://code.claude.com/docs/en/hooks: a JSON object on stdin, another (or text) on stdout.

In:  {"session_id":"8599…","transcript_path":"/home/dev/….jsonl","cwd":"/home/dev/project",
      "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf build"},…}
Out: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.dialects import claude_answers, tools, wire
from tray.model.decision import Answer, Decision, Reading, Result, Target, Verdict
from tray.model.event import Can, Event, EventKind, EventSpec, Knock

AGENT = "claude-code"
ANSWERED = Can.DENY | Can.STOP | Can.NOTE
EVENTS: Mapping[str, EventSpec] = {
    "Notification": EventSpec(kind=EventKind.NOTIFICATION, subject="notification_type"),
    "PreToolUse": EventSpec(
        kind=EventKind.TOOL_BEFORE,
        can=ANSWERED | Can.ALLOW | Can.ASK | Can.REWRITE_INPUT | Can.CONTEXT,
        subject="tool_name",
    ),
    # The agent's shared budget for all SessionEnd hooks.
    "SessionEnd": EventSpec(kind=EventKind.SESSION_END, timeout=1.5, subject="reason"),
    "SessionStart": EventSpec(kind=EventKind.SESSION_START, can=Can.CONTEXT | Can.NOTE, subject="source"),
    # No CONTEXT at a stop: there it makes the agent go on, so it is read as a refusal.
    "Stop": EventSpec(kind=EventKind.TURN_END, can=ANSWERED),
    "SubagentStop": EventSpec(kind=EventKind.SUBAGENT_END, can=ANSWERED, subject="agent_type"),
}
NAMES = {spec.kind: name for name, spec in EVENTS.items()}
SUBAGENT_EVENTS = ("SubagentStart", "SubagentStop")
WORDS = {Verdict.ALLOW: "allow", Verdict.ASK: "ask", Verdict.DENY: "deny"}
SOURCES = ("startup", "resume", "clear", "compact", "fork")
REASONS = ("clear", "resume", "logout", "prompt_input_exit", "other")


def title(payload: Mapping[str, Any]) -> str:
    return wire.name(payload, "hook_event_name")


def parse(knock: Knock, name: str, payload: Mapping[str, Any]) -> Event:
    # With `--agent` a whole session has an agent_type; only an agent_id means a subagent.
    inside = bool(wire.text(payload, "agent_id")) or name in SUBAGENT_EVENTS
    return Event(
        **wire.frame(knock, payload),
        name=name,
        kind=EVENTS.get(name, wire.UNKNOWN).kind,
        session=wire.text(payload, "session_id"),
        cwd=wire.text(payload, "cwd") or knock.cwd,
        model=wire.text(payload, "model"),
        topic=wire.text(payload, "notification_type", "source", "reason"),
        title=wire.text(payload, "title", "session_title"),
        tool=wire.tool(payload, name="tool_name", input="tool_input", call="tool_use_id", output="tool_response"),
        prompt=wire.text(payload, "prompt"),
        message=wire.text(payload, "last_assistant_message", "message"),
        subagent=wire.text(payload, "agent_type") if inside else "",
        repeated=payload.get("stop_hook_active") is True,
    )


def neutral(name: str, body: bytes) -> Answer:
    return Answer()


def carries(event: Event, decision: Decision) -> str:
    rewrite = decision.rewrite
    if rewrite is None:
        return ""
    return "is no JSON object" if not isinstance(rewrite.value, Mapping) else wire.unwritable(rewrite.value)


def render(event: Event, decision: Decision) -> Answer:
    answer: dict[str, Any] = {}
    if decision.stop is not None:
        answer |= {"continue": False} | wire.filled(stopReason=decision.stop)
    if event.name in ("Stop", "SubagentStop"):
        if decision.verdict is Verdict.DENY and decision.stop is None:  # a stop beats a refusal to stop
            answer |= {"decision": "block", "reason": decision.reason or wire.BLOCKED}
    elif said := _specific(decision):
        answer["hookSpecificOutput"] = {"hookEventName": event.name} | said
    answer |= wire.filled(systemMessage=wire.joined(decision.notes))
    return Answer(stdout=wire.line(answer)) if answer else Answer()


def _specific(decision: Decision) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if decision.verdict in WORDS:
        reason = decision.reason or (wire.BLOCKED if decision.verdict is Verdict.DENY else "")
        said |= {"permissionDecision": WORDS[decision.verdict]} | wire.filled(permissionDecisionReason=reason)
    if decision.rewrite is not None and decision.rewrite.target is Target.INPUT:
        said["updatedInput"] = decision.rewrite.value
    return said | wire.filled(additionalContext=decision.context)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return event.body if event.body.endswith(b"\n") else event.body + b"\n"
    fields: dict[str, Any] = {
        "session_id": event.session,
        "transcript_path": "",
        "cwd": event.cwd,
        "hook_event_name": told(event),
    }
    return wire.line(fields | _extras(event))


def told(event: Event) -> str:
    """The event's name as a hook of this dialect hears it."""
    return event.name if event.agent == AGENT else NAMES.get(event.kind, event.kind.value)


def _extras(event: Event) -> dict[str, Any]:
    shared = wire.filled(model=event.model, agent_type=event.subagent, prompt=event.prompt)
    if event.kind in (EventKind.TURN_END, EventKind.SUBAGENT_END):
        return shared | {"stop_hook_active": event.repeated, "last_assistant_message": event.message}
    if event.kind is EventKind.SESSION_START:
        return shared | {"source": event.topic if event.topic in SOURCES else "startup"}
    if event.kind is EventKind.SESSION_END:
        return shared | {"reason": event.topic if event.topic in REASONS else "other"}
    if event.kind is EventKind.NOTIFICATION:
        spoken = {"message": event.message, "notification_type": event.topic}
        return shared | spoken | wire.filled(title=event.title)
    return shared | wire.filled(last_assistant_message=event.message) | _tool(event)


def _tool(event: Event) -> dict[str, Any]:
    if event.tool is None:
        return {}
    return {
        "tool_name": tools.native(AGENT, tools.canonical(event.agent, event.tool.name)),
        "tool_input": tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input),
        "tool_use_id": event.tool.call,
    }


def environment(event: Event) -> Mapping[str, str]:
    own = event.environment.get("CLAUDE_PROJECT_DIR", "") if event.agent == AGENT else ""
    return wire.variables(CLAUDE_PROJECT_DIR=own or event.cwd, CLAUDE_CODE_SESSION_ID=event.session)


def read(event: Event, result: Result) -> Reading:
    return claude_answers.read(event, result, told(event))


def sample(name: str) -> bytes:
    """A payload as it comes over the wire. Raises KeyError for an event without one."""
    common = {
        "session_id": "3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-project/3f0c2a51-7d1e-4b7a-9c52-5d0d0f6f2b11.jsonl",
        "cwd": "/home/dev/project",
    }
    return wire.line({**common, "hook_event_name": name, **SAMPLES[name]})


STOPPED = {"stop_hook_active": False, "last_assistant_message": "All tests pass.", "background_tasks": []}
SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "Notification": {"message": "Claude needs your permission to use Bash", "notification_type": "permission_prompt"},
    "PreToolUse": {
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "ls -la", "description": "List the files"},
        "tool_use_id": "toolu_01",
    },
    "SessionEnd": {"reason": "other"},
    "SessionStart": {"source": "startup", "model": "claude-sonnet-5-5"},
    "Stop": {"permission_mode": "default"} | STOPPED,
    "SubagentStop": {"agent_id": "a43263d655169d4b4", "agent_type": "general-purpose"} | STOPPED,
}
