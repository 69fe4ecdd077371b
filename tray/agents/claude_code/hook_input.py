"""What a hook written for Claude Code reads on its stdin, whichever agent's event it is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, tools, wire
from tray.agents.claude_code.events import AGENT, hook_event_name
from tray.model.event import Event, EventKind

SOURCES = ("startup", "resume", "clear", "compact", "fork")
REASONS = ("clear", "resume", "logout", "prompt_input_exit", "other")
TRIGGERS = ("manual", "auto")


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return _native(event)
    fields: dict[str, Any] = {
        "session_id": event.session,
        "transcript_path": "",
        "cwd": event.cwd,
        "hook_event_name": hook_event_name(event),
    }
    return wire.dumps_line(fields | _extras(event))


def _native(event: Event) -> bytes:
    """The agent's own bytes; a tool's output is there under its older names too, behind all that was said."""
    body = event.body if event.body.endswith(b"\n") else event.body + b"\n"
    if "tool_response" not in event.payload:
        return body
    legacy = _legacy_output(outputs.as_text(event.payload["tool_response"]))
    added = wire.dumps({name: text for name, text in legacy.items() if name not in event.payload})
    end = body.rstrip()
    return end[:-1] + b"," + added[1:] + b"\n" if len(added) > 2 and end.endswith(b"}") else body


def _legacy_output(text: str) -> dict[str, Any]:
    return {"tool_output": text, "tool_result": text}


def _extras(event: Event) -> dict[str, Any]:
    shared = wire.non_empty(model=event.model, agent_type=event.subagent, prompt=event.prompt)
    name = hook_event_name(event)
    if name in ("Stop", "SubagentStop"):
        return shared | {"stop_hook_active": event.repeated, "last_assistant_message": event.message}
    if name == "Notification":
        notification = {"message": event.message, "notification_type": event.topic}
        return shared | notification | wire.non_empty(title=event.title)
    if name == "MessageDisplay":
        display = {"turn_id": "", "message_id": event.id, "index": 0, "final": True, "delta": event.message}
        return shared | display
    return shared | _topic_fields(event) | _message_fields(event) | _tool(event)


def _message_fields(event: Event) -> dict[str, Any]:
    if event.kind is EventKind.COMPACT_AFTER:
        return {"compact_summary": event.message}
    return wire.non_empty(last_assistant_message=event.message)


def _topic_fields(event: Event) -> dict[str, Any]:
    """The event's own sort, in words that the agent would use."""
    match event.kind:
        case EventKind.SESSION_START:
            return {"source": event.topic if event.topic in SOURCES else "startup"}
        case EventKind.SESSION_END:
            return {"reason": event.topic if event.topic in REASONS else "other"}
        case EventKind.COMPACT_BEFORE:
            return _trigger(event) | {"custom_instructions": None}
        case EventKind.COMPACT_AFTER:
            return _trigger(event)
        case EventKind.SLASH_COMMAND:
            args = event.prompt.removeprefix(f"/{event.topic}").lstrip(" \t\n")
            return {"expansion_type": "slash_command", "command_name": event.topic, "command_args": args}
    return {}


def _trigger(event: Event) -> dict[str, Any]:
    return {"trigger": event.topic if event.topic in TRIGGERS else "auto"}


def _tool(event: Event) -> dict[str, Any]:
    if event.tool is None:
        return {}
    title = tools.canonical(event.agent, event.tool.name)
    input = tools.translate_input(event.agent, AGENT, event.tool.name, event.tool.input)
    call = {"tool_name": tools.native(AGENT, title), "tool_input": input, "tool_use_id": event.tool.call}
    return call | _output(event, title, input)


def _output(event: Event, title: str, input: Mapping[str, Any]) -> dict[str, Any]:
    if event.tool is None or event.tool.output is None:
        return {}
    output = event.tool.output
    text = outputs.as_text(output)
    response = outputs.from_text(title, input, text) if isinstance(output, str) else output
    return {"tool_response": response} | _legacy_output(text)
