"""What a hook written for Starchild reads on its stdin, whichever agent's event it is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, tools, wire
from tray.model.event import Event, EventKind

AGENT = "starchild"
# Other agents' events under the name whose answers are taken there; the rest have their canonical name.
NAMES_BY_KIND: Mapping[EventKind, str] = {
    EventKind.COMPLETION_CLAIM: "on_completion_claim",
    EventKind.CONVERSATION_NEW: "on_user_message",
    EventKind.MESSAGE_DISPLAY: "on_response_end",
    EventKind.MODEL_AFTER: "post_llm_call",
    EventKind.MODEL_BEFORE: "pre_llm_call",
    EventKind.OUTBOUND_MESSAGE: "on_outbound_message",
    EventKind.PROMPT: "on_user_message",
    EventKind.PROMPT_EXPANSION: "on_user_message",
    EventKind.RESPONSE_END: "on_response_end",
    EventKind.SESSION_END: "on_session_end",
    EventKind.SESSION_START: "on_session_start",
    EventKind.SLASH_COMMAND: "on_user_message",
    EventKind.TOOL_AFTER: "post_tool_call",
    EventKind.TOOL_BEFORE: "pre_tool_call",
    EventKind.TOOL_FAILED: "post_tool_call",
    EventKind.TOOL_RESULT: "transform_tool_result",
    EventKind.TURN_END: "on_stop",
}
END_EVENTS = (EventKind.TURN_END, EventKind.SUBAGENT_END, EventKind.ROUND_END)


def hook_event_name(event: Event) -> str:
    """The event's name for a hook of this dialect."""
    return event.name if event.agent == AGENT else NAMES_BY_KIND.get(event.kind, event.kind.value)


def stdin(event: Event) -> bytes:
    if event.agent == AGENT:
        return event.body
    name = hook_event_name(event)
    fields = {
        "event": name,
        "session_id": event.session,
        "agent_id": event.agent,
        "cwd": event.cwd,
    }
    return wire.dumps(fields | _common_fields(event) | _extras(event, name))


def _common_fields(event: Event) -> dict[str, Any]:
    """What the agent does not send with every event is there under our own words, when it is not empty."""
    return wire.non_empty(
        model=event.model,
        topic=event.topic,
        title=event.title,
        prompt=event.prompt,
        message=event.message,
        url=event.url,
        path=event.path,
        subagent=event.subagent,
    )


def _extras(event: Event, name: str) -> dict[str, Any]:
    used = [tools.native(AGENT, tools.canonical(event.agent, each)) for each in event.tools]
    if event.kind in END_EVENTS:
        state = {"stop_hook_active": event.repeated, "model": event.model}
        return {"response": event.message, "tool_names": used} | state
    match name:
        case "on_completion_claim":
            return {"goal": "", "summary": event.message, "response": event.message, "tool_names": used}
        case "on_outbound_message":
            return {"notification": event.message, "type": event.topic}
        case "on_response_end":
            return {"response": event.message, "model": event.model, "tool_names": used}
        case "on_session_start":
            return {"status": "started"}
        case "on_session_end":
            return {"status": "ended"}
        case "on_user_message":
            return {"message": event.prompt, "channel": event.agent}
        case "pre_llm_call":
            return {"system": "", "last_user_message": event.prompt, "model": event.model}
    return _tool(event, name) | wire.non_empty(tool_names=tuple(used))


def _tool(event: Event, name: str) -> dict[str, Any]:
    if event.tool is None:
        return {}
    call = {
        "tool_name": tools.native(AGENT, tools.canonical(event.agent, event.tool.name)),
        "tool_input": tools.hook_input(event.agent, AGENT, event.tool.name, event.tool.input),
    }
    has_result = name in ("post_tool_call", "transform_tool_result")
    return call | ({"tool_result": outputs.as_text(event.tool.output)} if has_result else {})
