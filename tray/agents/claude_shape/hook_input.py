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
        output = shape.keys.output
        body = with_fields(event, _older_output(shape, event.payload[output]) if output in event.payload else {})
        return body if body.endswith(b"\n") else body + b"\n"
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


def with_fields(event: Event, fields: Mapping[str, Any]) -> bytes:
    """Returns the payload as received, followed by the fields that the agent did not send."""
    added = {key: value for key, value in fields.items() if key not in event.payload}
    end = event.body.rstrip()
    if not added or not event.payload or not end.endswith(b"}"):
        return event.body
    return end[:-1] + b"," + wire.dumps(added)[1:]


def _older_output(shape: ClaudeShape, output: Any) -> dict[str, Any]:
    """Returns a tool's output under its older keys."""
    return dict.fromkeys(shape.older_output_keys, outputs.as_text(output)) if shape.older_output_keys else {}


def _extras(shape: ClaudeShape, event: Event) -> dict[str, Any]:
    shared = wire.non_empty(model=event.model, agent_type=event.subagent, prompt=event.prompt)
    name = event_name(shape, event)
    kind = shape.kinds.get(name)
    if kind in STOPS:
        key = shape.messages.get(name, MESSAGE_KEYS)[0]
        return shared | {"stop_hook_active": event.repeated, key: event.message}
    if kind is EventKind.NOTIFICATION:
        notification = {"message": event.message, "notification_type": event.topic}
        return shared | notification | wire.non_empty(title=event.title)
    if kind is EventKind.MESSAGE_DISPLAY:
        display = {"turn_id": "", "message_id": event.id, "index": 0, "final": True, "delta": event.message}
        return shared | display
    message: dict[str, Any] = {}
    if event.kind is not EventKind.COMPACT_AFTER:
        message = wire.non_empty(last_assistant_message=event.message)
    return shared | _topic_fields(shape, event) | message | _tool(shape, event)


def _topic_fields(shape: ClaudeShape, event: Event) -> dict[str, Any]:
    """The event's topic, in the agent's words."""
    words = shape.topic_words.get(event.kind) or TOPIC_WORDS.get(event.kind, ("",))
    word = event.topic if event.topic in words else words[0]
    match event.kind:
        case EventKind.SESSION_START:
            return {"source": word}
        case EventKind.SESSION_END:
            return {"reason": word}
        case EventKind.COMPACT_BEFORE:
            return {"trigger": word, "custom_instructions": None}
        case EventKind.COMPACT_AFTER:
            return {"trigger": word, "compact_summary": event.message}
        case EventKind.SLASH_COMMAND:
            args = event.prompt.removeprefix(f"/{event.topic}").lstrip(" \t\n")
            return {"expansion_type": "slash_command", "command_name": event.topic, "command_args": args}
    return {}


def _tool(shape: ClaudeShape, event: Event) -> dict[str, Any]:
    tool, keys = event.tool, shape.keys
    if tool is None:
        return {}
    title = tools.title(event.agent, tool)
    input = tools.translate_input(event.agent, shape.agent, tool.name, tool.input)
    call = {keys.tool: tools.native(shape.agent, title), keys.input: input, keys.call: tool.call}
    if tool.output is None:
        return call
    text = tool.output if isinstance(tool.output, str) else None
    response = tool.output if text is None else shape.output_from_text(title, input, text)
    return call | {keys.output: response} | _older_output(shape, tool.output)
