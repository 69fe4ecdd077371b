"""A user's home with an agent's files in it, for connectors to work on."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents.connection import RelayEntry, Site
from tray.agents.registry import AGENTS
from tray.approvals.checks import ImportCheck
from tray.connect import apply_connect, apply_disconnect, connectors, hook_import
from tray.model.hook import Hook
from tray.paths import locate

RELAY = ("/opt/hooktray/bin/hooktray-hook", "--home", "/home/you/h")


class NoProblem:
    """Stands in for the check of hooks that are imported: each of them can run."""

    def problem(self, hook: Hook) -> str:
        return ""


class Person:
    """One user, who connects and disconnects one agent."""

    def __init__(self, root: Path, agent: str = "claude-code", **keys: Any) -> None:
        self.agent = agent
        self.home = root / "home"
        self.project = root / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        paths = locate(str(root / "h"))
        paths.prepare()
        self.site = Site(
            paths=paths, relay=RELAY, home=self.home, cwd=self.project, now="2026-11-21T07:00:00.000Z", **keys
        )

    def connect(self, relay: tuple[str, ...] = RELAY) -> int:
        """How many files were written."""
        self.site = replace(self.site, relay=relay)
        plan = connectors()[self.agent].connect(self.site)
        apply_connect(self.site, self.agent, plan)
        return len(plan.changes)

    def disconnect(self) -> int:
        plan = connectors()[self.agent].disconnect(self.site)
        apply_disconnect(self.site, self.agent, plan)
        return len(plan.changes)

    def import_hooks(self) -> tuple[str, ...]:
        """What the user is told of what moved."""
        plan = hook_import.import_hooks(self.site, self.agent, ImportCheck())
        apply_connect(self.site, self.agent, plan)
        return plan.notes

    def undo_import(self) -> None:
        plan = hook_import.undo_import(self.site, self.agent)
        apply_disconnect(self.site, self.agent, plan)

    def relay_entries(self) -> tuple[RelayEntry, ...]:
        return connectors()[self.agent].relay_entries(self.site)


def own_agent_of_kiro(home: Path) -> None:
    """Kiro has hooks only in files that its user made."""
    file = home / ".kiro" / "agents" / "own.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")


OTHER_RELAY = ("/elsewhere/hooktray-hook", *RELAY[1:])
OPERATIONS: Mapping[str, Callable[[Person], object]] = {
    "connect": Person.connect,
    "disconnect": Person.disconnect,
    "import": Person.import_hooks,
    "reconnect": lambda person: person.connect(OTHER_RELAY),
    "undo": Person.undo_import,
}


class Arrived:
    """Stand-in for the journal: when each agent sent its last event; no test event has a row."""

    def __init__(self, times: Mapping[str, float]) -> None:
        self.times = times

    def last_events(self, agents: Iterable[str]) -> dict[str, float]:
        return {agent: self.times[agent] for agent in agents if agent in self.times}

    def has_session(self, session: str) -> bool:
        return False


NOTHING_ARRIVED = Arrived({})
ALL_ARRIVED = Arrived(dict.fromkeys(AGENTS, 0.0))  # each agent has sent an event


def tree(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below a folder: kind, mode and content."""
    return {str(path.relative_to(root)): _seen(path) for path in sorted(root.rglob("*"))}


def _seen(path: Path) -> tuple[str, int, bytes]:
    found = path.lstat()
    if path.is_symlink():
        return "link", 0, str(path.readlink()).encode()
    return ("folder", 0, b"") if path.is_dir() else ("file", stat.S_IMODE(found.st_mode), path.read_bytes())
