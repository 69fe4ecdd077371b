"""Connects Starchild, and imports its hooks. Its user approves the entries, which are in a file of the workspace.

config/shell_hooks.yaml:
hooks: [{event: pre_tool_call, command: "/bin/sh -c '[ -x … ] && exec … starchild || …'", timeout: 120}, …]

All entries have the same command, which reads the event from the payload: Starchild approves a command for all events
that the file has it for. Its approval is a POST of {"command": …} to an address that only its own machine reaches.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import PROBE_EVENT, Extracted, HookCheck, Site, read_or_empty
from tray.agents.list_entries import KEY, ListConnector, ListImporter
from tray.agents.settings_import import UNSUPPORTED
from tray.agents.starchild.protocol import AGENT, EVENTS
from tray.agents.starchild.source import WORKSPACE, parse
from tray.edit import yaml_edit
from tray.edit.yaml_edit import append, items, verbatim_items
from tray.errors import HooktrayError
from tray.strict.yaml_reader import load_yaml

HOOKS_FILE = "shell_hooks.yaml"
SWITCH_FILE = "agent.yaml"
APPROVAL_URL = "http://localhost:8000/internal/runtime/hooks/approve"  # of Starchild; it turns its switch on as well


class StarchildConnector(ListConnector, frozen=True, kw_only=True):
    """Connects the user's workspace, or the one that `hooktray connect` names."""

    def settings_path(self, site: Site) -> Path:
        return workspace(site) / "config" / HOOKS_FILE

    def settings_paths(self, site: Site) -> tuple[Path, ...]:
        """The workspace's; unless one was named, all others that we wrote too."""
        own = self.settings_path(site)
        return (own,) if site.workspace or site.scope else (own, *self.other_paths(site))

    def command(self, relay: tuple[str, ...], event: str) -> str:
        """Returns a command that starts a shell, as Starchild uses none: without it, a missing relay would refuse."""
        return relay_command.exec_line((*relay, AGENT))

    def argv(self, command: str) -> tuple[str, ...]:
        return tuple(shlex.split(command))

    def needed(self, site: Site, entries: Mapping[str, Any], present: frozenset[str] = frozenset()) -> dict[str, Any]:
        """All of our entries: Starchild's user approves an event when it gets its entry, so none comes later."""
        return dict(entries)

    def notes(self, site: Site) -> tuple[str, ...]:
        body = shlex.quote(json.dumps({"command": self.command(site.relay, "")}, ensure_ascii=False))
        older = "type `/hooks approve EVENT COMMAND` there for each entry of the file, then `/hooks on`"
        return (
            "Starchild runs the entries once you have approved them. Paste this line into a terminal on its machine:",
            f"curl -s -X POST {APPROVAL_URL} -H 'Content-Type: application/json' -d {body}",
            f'It answers {{"ok": true}}. A Starchild that answers 404 is older: {older}.',
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


class StarchildImporter(ListImporter, frozen=True):
    """Moves the entries of `shell_hooks.yaml`."""

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        if hooks_enabled(site) is False:
            hint = "`/hooks on` there switches them on"
            raise HooktrayError(f"{path}: Starchild runs none of its hooks as it stands", hint=hint)
        return super().extract(site, text, path, import_path, check)

    def written(self, site: Site, text: bytes, entries: Sequence[Any], import_path: Path) -> bytes:
        head = f"{WORKSPACE}: {json.dumps(str(workspace(site)), ensure_ascii=False)}\n"
        return append(head.encode(), str(import_path), KEY, verbatim_items(text, KEY, entries))

    def stay_reason(self, site: Site, text: bytes, entry: Any, import_path: Path, check: HookCheck) -> str:
        document = {WORKSPACE: str(workspace(site)), KEY: [entry]}
        source = parse(json.dumps(document, ensure_ascii=False).encode(), import_path)
        if source.warnings or len(source.hooks) != 1:
            return UNSUPPORTED
        return check.problem(source.hooks[0])

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        moved = items(imported, str(import_path), KEY)  # its error names the place that cannot be read
        return append(text, str(path), KEY, verbatim_items(imported, KEY, moved))


def workspace(site: Site) -> Path:
    """The one that was named; else the folder we are in, when it is one; else the usual one."""
    if site.workspace:
        return site.cwd / site.workspace
    is_one = any((site.cwd / "config" / name).exists() for name in (HOOKS_FILE, SWITCH_FILE))
    return site.cwd if is_one else site.home / "workspace"


def hooks_enabled(site: Site) -> bool | None:
    """The host's own switch; None where it is not set."""
    path = workspace(site) / "config" / SWITCH_FILE
    text = read_or_empty(path)
    value = load_yaml(text, str(path)).value if text.strip() else {}
    section = value.get("shell_hooks") if isinstance(value, dict) else None
    enabled = section.get("enabled") if isinstance(section, dict) else None
    return enabled if isinstance(enabled, bool) else None


CONNECTOR = StarchildConnector(agent=AGENT, editor=yaml_edit, events=EVENTS)
IMPORTER = StarchildImporter(agent=AGENT, file_name=HOOKS_FILE, connector=CONNECTOR)
