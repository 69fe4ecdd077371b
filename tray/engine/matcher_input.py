"""What a hook of another format goes by: its own event, its own project, and the word that its matcher looks at."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from tray.agents import wire
from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, hook_rules
from tray.agents.tools import canonical, spellings
from tray.agents.tools import native as native_tool
from tray.model.event import Event, EventKind
from tray.model.hook import Match
from tray.paths import real_path


def is_native(match: Match, event: Event) -> bool:
    """Whether this is the very event it was declared for, on its own agent, and happened in its project."""
    if match.format and event.agent == match.format and event.name != match.native:
        return False
    # A session may leave its project's folder, and an agent may start below it.
    return not match.project or any(_below(one, match.project) for one in (event.cwd, event.project_folder))


def candidates(match: Match, event: Event) -> set[str]:
    """What the matcher is held against: the tool's names, or what the format's own event has in that place."""
    if event.tool is None:
        return _subject(match, event)
    tool = canonical(event.agent, event.tool.name)
    if not match.format:
        return set(spellings(event.agent, event.tool.name))
    own = {event.tool.name} if event.agent == match.format else set()
    name = native_tool(match.format, tool)
    older = {tool, *spellings(match.format, name)} if hook_rules(match.format).older_tool_names else set()
    return {name, *own, *older}


def aliases(match: Match, event: Event) -> set[str]:
    """The further names of the event's tool in the matcher's format."""
    if event.tool is None:
        return set()
    name = native_tool(match.format, canonical(event.agent, event.tool.name))
    return set(spellings(match.format, name))


def _subject(match: Match, event: Event) -> set[str]:
    """The value that the hook itself will find in its input, under the key that its matcher is about."""
    if not match.format:
        return set()
    subject = spec(match.format, match.native).subject
    key = subject or ("command" if event.kind is EventKind.SLASH_COMMAND else "")
    try:
        value: Any = wire.mapping(AGENTS[match.format].protocol.stdin(event))
    except ValueError:
        return set()
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if not isinstance(value, str):
        return set()
    return {PurePath(value).name} if key == "file_path" else {value}  # a changed file goes by its name alone


def _below(folder: str, project: str) -> bool:
    if not folder:
        return False
    is_below = PurePath(folder).is_relative_to(project)
    return is_below or PurePath(real_path(folder)).is_relative_to(real_path(project))
