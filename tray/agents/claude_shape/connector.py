"""Connects a Claude-shaped agent: adds a matcher group for each event to its settings file.

"PreToolUse": [{"hooks": [{"type": "command", "command": "[ -x … ] && exec … || …", "timeout": 600}]}]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.settings_text import (
    HandlerSpan,
    add_groups,
    handlers,
    parse_handler,
    remove_handlers,
)
from tray.agents.claude_shape.shape import ClaudeShape
from tray.agents.connection import PROBE_EVENT, Site, read_or_empty
from tray.agents.settings_connector import OwnEntry, SettingsConnector
from tray.edit.file_changes import File, resolve_links
from tray.edit.json_edit import JsonText, TextEdit, is_blank, new_document


class ShapedConnector(SettingsConnector, frozen=True):
    """A Connector. An agent that differs in one function overrides it. `name` is what people call the agent."""

    shape: ClaudeShape
    file: SettingsFile
    name: str

    @property
    def agent(self) -> str:
        return self.shape.agent

    def folder(self, site: Site) -> Path:
        """The folder of the user's settings."""
        if not self.file.variable:
            return site.home / self.file.folder
        return site.folder(self.file.variable, self.file.folder)

    def settings_path(self, site: Site) -> Path:
        return self.folder(site) / self.file.name

    def is_installed(self, site: Site) -> bool:
        return self.folder(site).is_dir()

    def notes(self, site: Site) -> tuple[str, ...]:
        problems = filter(None, map(self.comment_problem, self.settings_paths(site)))
        return tuple(problems) or (self.file.restart_hint,)

    def _was_on(self, site: Site, path: Path) -> bool:
        """Whether the file did not turn hooks off when we wrote it: a switch that came later goes with `connect`."""
        backup = site.backups.get(resolve_links(path))
        written = backup.after if backup else None
        return isinstance(written, File) and not self._is_off(written.text, str(path))

    def _is_off(self, text: bytes, path: str) -> bool:
        if not self.file.off_switch or is_blank(text):
            return False
        return self.file.is_off(JsonText(text, path).value)

    def _without_switch(self, text: bytes, path: str) -> bytes:
        document = JsonText(text, path)
        *outer, switch = self.file.off_switch.split(".")
        inside = document.root
        for name in outer:
            above = document.member(inside, name)
            inside = above.value if above else inside
        span = document.member(inside, switch)
        return document.apply(document.remove(inside, [span] if span else []))

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        for one in self._handlers(JsonText(text, str(path))) if not is_blank(text) else ():
            if command := parse_handler(one.value, self.agent):
                yield OwnEntry(
                    event=one.event.key,
                    value=one.value if self.file.is_flat else {**one.conditions, "hooks": [one.value]},
                    command=command,
                    argv=_argv(one.value),
                    handler=one.value,
                    conditions=one.conditions,
                )

    def trust(self, site: Site) -> str:
        path = self.settings_path(site)
        if problem := self.comment_problem(path):
            return f"off: {problem}"
        return self.switch_reason(path)

    def switch_reason(self, path: Path) -> str:
        """Says that this file turns all hooks off, and what to do; "" when it does not."""
        if self.file.is_off(read_object(path)):
            return f"off: {self.name} runs no hook: take `{self.file.off_switch}` out of {path}"
        return ""

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        keys = self.shape.keys
        return {keys.session: session, keys.cwd: cwd, keys.event: PROBE_EVENT}

    def comment_problem(self, path: Path) -> str:
        """Where the file has a comment, if the agent ignores a file with comments; else ""."""
        text = b"" if self.file.takes_comments else read_or_empty(path)
        line = JsonText(text, str(path)).first_comment_line if not is_blank(text) else 0
        return f"{self.name} reads no settings with comments: remove the one in {path}:{line}" if line else ""

    def desired(self, relay: tuple[str, ...]) -> dict[str, Any]:
        """Our group for each event. The time-outs are the agent's limits; our deadlines are derived from them."""
        groups = {}
        for event, spec in self.shape.events.items():
            if event not in self.file.unconnected_events:
                handler = {
                    **({"type": "command"} if self.file.handler_types else {}),
                    **self.file.handler_fields,
                    **self.command((*relay, self.agent, event)),
                    self.file.timeout_key: self.file.in_file_units(spec.timeout),
                }
                groups[event] = handler if self.file.is_flat else {"hooks": [handler]}
        return groups

    def command(self, words: tuple[str, ...]) -> dict[str, Any]:
        """The part of a handler that starts the relay."""
        if sys.platform == "win32" and self.file.takes_args:  # a line would run in whichever shell the agent finds
            program, *rest = relay_command.cmd_argv(words)
            return {"command": program, "args": rest}
        return {"command": relay_command.shell_line(words)}

    def create(self, site: Site, path: Path) -> bytes:
        groups = {event: [group] for event, group in self.needed(site, self.desired(site.relay)).items()}
        return new_document({**self.file.head, **({self.file.key: groups} if self.file.key else groups)})

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """The text with our groups, updated in their place."""
        if self._is_off(text, str(path)) and self._was_on(site, path):
            text = self._without_switch(text, str(path))
        groups = self.desired(site.relay)
        text = self._upgrade(text, str(path), groups)
        connected = {one.event for one in self.own_entries(text, path)}
        missing = {event: [one] for event, one in self.needed(site, groups).items() if event not in connected}
        if not missing:
            return text
        return add_groups(JsonText(text, str(path)), missing, self.file.key, is_flat=self.file.is_flat)

    def strip(self, text: bytes, path: Path) -> bytes:
        document = JsonText(text, str(path))
        ours = {index for index, handler in enumerate(self._handlers(document)) if self._is_ours(handler)}
        return remove_handlers(document, ours, self.file.key, is_flat=self.file.is_flat)

    def _upgrade(self, text: bytes, path: str, groups: Mapping[str, Any]) -> bytes:
        """The text with our entries updated in place, and without duplicates and entries of left-out events."""
        document, seen, removed = JsonText(text, path), set[str](), set[int]()
        edits: list[TextEdit] = []
        for index, handler in enumerate(self._handlers(document)):
            event = handler.event.key
            if not self._is_ours(handler):
                continue
            if event in seen or event not in groups:
                removed.add(index)
                continue
            group = groups[event]
            is_alike = self.file.is_flat or handler.conditions == _conditions(group)
            if not is_alike and handler.is_shared:
                removed.add(index)  # `add` writes Hooktray's own group
                continue
            seen.add(event)
            desired = group if self.file.is_flat else group["hooks"][0]
            if not is_alike:
                edits.append(document.replace(handler.group, group))
            elif handler.value != desired:
                edits.append(document.replace(handler.handler, desired))
        if not edits and not removed:
            return text
        rest = JsonText(document.apply(edits), path)
        return remove_handlers(rest, removed, self.file.key, is_flat=self.file.is_flat)

    def _handlers(self, document: JsonText) -> Iterator[HandlerSpan]:
        return handlers(document, self.file.key, is_flat=self.file.is_flat)

    def _is_ours(self, handler: HandlerSpan) -> bool:
        return parse_handler(handler.value, self.agent) is not None


def _conditions(group: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key != "hooks"}


def read_object(path: Path) -> Mapping[str, Any]:
    """The object that the file holds; empty when there is none."""
    text = read_or_empty(path)
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    return value if isinstance(value, dict) else {}


def _argv(handler: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(handler.get("args"), list):
        return (handler["command"], *handler["args"])
    return relay_command.shell_argv(handler["command"])
