"""The input of a hook that was written for a Claude-shaped agent, for an event of any agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, tools, wire
from tray.agents.claude_shape.shape import MESSAGE_KEYS, STOPS, TOPIC_WORDS, ClaudeShape
from tray.model.event import Event, EventKind


def event_name(shape: ClaudeShape, event: Event) -> str:
    """The event's name for a hook of this agent."""
    return event.name if event.agent == shape.agent else shape.names_by_kind.get(event.kind, event.kind.value)


def stdin(shape: ClaudeShape, event: Event) -> bytes:
    if event.agent == shape.agent:
        return _native(shape, event)
    fields: dict[str, Any] = {
        shape.keys.session: event.session,
        "transcript_path": "",
        shape.keys.cwd: event.cwd,
        shape.keys.event: event_name(shape, event),
    }
    return wire.dumps_line(fields | _extras(shape, event))


def environment(shape: ClaudeShape, event: Event) -> Mapping[str, str]:
    """The agent's variables. Those that the agent set keep their values."""
    own = event.environment if event.agent == shape.agent else {}
    projects = {name: own.get(name, "") or event.project_folder or event.cwd for name in shape.project_variables}
    return wire.variables(**projects, **dict.fromkeys(shape.session_variables, event.session))


def _native(shape: ClaudeShape, event: Event) -> bytes:
    """The agent's own bytes. A tool's output is appended under its older keys."""
    body = event.body if event.body.endswith(b"\n") else event.body + b"\n"
    if shape.keys.output not in event.payload or not shape.older_output_keys:
        return body
    older = _older_output(shape, outputs.as_text(event.payload[shape.keys.output]))
    added = wire.dumps({name: text for name, text in older.items() if name not in event.payload})
    end = body.rstrip()
    return end[:-1] + b"," + added[1:] + b"\n" if len(added) > 2 and end.endswith(b"}") else body


def _older_output(shape: ClaudeShape, text: str) -> dict[str, Any]:
    return dict.fromkeys(shape.older_output_keys, text)


def _extras(shape: ClaudeShape, event: Event) -> dict[str, Any]:
    shared = wire.non_empty(model=event.model, agent_type=event.subagent, prompt=event.prompt)
    name = event_name(shape, event)
    kind = shape.events[name].kind if name in shape.events else EventKind.OTHER
    if kind in STOPS:
        message = shape.messages.get(name, MESSAGE_KEYS)[0]
        return shared | {"stop_hook_active": event.repeated, message: event.message}
    if kind is EventKind.NOTIFICATION:
        notification = {"message": event.message, "notification_type": event.topic}
        return shared | notification | wire.non_empty(title=event.title)
    if kind is EventKind.MESSAGE_DISPLAY:
        display = {"turn_id": "", "message_id": event.id, "index": 0, "final": True, "delta": event.message}
        return shared | display
    return shared | _topic_fields(shape, event) | _message_fields(event) | _tool(shape, event)


def _message_fields(event: Event) -> dict[str, Any]:
    if event.kind is EventKind.COMPACT_AFTER:
        return {"compact_summary": event.message}
    return wire.non_empty(last_assistant_message=event.message)


def _topic_fields(shape: ClaudeShape, event: Event) -> dict[str, Any]:
    """The event's topic, in the agent's words."""
    match event.kind:
        case EventKind.SESSION_START:
            return {"source": _word(shape, event)}
        case EventKind.SESSION_END:
            return {"reason": _word(shape, event)}
        case EventKind.COMPACT_BEFORE:
            return {"trigger": _word(shape, event), "custom_instructions": None}
        case EventKind.COMPACT_AFTER:
            return {"trigger": _word(shape, event)}
        case EventKind.SLASH_COMMAND:
            args = event.prompt.removeprefix(f"/{event.topic}").lstrip(" \t\n")
            return {"expansion_type": "slash_command", "command_name": event.topic, "command_args": args}
    return {}


def _word(shape: ClaudeShape, event: Event) -> str:
    words = shape.topic_words.get(event.kind) or TOPIC_WORDS[event.kind]
    return event.topic if event.topic in words else words[0]


def _tool(shape: ClaudeShape, event: Event) -> dict[str, Any]:
    if event.tool is None:
        return {}
    title = tools.title(event.agent, event.tool)
    input = tools.translate_input(event.agent, shape.agent, event.tool.name, event.tool.input)
    keys = shape.keys
    call = {keys.tool: tools.native(shape.agent, title), keys.input: input, keys.call: event.tool.call}
    return call | _output(shape, event, title, input)


def _output(shape: ClaudeShape, event: Event, title: str, input: Mapping[str, Any]) -> dict[str, Any]:
    if event.tool is None or event.tool.output is None:
        return {}
    output = event.tool.output
    text = outputs.as_text(output)
    response = shape.output_from_text(title, input, text) if isinstance(output, str) else output
    return {shape.keys.output: response} | _older_output(shape, text)
