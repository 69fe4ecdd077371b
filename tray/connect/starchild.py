"""Starchild: an entry for each event in the workspace's config/shell_hooks.yaml, which its user approves there.

hooks: [{event: pre_tool_call, command: "/bin/sh -c '[ -x … ] && exec … starchild pre_tool_call || …'", timeout: 20}]
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tray.connect import line
from tray.connect.edit import Change
from tray.connect.plan import PROBED, Plan, Site, Wire, edited, others_written, reading, restored
from tray.connect.yaml_text import append, items, remove
from tray.dialects import DIALECTS
from tray.strict import load_yaml

AGENT = "starchild"
NAME = "Starchild"
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
    entries = wanted(site.relay)
    changes = [_edited(site, path, entries) for path in _meant(site)]
    paste = [f"/hooks approve {entry['event']} {entry['command']}" for entry in entries]
    notes = ("Starchild asks its user first. Type there:", *paste, "/hooks on")
    return Plan(changes=tuple(filter(None, changes)), notes=notes)


def _edited(site: Site, path: Path, entries: list[dict[str, Any]]) -> Change | None:
    return edited(
        site,
        path,
        lambda: append(b"", str(path), "hooks", entries),
        lambda text: _add(text, str(path), entries),
        lambda text: _strip(text, str(path)),
    )


def disconnect(site: Site) -> Plan:
    found = [restored(site, AGENT, path, partial(_strip, path=str(path))) for path in _meant(site)]
    return Plan(changes=tuple(filter(None, found)))


def wires(site: Site) -> tuple[Wire, ...]:
    today = wanted(site.relay) if site.relay else []
    return tuple(wire for path in _meant(site) for wire in _wires(path, today))


def _wires(path: Path, today: Sequence[Any]) -> Iterator[Wire]:
    for entry in items(reading(path), str(path), "hooks"):
        if found := ours(entry):
            words, said = found
            yield Wire(
                event=str(entry["event"]),
                argv=tuple(shlex.split(words)),
                place=str(path),
                state=said.state,
                needs=said.needs,
                current=entry in today,
            )


def _meant(site: Site) -> tuple[Path, ...]:
    """The workspace's; unless one was named, whichever others we wrote too."""
    own = settings(site)
    others = () if site.workspace or site.scope else others_written(site, AGENT, own)
    return (own, *(path for path in others if any(_wires(path, ()))))


def trust(site: Site) -> str:
    """The host's own switch; which lines its user approved is not to be read from outside."""
    if switch(site) is not True:
        there = workspace(site) / "config" / SWITCH
        return f"off: type `/hooks on` in Starchild: `shell_hooks.enabled` in {there} is not true"
    return ""


def probe(session: str, cwd: str) -> Mapping[str, Any]:
    return {"event": PROBED, "session_id": session, "cwd": cwd}


def switch(site: Site) -> bool | None:
    """The host's own switch; None where it says nothing."""
    text = reading(workspace(site) / "config" / SWITCH)
    value = load_yaml(text, SWITCH).value if text.strip() else {}
    found = value.get("shell_hooks") if isinstance(value, dict) else None
    enabled = found.get("enabled") if isinstance(found, dict) else None
    return enabled if isinstance(enabled, bool) else None


def wanted(relay: tuple[str, ...]) -> list[dict[str, Any]]:
    """No shell reads the line there: it starts one itself, since exit 2 without a script would be a refusal."""
    return [
        {"event": event, "command": line.argv((*relay, AGENT, event)), "timeout": int(spec.timeout)}
        for event, spec in DIALECTS[AGENT].EVENTS.items()
    ]


def _add(text: bytes, path: str, entries: list[dict[str, Any]]) -> bytes:
    there = [entry for entry in items(text, path, "hooks") if ours(entry)]
    return text if there == entries else append(_strip(text, path), path, "hooks", entries)


def _strip(text: bytes, path: str) -> bytes:
    return remove(text, path, "hooks", lambda entry: ours(entry) is not None)


def ours(entry: Any) -> tuple[str, line.Line] | None:
    """The line and what it says, when the entry is ours."""
    command = entry.get("command") if isinstance(entry, dict) else None
    said = line.parse(command) if isinstance(command, str) else None
    return (str(command), said) if said and said.agent == AGENT else None
