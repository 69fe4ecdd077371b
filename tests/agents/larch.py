"""Larch: an invented Claude-shaped agent, for values that no supported agent uses yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tray.agents import registry
from tray.agents.agent import Agent
from tray.agents.claude_shape import claude_shaped
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.shape import ClaudeShape
from tray.model.event import Capability, Event, EventKind, EventSpec, Tool

ANSWER = Capability.DENY | Capability.STOP | Capability.NOTE
EVENTS: Mapping[str, EventSpec] = {
    "AfterTool": EventSpec(
        kind=EventKind.TOOL_AFTER, can=ANSWER | Capability.CONTEXT, subject="tool_name", after_the_fact=True
    ),
    "BeforeModel": EventSpec(kind=EventKind.MODEL_BEFORE, can=Capability.DENY),
    "BeforeTool": EventSpec(
        kind=EventKind.TOOL_BEFORE, can=ANSWER | Capability.REWRITE_INPUT, timeout=1.5, subject="tool_name"
    ),
    "Done": EventSpec(kind=EventKind.TURN_END, can=ANSWER),
    "Permit": EventSpec(kind=EventKind.PERMISSION_REQUEST, can=ANSWER | Capability.ALLOW, subject="tool_name"),
    "Prompt": EventSpec(kind=EventKind.PROMPT, can=ANSWER | Capability.CONTEXT),
}


def shape(**values: Any) -> ClaudeShape:
    return ClaudeShape(agent="larch", events=EVENTS, **values)


def event(name: str = "BeforeTool", **values: Any) -> Event:
    tool = Tool(name="Bash", input={"command": "ls", "folder": "/p"}) if EVENTS[name].subject else None
    own: dict[str, Any] = {"kind": EVENTS[name].kind, "spec": EVENTS[name], "tool": tool}
    return Event(**{"id": "1", "agent": "larch", "name": name, **own, **values})


@contextmanager
def known(file: SettingsFile, **values: Any) -> Iterator[Agent]:
    """Larch, which is a supported agent inside the `with` block."""
    agent = claude_shaped(name="Larch", shape=shape(**values), file=file)
    registry.AGENTS._loaded["larch"] = agent
    registry.AGENTS._modules = {**registry.BUILT_IN, "larch": ""}
    registry.AGENTS.find.cache_clear()
    try:
        yield agent
    finally:
        registry.AGENTS.find.cache_clear()
        registry.AGENTS._modules = registry.BUILT_IN
        del registry.AGENTS._loaded["larch"]
