"""Reads Cursor's hooks.

{"version": 1, "hooks": {"beforeShellExecution": [
    {"command": "./hooks/guard.sh", "matcher": "curl|wget", "timeout": 10, "failClosed": true}]}}
"""

from __future__ import annotations

from typing import Any

import regex

from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.cursor.connector import FILE, SHAPE
from tray.agents.cursor.events import EVENTS, MCP, NAME, SHELL
from tray.model.hook import Action, Command, Failure
from tray.reading.entries import KeyPath, SourceReader, pattern_problem
from tray.settings import invalid_value

ALL = frozenset({"", "*"})
# What the tool of an event is called, and whether the event's own matcher looks at the command instead.
TOOLS = {
    "afterFileEdit": "^Write$",
    "afterMCPExecution": f"^(?:{MCP}|mcp__)",
    "afterShellExecution": f"^{SHELL}$",
    "beforeMCPExecution": f"^(?:{MCP}|mcp__)",
    "beforeReadFile": "^Read$",
    "beforeShellExecution": f"^{SHELL}$",
    "beforeTabFileRead": "^Read$",
}
BY_COMMAND = frozenset({"afterShellExecution", "beforeShellExecution"})
HINT = 'write [{"command": "./guard.sh"}]'


class CursorReader(ShapedReader):
    """A HookReader. What each event's matcher looks at differs."""

    def __init__(self) -> None:
        super().__init__(SHAPE, FILE, NAME)

    def read_event(self, reader: SourceReader, event: str, at: KeyPath, groups: Any) -> None:
        reader.match(at, event)  # an unknown event is reported once, not for each of its hooks
        for index, entry in enumerate(reader.items(at, groups, HINT)):
            with reader.entry():
                self._entry(reader, event, (*at, index), entry)

    def _entry(self, reader: SourceReader, event: str, at: KeyPath, entry: Any) -> None:
        fields = reader.mapping(at, entry, HINT)
        matcher = reader.text(at, fields, "matcher")
        problem = pattern_problem(matcher, script=True) if matcher not in ALL else ""
        if problem:
            what = f"not a pattern, so it matches nothing: {problem}"
            reader.warn((*at, "matcher"), what, "escape signs with `\\`")
        wanted = "" if problem or matcher in ALL else matcher
        tool, pattern = _matched(event, wanted)
        action, unsupported = self._action(reader, at, fields)
        reader.add(
            at,
            reader.match(at, event, tool=tool, pattern=pattern),
            action,
            timeout=reader.number(at, fields, "timeout") or self.default_timeout(event, "command"),
            failure=Failure.BLOCK if reader.flag(at, fields, "failClosed") else Failure.ALLOW,
            inactive="its matcher matches nothing" if problem else unsupported,
        )

    def _action(self, reader: SourceReader, at: KeyPath, fields: Any) -> tuple[Action, str]:
        kind = reader.text(at, fields, "type") or "command"
        if kind not in ("command", "prompt"):
            raise invalid_value(reader.document, at, f"unknown type `{kind}`", "write `command` or `prompt`")
        if kind == "prompt":
            folder = self.project(reader.path) or str(reader.path.parent)
            return Command(line=kind, folder=folder), "hooks of the type `prompt` are not in this version"
        return self.command(reader, at, fields), ""


def _matched(event: str, matcher: str) -> tuple[str, str]:
    """The pattern for the tool's name, and the one for the command's text."""
    if event in BY_COMMAND:
        return TOOLS[event], matcher
    if event in TOOLS and not matcher:
        return TOOLS[event], ""
    return (matcher if EVENTS[event].subject else ""), ""


def sees_commands(matcher: str) -> bool:
    """Whether a matcher of preToolUse may mean a command or an MCP tool."""
    try:
        return matcher in ALL or any(regex.search(matcher, name, timeout=0.05) for name in (SHELL, f"{MCP}x"))
    except (TimeoutError, regex.error):
        return True


READER = CursorReader()
