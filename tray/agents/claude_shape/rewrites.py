"""Reads what a hook rewrites: a tool's input or output, a message, the answers to a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, tools, wire
from tray.agents.claude_shape.shape import ClaudeShape
from tray.model.decision import Rewrite, Target
from tray.model.event import Event, EventKind, Tool


def rewrite(
    shape: ClaudeShape, event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any], hook_event: str
) -> Rewrite | None:
    if hook_event not in shape.events:
        return None
    kind = shape.events[hook_event].kind
    if hook_event in shape.form_events:
        return _form(specific)
    if kind is EventKind.MESSAGE_DISPLAY:
        text = specific.get(shape.rewrite_keys[Target.MESSAGE])
        return None if text is None else Rewrite(target=Target.MESSAGE, value=text)
    if event.tool is None:
        return None
    if kind is EventKind.TOOL_BEFORE:
        return _input(shape, event, event.tool, answer, specific)
    if kind is EventKind.PERMISSION_REQUEST:
        return _input(shape, event, event.tool, {}, wire.nested(specific, "decision"))
    return _output(shape, event, event.tool, answer, specific) if kind is EventKind.TOOL_AFTER else None


def _input(
    shape: ClaudeShape, event: Event, tool: Tool, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> Rewrite | None:
    """A new input replaces the tool's, or is merged where the agent does so. The older key at the top is merged."""
    given, is_merged = specific.get(shape.rewrite_keys[Target.INPUT]), shape.merges_input
    if given is None:
        given, is_merged = answer.get("updatedInput"), True
    if not isinstance(given, dict):
        return None
    native_input = tools.translate_back(event.agent, shape.agent, tool.name, tool.input, given)
    return Rewrite(target=Target.INPUT, value=dict(tool.input) | native_input if is_merged else native_input)


def _output(
    shape: ClaudeShape, event: Event, tool: Tool, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> Rewrite | None:
    """The older `updatedMCPToolOutput` counts for MCP tools only. Older hooks write it at the top."""
    given = specific.get(shape.rewrite_keys[Target.OUTPUT])
    if given is None and tool.name.startswith("mcp__"):
        given = specific.get("updatedMCPToolOutput", answer.get("updatedMCPToolOutput"))
        if isinstance(given, str) and isinstance(tool.output, list):  # the agent takes content blocks only
            given = outputs.blocks(given)
    if given is None:
        return None
    # Another agent's output was text, which the hook may have got as an object.
    plain = event.agent != shape.agent and isinstance(tool.output, str)
    if event.agent != shape.agent and isinstance(given, str):
        given = outputs.with_text(tool.output, given) or given
    return Rewrite(target=Target.OUTPUT, value=outputs.as_text(given) if plain else given)


def _form(specific: Mapping[str, Any]) -> Rewrite | None:
    if wire.text(specific, "action") not in ("accept", "cancel"):
        return None
    answers = {key: specific[key] for key in ("action", "content") if key in specific}
    return Rewrite(target=Target.ANSWER, value=answers)
