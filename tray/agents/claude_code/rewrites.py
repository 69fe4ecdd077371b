"""What a hook in Claude's dialect puts in another's place: a tool's input or output, a message, answers to a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import outputs, tools, wire
from tray.agents.claude_code.events import AGENT
from tray.model.decision import Rewrite, Target
from tray.model.event import Event, Tool

FORM_EVENTS = ("Elicitation", "ElicitationResult")


def rewrite(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any], hook_event: str) -> Rewrite | None:
    if hook_event in FORM_EVENTS:
        return _form(specific)
    if hook_event == "MessageDisplay":
        text = specific.get("displayContent")
        return None if text is None else Rewrite(target=Target.MESSAGE, value=text)
    if event.tool is None:
        return None
    if hook_event == "PreToolUse":
        return _input(event, event.tool, answer, specific)
    if hook_event == "PermissionRequest":
        return _input(event, event.tool, {}, wire.nested(specific, "decision"))
    return _output(event, event.tool, answer, specific) if hook_event == "PostToolUse" else None


def _input(event: Event, tool: Tool, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> Rewrite | None:
    """The inner updatedInput replaces the tool's input; the older one at the top is merged into it."""
    given, base = specific.get("updatedInput"), {}
    if given is None:
        given, base = answer.get("updatedInput"), dict(tool.input)
    if not isinstance(given, dict):
        return None
    native_input = tools.translate_back(event.agent, AGENT, tool.name, tool.input, given)
    return Rewrite(target=Target.INPUT, value=base | native_input)


def _output(event: Event, tool: Tool, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> Rewrite | None:
    """The older updatedMCPToolOutput counts for MCP tools alone, and stood at the top once."""
    given = specific.get("updatedToolOutput")
    if given is None and tool.name.startswith("mcp__"):
        given = specific.get("updatedMCPToolOutput", answer.get("updatedMCPToolOutput"))
    if given is None:
        return None
    plain = event.agent != AGENT and isinstance(tool.output, str)  # what the hook saw as an object was a text
    return Rewrite(target=Target.OUTPUT, value=outputs.as_text(given) if plain else given)


def _form(specific: Mapping[str, Any]) -> Rewrite | None:
    if wire.text(specific, "action") not in ("accept", "cancel"):
        return None
    answers = {key: specific[key] for key in ("action", "content") if key in specific}
    return Rewrite(target=Target.ANSWER, value=answers)
