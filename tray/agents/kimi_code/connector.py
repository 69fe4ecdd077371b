"""Connects Kimi Code: a table for each event at the end of config.toml, whose other bytes stay.

[[hooks]]
event = 'PreToolUse'
command = '[ -x … ] && exec … kimi-code PreToolUse || …'
timeout = 600
"""

from __future__ import annotations

import shlex
import sys
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
    read_or_empty,
)
from tray.agents.kimi_code.protocol import CLIENT, CLIENTS, EVENTS, ID, NAME, SETTINGS
from tray.edit import toml_edit
from tray.edit.file_changes import File, FileState
from tray.errors import ConfigError

KEY = "hooks"
# Its events that Hooktray has no word for.
OTHER_EVENTS = frozenset({"PermissionResult", "SessionHeartbeat", "TaskStarted", "TurnStarted", "UserPromptQueued"})
FIELDS = ("event", "matcher", "command", "timeout")
LONGEST = 600  # seconds


class KimiConnector:
    """Connects Kimi Code, and edits our tables in the text of `config.toml`."""

    def settings_path(self, site: Site) -> Path:
        return folder(site) / SETTINGS.name

    def is_installed(self, site: Site) -> bool:
        return folder(site).is_dir()

    def connect(self, site: Site) -> Plan:
        change = connect_change(site, self.settings_path(site), self)
        off = self.trust(site).removeprefix("off: ")
        return Plan(
            changes=(change,) if change else (), notes=(SETTINGS.restart_hint,) if off == "trusted" else (off,)
        )

    def disconnect(self, site: Site) -> Plan:
        change = disconnect_change(site, ID, self.settings_path(site), self)
        return Plan(changes=(change,) if change else ())

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        path = self.settings_path(site)
        desired: Sequence[Any] = desired_tables(site.relay) if site.relay else ()
        return tuple(_entries(path, desired))

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        text = state.text if isinstance(state, File) else b""
        return tuple(
            EntryContent(
                event=str(table.get("event", "")),
                handler={key: table[key] for key in ("command", "timeout") if key in table},
                conditions={key: value for key, value in table.items() if key not in ("event", "command", "timeout")},
            )
            for table in toml_edit.tables(text, str(path), KEY)
            if parse_table(table)
        )

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (self.settings_path(site),)

    def trust(self, site: Site) -> str:
        """Kimi Code asks for no trust. One hook that it cannot read switches all hooks off, without a word."""
        path = self.settings_path(site)
        try:
            hooks = toml_edit.tables(read_or_empty(path), str(path), KEY)
        except ConfigError as error:
            return f"off: {NAME} runs no hook: {error.message}"
        for index, hook in enumerate(hooks):
            if problem := table_problem(hook):
                return (
                    f"off: {NAME} runs no hook because of one that it cannot read: {KEY}[{index}] in {path} {problem}"
                )
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {"hook_event_name": PROBE_EVENT, "session_id": session, "cwd": cwd, CLIENT: CLIENTS[0]}

    def create(self, site: Site, path: Path) -> bytes:
        return toml_edit.append(b"", str(path), KEY, _tables_for(site, ()))

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """The text with our tables, the last ones of the list."""
        connected = [table for table in toml_edit.tables(text, str(path), KEY) if parse_table(table)]
        desired = _tables_for(site, connected)
        return text if connected == desired else toml_edit.append(self.strip(text, path), str(path), KEY, desired)

    def strip(self, text: bytes, path: Path) -> bytes:
        """The text without any table of ours."""
        ours = [table for table in toml_edit.tables(text, str(path), KEY) if parse_table(table)]
        return toml_edit.remove(text, str(path), KEY, ours, keeps_comments=True)


def folder(site: Site) -> Path:
    return site.folder(SETTINGS.variable, SETTINGS.folder)


def desired_tables(relay: tuple[str, ...]) -> list[dict[str, str | int]]:
    return [
        {"event": event, "command": relay_command.shell_line((*relay, ID, event)), "timeout": int(spec.timeout)}
        for event, spec in EVENTS.items()
    ]


def _tables_for(site: Site, connected: Sequence[Mapping[str, Any]]) -> list[dict[str, str | int]]:
    """Our tables for the needed events, and for those that have one."""
    present = {table.get("event") for table in connected}
    return [one for one in desired_tables(site.relay) if one["event"] in present or site.needs(ID, str(one["event"]))]


def parse_table(table: Mapping[str, Any]) -> relay_command.RelayCommand | None:
    """The relay command of a table of ours."""
    command = table.get("command")
    relay = relay_command.parse(command) if isinstance(command, str) else None
    return relay if relay and relay.agent == ID else None


def _entries(path: Path, desired: Sequence[Any]) -> Iterator[RelayEntry]:
    for table in toml_edit.tables(read_or_empty(path), str(path), KEY):
        if relay := parse_table(table):
            yield RelayEntry(
                event=str(table.get("event", "")),
                argv=_argv(str(table["command"])),
                path=str(path),
                state_folder=relay.state_folder,
                required_files=relay.required_files,
                up_to_date=table in desired,
            )


def _argv(command: str) -> tuple[str, ...]:
    return ("cmd.exe", "/d", "/c", *shlex.split(command)) if sys.platform == "win32" else ("/bin/sh", "-c", command)


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


CONNECTOR = KimiConnector()
