"""Connects Antigravity: the named hook `hooktray` in the file that its command line and its desktop app share.

~/.gemini/config/hooks.json: {"hooktray": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", …}]}],
                                           "Stop": [{"type": "command", "command": "[ -x … ] && … || { …; }"}]}}
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import (
    EntryContent,
    Plan,
    RelayEntry,
    Site,
    connect_change,
    disconnect_change,
    read_or_empty,
)
from tray.agents.google_antigravity.protocol import EVENTS, ID, TOOL_EVENTS, UNCONNECTED_EVENTS, neutral
from tray.edit.file_changes import File, FileState
from tray.edit.json_edit import OBJECT_HINT, JsonText, is_blank, new_document
from tray.errors import HooktrayError

OWN = "hooktray"  # the name of our hook: no other tool writes below it
RESTART_HINT = "Restart Antigravity: it reads the file when it starts, and `/hooks` shows what it found."


class AntigravityConnector:
    """Connects Antigravity, and edits our named hook in the text of `hooks.json`."""

    def settings_path(self, site: Site) -> Path:
        return site.home / ".gemini" / "config" / "hooks.json"

    def is_installed(self, site: Site) -> bool:
        folder = site.home / ".gemini"
        return any((folder / name).is_dir() for name in ("antigravity", "antigravity-cli", "config"))

    def connect(self, site: Site) -> Plan:
        change = connect_change(site, self.settings_path(site), self)
        return Plan(changes=(change,) if change else (), notes=(RESTART_HINT,))

    def disconnect(self, site: Site) -> Plan:
        change = disconnect_change(site, ID, self.settings_path(site), self)
        return Plan(changes=(change,) if change else ())

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        path = self.settings_path(site)
        own = desired(site.relay) if site.relay else {}
        wanted = list(handlers(own))
        return tuple(
            RelayEntry(
                event=event,
                argv=_argv(handler["command"]),
                path=str(path),
                state_folder=command.state_folder,
                required_files=command.required_files,
                up_to_date=(event, handler) in wanted,
            )
            for event, handler, command in _ours(_named(read_or_empty(path), path))
        )

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        named = _named(state.text if isinstance(state, File) else b"", path)
        switch = {"enabled": named["enabled"]} if isinstance(named, dict) and "enabled" in named else {}
        return tuple(
            EntryContent(event=event, handler=handler, conditions=switch) for event, handler, _ in _ours(named)
        )

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (self.settings_path(site),)

    def trust(self, site: Site) -> str:
        """A named hook runs unless it is switched off."""
        path = self.settings_path(site)
        named = _named(read_or_empty(path), path)
        if isinstance(named, dict) and named.get("enabled") is False:
            return f"off: Antigravity runs no hook of Hooktray's: take `enabled` out of `{OWN}` in {path}"
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        """Of a call of the model; its payloads name no event."""
        return {"conversationId": session, "workspacePaths": [cwd], "artifactDirectoryPath": "", "modelName": ""}

    def create(self, site: Site, path: Path) -> bytes:
        return new_document({OWN: _needed(site, None)})

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """The text with our named hook as it is today."""
        document = _document(text, path)
        span = document.member(document.root, OWN)
        present = _value(document)[OWN] if span else None
        own = _needed(site, present)
        if span is None:
            return document.apply(document.add(document.root, [(OWN, own)]))
        _refuse_others(document, present)
        return text if present == own else document.apply([document.replace(span, own)])

    def strip(self, text: bytes, path: Path) -> bytes:
        """The text without our named hook."""
        document = _document(text, path)
        span = document.member(document.root, OWN)
        if span is None or not any(_ours(_value(document)[OWN])):
            return text
        _refuse_others(document, _value(document)[OWN])
        return document.apply(document.remove(document.root, [span]))


def desired(relay: tuple[str, ...]) -> dict[str, Any]:
    """Our named hook. Each line answers by itself when Hooktray is gone, because a wrong answer refuses the call."""
    events: dict[str, Any] = {}
    for event, spec in EVENTS.items():
        if event not in UNCONNECTED_EVENTS:
            line = relay_command.answering_line((*relay, ID, event), neutral(event, b"").stdout)
            handler = {"type": "command", "command": line, "timeout": int(spec.timeout)}
            events[event] = [{"matcher": "*", "hooks": [handler]} if event in TOOL_EVENTS else handler]
    return events


def _needed(site: Site, present: Any) -> dict[str, Any]:
    """Our named hook with the needed events, and with those that it has."""
    connected = {event for event, _, _ in _ours(present)}
    return {event: one for event, one in desired(site.relay).items() if event in connected or site.needs(ID, event)}


def _value(document: JsonText) -> Any:
    """The named hooks."""
    return document.value


def _document(text: bytes, path: Path) -> JsonText:
    document = JsonText(text, str(path))
    if not document.is_at(document.root, "{"):
        raise document.error(document.root, "expected an object of named hooks", OBJECT_HINT)
    return document


def _refuse_others(document: JsonText, named: Any) -> None:
    """Raises HooktrayError if other hooks are below our name."""
    others = [handler for _, handler in handlers(named) if not _command(handler)]
    if others:
        hint = f"give them another name than `{OWN}` and try again; nothing was written"
        raise HooktrayError(f"{document.path}: `{OWN}` holds hooks that are not Hooktray's", hint=hint)


def handlers(named: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each handler of a named hook, with its event."""
    for event, entries in named.items() if isinstance(named, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            found = inner if isinstance(inner, list) else [entry]
            yield from ((event, each) for each in found if isinstance(each, dict))


def _ours(named: Any) -> Iterator[tuple[str, Mapping[str, Any], relay_command.RelayCommand]]:
    for event, handler in handlers(named):
        if command := _command(handler):
            yield event, handler, command


def _command(handler: Mapping[str, Any]) -> relay_command.RelayCommand | None:
    line = handler.get("command")
    command = relay_command.parse(line) if isinstance(line, str) else None
    return command if command and command.agent == ID else None


def _named(text: bytes, path: Path) -> Any:
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    return value.get(OWN) if isinstance(value, dict) else None


def _argv(line: str) -> tuple[str, ...]:
    return ("cmd.exe", "/d", "/c", *shlex.split(line)) if sys.platform == "win32" else ("/bin/sh", "-c", line)


CONNECTOR = AntigravityConnector()
