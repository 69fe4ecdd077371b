"""Reads Kimi Code's hooks: the tables [[hooks]] of config.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.kimi_code.protocol import EVENTS, ID, NAME, PROMPT, SETTINGS, SHAPE
from tray.agents.list_entries import KEY
from tray.agents.protocol import agent_events
from tray.edit import toml_edit
from tray.files import user_file
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.strict.document import Document

EXPECTED = f"name a settings file of {NAME}, such as ~/{SETTINGS.path}"

# Its events that Hooktray has no word for.
OTHER_EVENTS = frozenset({"PermissionResult", "SessionHeartbeat", "TaskStarted", "TurnStarted", "UserPromptQueued"})
FIELDS = ("event", "matcher", "command", "timeout")
LONGEST = 600  # seconds

SHAPED = ShapedReader(SHAPE, SETTINGS, NAME)


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    return parse(user_file(path), path, agents)


def parse(text: bytes, path: Path, agents: Sequence[str] = ()) -> SourceHooks:
    """The hooks of a text that is, or will be, at this path. One that the agent cannot read switches all off."""
    hooks = toml_edit.items(text, str(path), KEY)
    problems = [f"{KEY}[{index}] {problem}" for index, hook in enumerate(hooks) if (problem := table_problem(hook))]
    inactive = f"{NAME} runs none of its hooks: {problems[0]}" if problems else ""
    reader = SourceReader(
        Document(value={KEY: hooks}, path=str(path)), agent_events(ID), agents=agents, inactive=inactive
    )
    for index, hook in enumerate(hooks):
        with reader.entry():
            _hook(reader, (KEY, index), hook)
    return reader.result()


def table_problem(hook: Mapping[str, Any]) -> str:
    """What keeps Kimi Code from reading this hook, and with it all others; "" when nothing does."""
    if unknown := [key for key in hook if key not in FIELDS]:
        return f"has the key `{unknown[0]}`: take it out, only {', '.join(FIELDS)} may be there"
    event, timeout = hook.get("event"), hook.get("timeout", 1)
    if event not in EVENTS and event not in OTHER_EVENTS:
        return f"has the event `{event}`, which there is not"
    if not isinstance(hook.get("command"), str) or not hook["command"]:
        return "has no command"
    if not isinstance(hook.get("matcher", ""), str):
        return "has a matcher that is not text"
    if isinstance(timeout, bool) or not isinstance(timeout, int) or not 1 <= timeout <= LONGEST:
        return f"has the timeout {timeout}: write whole seconds from 1 to {LONGEST}"
    return ""


def _hook(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> None:
    """A matcher is a pattern for the tool's name, a session's source and the like, or for the text of a prompt."""
    event, matcher = reader.text(at, fields, "event"), reader.text(at, fields, "matcher")
    reader.match(at, event)  # raises for an event that Hooktray has no word for
    has_subject = bool(EVENTS[event].subject)
    match = reader.match(at, event, tool=matcher if has_subject else "", pattern=matcher if event == PROMPT else "")
    problem = pattern_problem(matcher, script=True) if matcher else ""
    if problem:
        reader.warn((*at, "matcher"), f"not a pattern, so it matches nothing: {problem}", "escape signs with `\\`")
    inactive = "its matcher matches nothing" if problem else ""
    if matcher and not has_subject and event != PROMPT:
        inactive = inactive or f"a matcher on {event} is not in this version"
    timeout = reader.number(at, fields, "timeout") or SETTINGS.timeout
    reader.add(at, match, SHAPED.command(reader, at, fields), timeout=timeout, inactive=inactive)
