"""Starchild: an entry for each event in the workspace's config/shell_hooks.yaml, which its user approves there.

hooks: [{event: pre_tool_call, command: "/bin/sh -c '[ -x … ] && exec … starchild || …'", timeout: 120}, …]

All entries have the same command, which reads the event from the payload: Starchild approves a command for all events
that the file has it for. Its approval is a POST of {"command": …} to an address that only its own machine reaches.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import (
    PROBE_EVENT,
    EntryContent,
    Plan,
    RelayEntry,
    Site,
    connect_change,
    disconnect_change,
    other_files,
    read_or_empty,
)
from tray.agents.starchild.protocol import AGENT, EVENTS
from tray.edit.file_changes import File, FileState
from tray.edit.yaml_edit import append, items, remove
from tray.strict.yaml_reader import load_yaml

HOOKS_FILE = "shell_hooks.yaml"
SWITCH_FILE = "agent.yaml"
APPROVAL_URL = "http://localhost:8000/internal/runtime/hooks/approve"  # of Starchild; it turns its switch on as well
HANDLER_KEYS = ("command", "timeout")


class StarchildConnector:
    """Connects Starchild, and edits our entries in the text of `shell_hooks.yaml`."""

    def settings_path(self, site: Site) -> Path:
        return workspace(site) / "config" / HOOKS_FILE

    def settings_paths(self, site: Site) -> tuple[Path, ...]:
        """The workspace's; unless one was named, all others that we wrote too."""
        own = self.settings_path(site)
        others = () if site.workspace or site.scope else other_files(site, AGENT, own)
        return (own, *(path for path in others if any(_relay_entries(path, ()))))

    def is_installed(self, site: Site) -> bool:
        return (workspace(site) / "config").is_dir()

    def connect(self, site: Site) -> Plan:
        changes = [connect_change(site, path, self) for path in self.settings_paths(site)]
        command = str(desired_entries(site.relay)[0]["command"])
        return Plan(changes=tuple(filter(None, changes)), notes=_approval_notes(command))

    def disconnect(self, site: Site) -> Plan:
        changes = [disconnect_change(site, AGENT, path, self) for path in self.settings_paths(site)]
        return Plan(changes=tuple(filter(None, changes)))

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        desired = desired_entries(site.relay) if site.relay else []
        return tuple(entry for path in self.settings_paths(site) for entry in _relay_entries(path, desired))

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        entries: list[Any] = items(state.text if isinstance(state, File) else b"", str(path), "hooks")
        return tuple(
            EntryContent(
                event=str(entry.get("event", "")),
                handler={key: entry[key] for key in HANDLER_KEYS if key in entry},
                conditions={key: value for key, value in entry.items() if key not in HANDLER_KEYS},
            )
            for entry in entries
            if parse_entry(entry)
        )

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (workspace(site) / "config" / SWITCH_FILE,)

    def trust(self, site: Site) -> str:
        """The host's own switch; which entries its user approved cannot be read from outside."""
        if hooks_enabled(site) is not True:
            path = workspace(site) / "config" / SWITCH_FILE
            return f"off: type `/hooks on` in Starchild: `shell_hooks.enabled` in {path} is not true"
        return ""

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {"event": PROBE_EVENT, "session_id": session, "cwd": cwd}

    def create(self, site: Site, path: Path) -> bytes:
        return append(b"", str(path), "hooks", desired_entries(site.relay))

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """The text with our entries, the last ones of the list."""
        entries = desired_entries(site.relay)
        connected = [entry for entry in items(text, str(path), "hooks") if parse_entry(entry)]
        return text if connected == entries else append(self.strip(text, path), str(path), "hooks", entries)

    def strip(self, text: bytes, path: Path) -> bytes:
        """The text without any entry of ours."""
        ours = [entry for entry in items(text, str(path), "hooks") if parse_entry(entry)]
        return remove(text, str(path), "hooks", ours, keeps_comments=True)


def workspace(site: Site) -> Path:
    """The one that was named; else the folder we are in, when it is one; else the usual one."""
    if site.workspace:
        return site.cwd / site.workspace
    is_one = any((site.cwd / "config" / name).exists() for name in (HOOKS_FILE, SWITCH_FILE))
    return site.cwd if is_one else site.home / "workspace"


def _approval_notes(command: str) -> tuple[str, ...]:
    body = shlex.quote(json.dumps({"command": command}, ensure_ascii=False))
    older = "type `/hooks approve EVENT COMMAND` there for each entry of the file, then `/hooks on`"
    return (
        "Starchild runs the entries once you have approved them. Paste this line into a terminal on its machine:",
        f"curl -s -X POST {APPROVAL_URL} -H 'Content-Type: application/json' -d {body}",
        f'It answers {{"ok": true}}. A Starchild that answers 404 is older: {older}.',
    )


def _relay_entries(path: Path, desired: Sequence[Any]) -> Iterator[RelayEntry]:
    entries: list[Any] = items(read_or_empty(path), str(path), "hooks")
    for entry in entries:
        if parsed := parse_entry(entry):
            line, command = parsed
            yield RelayEntry(
                event=str(entry["event"]),
                argv=tuple(shlex.split(line)),
                path=str(path),
                state_folder=command.state_folder,
                required_files=command.required_files,
                up_to_date=entry in desired,
            )


def hooks_enabled(site: Site) -> bool | None:
    """The host's own switch; None where it is not set."""
    path = workspace(site) / "config" / SWITCH_FILE
    text = read_or_empty(path)
    value = load_yaml(text, str(path)).value if text.strip() else {}
    section = value.get("shell_hooks") if isinstance(value, dict) else None
    enabled = section.get("enabled") if isinstance(section, dict) else None
    return enabled if isinstance(enabled, bool) else None


def desired_entries(relay: tuple[str, ...]) -> list[dict[str, Any]]:
    """No shell reads the command there: it starts one itself, since exit 2 without a script would be a refusal."""
    command = relay_command.exec_line((*relay, AGENT))
    return [{"event": event, "command": command, "timeout": int(spec.timeout)} for event, spec in EVENTS.items()]


def parse_entry(entry: Any) -> tuple[str, relay_command.RelayCommand] | None:
    """The command line and the relay command in it, when the entry is ours."""
    command = entry.get("command") if isinstance(entry, dict) else None
    relay = relay_command.parse(command) if isinstance(command, str) else None
    return (str(command), relay) if relay and relay.agent == AGENT else None


CONNECTOR = StarchildConnector()
