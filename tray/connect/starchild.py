"""Starchild: an entry for each event in the workspace's config/shell_hooks.yaml, which its user approves there.

hooks: [{event: pre_tool_call, command: "/bin/sh -c '[ -x … ] && exec … starchild pre_tool_call || …'", timeout: 20}]
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from tray.connect import line
from tray.connect.plan import Plan, Site, Wire, edited, reading, restored
from tray.connect.yaml_text import append, items, remove
from tray.dialects import DIALECTS
from tray.strict import load_yaml

AGENT = "starchild"
HOOKS = "shell_hooks.yaml"
SWITCH = "agent.yaml"


def settings(site: Site) -> Path:
    return workspace(site) / "config" / HOOKS


def workspace(site: Site) -> Path:
    """The one that was named; else the folder we are in, when it is one; else the usual one."""
    if site.workspace:
        return site.cwd / site.workspace
    is_one = any((site.cwd / "config" / name).exists() for name in (HOOKS, SWITCH))
    return site.cwd if is_one else site.home / "workspace"


def is_installed(site: Site) -> bool:
    return (workspace(site) / "config").is_dir()


def connect(site: Site) -> Plan:
    path, entries = settings(site), wanted(site.relay)
    change = edited(
        site,
        path,
        lambda: append(b"", str(path), "hooks", entries),
        lambda text: _add(text, str(path), entries),
        lambda text: _strip(text, str(path)),
    )
    paste = [f"/hooks approve {entry['event']} {entry['command']}" for entry in entries]
    notes = ("Starchild asks its user first. Type there:", *paste, "/hooks on")
    return Plan(changes=(change,) if change else (), notes=notes)


def disconnect(site: Site) -> Plan:
    path = settings(site)
    change = restored(site, AGENT, path, lambda text: _strip(text, str(path)))
    return Plan(changes=(change,) if change else ())


def wires(site: Site) -> tuple[Wire, ...]:
    path = settings(site)
    text = reading(path)
    found = [(entry, said) for entry in items(text, str(path), "hooks") if (said := _ours(entry))]
    return tuple(
        Wire(event=str(entry["event"]), argv=tuple(shlex.split(said[0])), place=str(path), home=said[1].home)
        for entry, said in found
    )


def trust(site: Site) -> str:
    """The host's own switch; which lines its user approved is not to be read from outside."""
    text = reading(workspace(site) / "config" / SWITCH)
    value = load_yaml(text, SWITCH).value if text.strip() else {}
    switch = value.get("shell_hooks") if isinstance(value, dict) else None
    if not isinstance(switch, dict) or switch.get("enabled") is not True:
        return f"off: `shell_hooks.enabled` in {SWITCH} is not true; type `/hooks on` there"
    return ""


def wanted(relay: tuple[str, ...]) -> list[dict[str, Any]]:
    """No shell reads the line there: it starts one itself, since exit 2 without a script would be a refusal."""
    return [
        {"event": event, "command": line.argv((*relay, AGENT, event)), "timeout": int(spec.timeout)}
        for event, spec in DIALECTS[AGENT].EVENTS.items()
    ]


def _add(text: bytes, path: str, entries: list[dict[str, Any]]) -> bytes:
    ours = [entry for entry in items(text, path, "hooks") if _ours(entry)]
    return text if ours == entries else append(_strip(text, path), path, "hooks", entries)


def _strip(text: bytes, path: str) -> bytes:
    return remove(text, path, "hooks", lambda entry: _ours(entry) is not None)


def _ours(entry: Any) -> tuple[str, line.Line] | None:
    """The line and what it says, when the entry is ours."""
    command = entry.get("command") if isinstance(entry, dict) else None
    said = line.parse(command) if isinstance(command, str) else None
    return (str(command), said) if said and said.agent == AGENT else None
