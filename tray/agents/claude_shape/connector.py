"""Connects a Claude-shaped agent: adds a matcher group for each event to its settings file.

"PreToolUse": [{"hooks": [{"type": "command", "command": "[ -x … ] && exec … || …", "timeout": 600}]}]
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

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
from tray.agents.connection import (
    PROBE_EVENT,
    EntryContent,
    Plan,
    RelayEntry,
    Site,
    connect_change,
    disconnect_change,
    read_or_empty,
)
from tray.edit.file_changes import File, FileState, resolve_links
from tray.edit.json_edit import JsonText, TextEdit, is_blank, new_document


class ShapedConnector(msgspec.Struct, frozen=True):
    """A Connector. An agent that differs in one function overrides it. `name` is what people call the agent."""

    shape: ClaudeShape
    file: SettingsFile
    name: str

    def folder(self, site: Site) -> Path:
        """The folder of the user's settings."""
        if not self.file.variable:
            return site.home / self.file.folder
        return site.folder(self.file.variable, self.file.folder)

    def settings_path(self, site: Site) -> Path:
        """The file that our groups go into."""
        return self.folder(site) / self.file.name

    def settings_paths(self, site: Site) -> tuple[Path, ...]:
        """The settings file, and other files that have groups of ours."""
        return (self.settings_path(site),)

    def is_installed(self, site: Site) -> bool:
        return self.folder(site).is_dir()

    def connect(self, site: Site) -> Plan:
        paths = self.settings_paths(site)
        changes = [connect_change(site, path, self) for path in paths]
        problems = tuple(filter(None, map(self.comment_problem, paths)))
        return Plan(changes=tuple(filter(None, changes)), notes=problems or (self.file.restart_hint,))

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

    def disconnect(self, site: Site) -> Plan:
        changes = [disconnect_change(site, self.shape.agent, path, self) for path in self.settings_paths(site)]
        return Plan(changes=tuple(filter(None, changes)))

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        desired = self.desired_groups(site.relay) if site.relay else {}
        return tuple(entry for path in self.settings_paths(site) for entry in self.entries_of(path, desired))

    def entries_of(self, path: Path, desired: Mapping[str, Any]) -> Iterator[RelayEntry]:
        """Our entries in one file."""
        text = read_or_empty(path)
        for handler in self._handlers(JsonText(text, str(path))) if not is_blank(text) else ():
            event = handler.event.key
            if command := parse_handler(handler.value, self.shape.agent):
                yield RelayEntry(
                    event=event,
                    argv=_argv(handler.value),
                    path=str(path),
                    state_folder=command.state_folder,
                    required_files=command.required_files,
                    up_to_date=event in desired and self._is_desired(handler, desired[event][0]),
                )

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        text = state.text if isinstance(state, File) else b""
        return tuple(
            EntryContent(event=one.event.key, handler=one.value, conditions=one.conditions)
            for one in (self._handlers(JsonText(text, str(path))) if not is_blank(text) else ())
            if self._is_ours(one)
        )

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (self.settings_path(site),)

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

    def desired_groups(self, relay: tuple[str, ...]) -> dict[str, Any]:
        """Our group for each event. The time-outs are the agent's limits; our deadlines are derived from them."""
        groups = {}
        for event, spec in self.shape.events.items():
            if event not in self.file.unconnected_events:
                command = self.command((*relay, self.shape.agent, event))
                handler = {
                    **({"type": "command"} if self.file.handler_types else {}),
                    **self.file.handler_fields,
                    **command,
                    self.file.timeout_key: self.file.in_file_units(spec.timeout),
                }
                groups[event] = [handler if self.file.is_flat else {"hooks": [handler]}]
        return groups

    def command(self, words: tuple[str, ...]) -> dict[str, Any]:
        """The part of a handler that starts the relay."""
        if sys.platform == "win32" and self.file.takes_args:  # a line would run in whichever shell the agent finds
            program, *rest = relay_command.cmd_argv(words)
            return {"command": program, "args": rest}
        return {"command": relay_command.shell_line(words)}

    def create(self, site: Site, path: Path) -> bytes:
        """The text of a new settings file."""
        groups, key = self._needed(site, self.desired_groups(site.relay)), self.file.key
        return new_document({**self.file.head, **({key: groups} if key else groups)})

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """The text with our groups, updated in their place."""
        if self._is_off(text, str(path)) and self._was_on(site, path):
            text = self._without_switch(text, str(path))
        groups = self.desired_groups(site.relay)
        return self._add(self._upgrade(text, str(path), groups), str(path), self._needed(site, groups))

    def _needed(self, site: Site, groups: Mapping[str, Any]) -> dict[str, Any]:
        return {event: group for event, group in groups.items() if site.needs(self.shape.agent, event)}

    def strip(self, text: bytes, path: Path) -> bytes:
        """The text without any entry of ours."""
        document = JsonText(text, str(path))
        ours = {index for index, handler in enumerate(self._handlers(document)) if self._is_ours(handler)}
        return remove_handlers(document, ours, self.file.key, is_flat=self.file.is_flat)

    def _add(self, text: bytes, path: str, groups: Mapping[str, Any]) -> bytes:
        """The text with our groups added for the events that have none."""
        document = JsonText(text, path)
        connected = {handler.event.key for handler in self._handlers(document) if self._is_ours(handler)}
        missing = {event: group for event, group in groups.items() if event not in connected}
        return add_groups(document, missing, self.file.key, is_flat=self.file.is_flat) if missing else text

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
            desired = groups[event][0]
            is_alike = self.file.is_flat or handler.conditions == _conditions(desired)
            if not is_alike and handler.is_shared:
                removed.add(index)  # `_add` writes a group of ours
                continue
            seen.add(event)
            if not is_alike:
                edits.append(document.replace(handler.group, desired))
            elif not self._is_desired(handler, desired):
                edits.append(document.replace(handler.handler, self._handler_in(desired)))
        if not edits and not removed:
            return text
        rest = JsonText(document.apply(edits), path)
        return remove_handlers(rest, removed, self.file.key, is_flat=self.file.is_flat)

    def _is_desired(self, handler: HandlerSpan, group: Mapping[str, Any]) -> bool:
        is_alike = self.file.is_flat or handler.conditions == _conditions(group)
        return is_alike and bool(handler.value == self._handler_in(group))

    def _handler_in(self, group: Mapping[str, Any]) -> Any:
        """The handler of a group that `desired_groups` made."""
        return group if self.file.is_flat else group["hooks"][0]

    def _handlers(self, document: JsonText) -> Iterator[HandlerSpan]:
        return handlers(document, self.file.key, is_flat=self.file.is_flat)

    def _is_ours(self, handler: HandlerSpan) -> bool:
        return parse_handler(handler.value, self.shape.agent) is not None


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
    command = handler["command"]
    return ("cmd.exe", "/d", "/c", *shlex.split(command)) if sys.platform == "win32" else ("/bin/sh", "-c", command)
