"""Reads Antigravity's hooks: named ones, with groups for the events of tools and plain lists for the others.

{"guard": {"PreToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "./guard.sh"}]}],
           "Stop": [{"type": "command", "command": "./done.sh", "timeout": 10}]}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.google_antigravity.protocol import ID, OWN, TIMEOUT, TOOL_EVENTS
from tray.agents.protocol import agent_events
from tray.files import user_file
from tray.model.hook import Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.strict.json_reader import load_json

SIZE = 4 * 1024 * 1024  # bytes of a file
EXPECTED = "name a file of named hooks, such as ~/.gemini/config/hooks.json"
HINT = 'write {"guard": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}'
ALL = frozenset({"", "*"})


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    return parse(user_file(path), path, agents)


def parse(text: bytes, path: Path, agents: Sequence[str] = ()) -> SourceHooks:
    """The hooks of a text that is, or will be, at this path."""
    document = load_json(text, str(path), limit=SIZE)
    project = str(path.parents[1]) if path.parent.name == ".agents" else ""
    reader = SourceReader(document, agent_events(ID), agents=agents, project=project)
    with reader.entry():
        for name, events in reader.mapping((), document.value, HINT).items():
            if name != OWN:
                with reader.entry():
                    _named(reader, name, reader.mapping((name,), events, HINT))
    return reader.result()


def _named(reader: SourceReader, name: str, events: Mapping[str, Any]) -> None:
    off = f"`enabled: false` in `{name}`" if events.get("enabled") is False else ""
    for event, entries in events.items():
        if event == "enabled":
            continue
        with reader.entry():
            at: KeyPath = (name, event)
            reader.match(at, event)  # an unknown event is reported once, not for each of its hooks
            for index, entry in enumerate(reader.items(at, entries, HINT)):
                with reader.entry():
                    _entry(reader, event, (*at, index), reader.mapping((*at, index), entry, HINT), off)


def _entry(reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], off: str) -> None:
    """A group of hooks with one matcher, or a hook by itself."""
    if event not in TOOL_EVENTS:
        _handler(reader, event, "", at, fields, off)
        return
    matcher = reader.text(at, fields, "matcher")
    problem = pattern_problem(matcher, script=False) if matcher not in ALL else ""
    if problem:
        what = f"not a pattern, so it matches nothing: {problem}"
        reader.warn((*at, "matcher"), what, "escape signs with `\\`")
    off = off or ("its matcher matches nothing" if problem else "")
    for number, entry in enumerate(reader.items((*at, "hooks"), fields.get("hooks"), HINT)):
        with reader.entry():
            place = (*at, "hooks", number)
            tool = "" if problem or matcher in ALL else matcher
            _handler(reader, event, tool, place, reader.mapping(place, entry, HINT), off)


def _handler(reader: SourceReader, event: str, tool: str, at: KeyPath, fields: Mapping[str, Any], off: str) -> None:
    kind = reader.text(at, fields, "type") or "command"
    if kind != "command":
        raise reader.error(at, f"unknown type `{kind}`", "write `command`")
    folder = str(reader.path.parent)
    line = reader.command(at, fields)
    action = Command(line=line, folder=folder, interpreter="/bin/sh", shell=True, format=ID)  # noqa: S604 - the format
    reader.add(
        at,
        reader.match(at, event, tool=tool),
        action,
        timeout=reader.number(at, fields, "timeout") or TIMEOUT,
        # There, Antigravity takes anything but an answer for a refusal.
        failure=Failure.BLOCK if event == "PreToolUse" else Failure.ALLOW,
        inactive=off,
    )
