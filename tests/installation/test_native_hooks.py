"""A hook of an agent's own file runs once for an event of that agent: by the agent, or by Hooktray."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from connect.sites import RELAY
from house import PRE_TOOL_USE, House

from tray.agents.codex.connector import entry_hash
from tray.agents.connection import Site
from tray.agents.registry import AGENTS
from tray.connect import apply_connect, connectors
from tray.installation.native_hooks import native_hooks
from tray.model.hook import ApprovalState

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def write(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def groups(event: str, line: str, **more: Any) -> dict[str, Any]:
    return {"hooks": {event: [{"matcher": "*", "hooks": [{"type": "command", "command": line}]}]}, **more}


def declare(house: House, agent: str, place: Path, **more: Any) -> None:
    house.configure({"sources": [{agent: str(place), **more}]})
    for one in house.catalog.states:
        assert one.digest, one.health
        house.consent.approve(one.key, one.digest, "test")
    house.catalog.refresh()
    assert [one.state for one in house.catalog.states] == [ApprovalState.APPROVED]


def connect(house: House, agent: str, home: Path) -> None:
    workspace = str(home / "workspace") if agent == "starchild" else ""
    place = Site(
        paths=house.paths, relay=RELAY, home=home, cwd=home / "project", now="2026-11-21T07:00:00.000Z",
        workspace=workspace,
    )  # fmt: skip
    apply_connect(place, agent, connectors()[agent].connect(place))
    house.catalog.refresh()


def left_to_agent(house: House) -> list[str]:
    """The keys of the hooks that only the agent runs, for its own events."""
    return sorted(native_hooks(house.paths, house.catalog.states))


def codex(home: Path, line: str) -> Path:
    path = write(home / ".codex" / "hooks.json", groups("PreToolUse", line))
    group = json.loads(path.read_text())["hooks"]["PreToolUse"][0]
    digest = entry_hash("PreToolUse", group, group["hooks"][0])
    write(home / ".codex" / "config.toml", f'[hooks.state."{path}:pre_tool_use:0:0"]\ntrusted_hash = "{digest}"\n')
    return path


def cline(home: Path, line: str) -> Path:
    write(home / ".cline" / "hooks" / "PreToolUse", f"#!/bin/sh\nexec {line}\n").chmod(0o755)
    return home / ".cline" / "hooks"


def x_code(home: Path, line: str, *, on: bool = True) -> Path:
    root = home / ".x-code" / "plugins"
    folder = root / "cache" / "market" / "lint" / "2"
    write(folder / "plugin.json", {"name": "lint", "version": "2", "hooks": {"PreToolUse": [{"command": line}]}})
    record = {"id": "lint@market", "name": "lint", "marketplace": "market", "version": "2"}
    write(root / "installed_plugins.json", {"plugins": [record]})
    write(home / ".x-code" / "settings.json", {"enabledPlugins": {"lint@market": on}})
    return folder


def claude_settings(home: Path, line: str) -> Path:
    return write(home / ".claude" / "settings.json", groups("PreToolUse", line))


def gemini_settings(home: Path, line: str) -> Path:
    return write(home / ".gemini" / "settings.json", groups("BeforeTool", line))


def claude_plugin(home: Path, line: str) -> Path:
    folder = home / ".claude" / "plugins" / "cache" / "market" / "lint" / "1"
    write(folder / "hooks" / "hooks.json", groups("PreToolUse", line))
    write(folder / ".claude-plugin" / "plugin.json", {"name": "lint"})
    record = {"scope": "user", "installPath": str(folder)}
    installed = {"version": 2, "plugins": {"lint@market": [record]}}
    write(home / ".claude" / "plugins" / "installed_plugins.json", installed)
    write(home / ".claude" / "settings.json", {"enabledPlugins": {"lint@market": True}})
    return folder


def named(home: Path, line: str) -> Path:
    handlers = {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": line}]}]}
    return write(home / ".gemini" / "config" / "hooks.json", {"mine": handlers})


Declared = Callable[[Path, str], Path]
PLACES: dict[str, tuple[str, Declared]] = {
    "antigravity": ("antigravity", named),
    "claude-code": ("claude-code", claude_settings),
    "claude-code, a plugin": ("claude-code", claude_plugin),
    "claude-code, a project": (
        "claude-code", lambda home, line: write(home / "project/.claude/settings.json", groups("PreToolUse", line))
    ),
    "cline": ("cline", cline),
    "codex": ("codex", codex),
    "copilot-cli": (
        "copilot-cli",
        lambda home, line: write(home / ".copilot/hooks/own.json",
                                 {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": line}]}}),
    ),
    "cursor": (
        "cursor",
        lambda home, line: write(home / ".cursor/hooks.json",
                                 {"version": 1, "hooks": {"preToolUse": [{"command": line}]}}),
    ),
    "devin": (
        "devin", lambda home, line: write(home / ".config/devin/config.json", groups("PreToolUse", line, version=1))
    ),
    "droid": ("droid", lambda home, line: write(home / ".factory/hooks.json", groups("PreToolUse", line)["hooks"])),
    "gemini-cli": ("gemini-cli", gemini_settings),
    "gemini-cli, a project": (
        "gemini-cli", lambda home, line: write(home / "project/.gemini/settings.json", groups("BeforeTool", line))
    ),
    "grok": ("grok", lambda home, line: write(home / ".grok/hooks/own.json", groups("PreToolUse", line))),
    "kimi-code": (
        "kimi-code",
        lambda home, line: write(home / ".kimi-code/config.toml",
                                 f'[[hooks]]\nevent = "PreToolUse"\ncommand = "{line}"\n'),
    ),
    "kiro": (
        "kiro",
        lambda home, line: write(home / ".kiro/agents/own.json", {"hooks": {"preToolUse": [{"command": line}]}}),
    ),
    "qwen-code": ("qwen-code", lambda home, line: write(home / ".qwen/settings.json", groups("PreToolUse", line))),
    "x-code": ("x-code", x_code),
}  # fmt: skip
# Starchild keeps which entries its user approved to itself, Shelley's hooks move, OpenCode has none.
NOT_KNOWN = {"opencode", "shelley", "starchild"}


def test_every_agent_is_in_the_table() -> None:
    assert {agent for agent, _ in PLACES.values()} == set(AGENTS) - NOT_KNOWN


@pytest.mark.parametrize("place", PLACES)
def test_a_hook_that_its_connected_agent_runs_is_left_to_it(house: House, home: Path, place: str) -> None:
    agent, declared = PLACES[place]
    declare(house, agent, declared(home, str(house.script("guard.sh", "cat >/dev/null"))))
    before = left_to_agent(house)

    connect(house, agent, home)

    assert before == []
    assert left_to_agent(house) == [one.key for one in house.catalog.states]


OTHERS: dict[str, tuple[str, Declared]] = {
    "a file that the agent does not read": (
        "claude-code", lambda home, line: write(home / "elsewhere/settings.json", groups("PreToolUse", line))
    ),
    "a plugin that is off": ("x-code", lambda home, line: x_code(home, line, on=False)),
    "an entry that codex does not trust": (
        "codex", lambda home, line: write(home / ".codex/hooks.json", groups("PreToolUse", line))
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", OTHERS)
def test_a_hook_that_its_agent_does_not_run_is_asked_by_us(house: House, home: Path, place: str) -> None:
    agent, declared = OTHERS[place]
    (home / ".claude").mkdir()
    declare(house, agent, declared(home, str(house.script("guard.sh", "cat >/dev/null"))))

    connect(house, agent, home)

    assert left_to_agent(house) == []


@pytest.mark.parametrize("name", ["end-of-turn", "slash/deploy"])
def test_a_shelley_hook_that_was_a_source_first_runs_once_when_it_is_connected(
    house: House, home: Path, name: str
) -> None:
    hooks = home / ".config" / "shelley" / "hooks"
    write(hooks / name, f"#!/bin/sh\ncat >/dev/null\necho run >>{home}/runs\n").chmod(0o755)
    declare(house, "shelley", hooks)

    connect(house, "shelley", home)
    for one in house.catalog.states:
        if one.state is ApprovalState.PENDING and one.digest:  # and not that the other one has gone
            house.consent.approve(one.key, one.digest, "test")
    approved = house.stores.ledger.state.ordered
    house.relay("shelley", name, AGENTS["shelley"].protocol.sample(name))

    assert len(approved) == 2
    assert (home / "runs").read_text() == "run\n"
    assert sorted((str(one["status"]), str(one["gate"])) for one in house.last.hooks) == [
        ("ok", ""),
        ("skipped", "duplicate"),
    ]


def test_a_projects_hook_is_left_to_the_agent_only_where_it_was_started_in_that_project(
    house: House, home: Path
) -> None:
    script = house.script("guard.sh", f"cat >/dev/null; echo run >>{home}/runs")
    declare(house, "claude-code", write(home / "project/.claude/settings.json", groups("PreToolUse", str(script))))
    connect(house, "claude-code", home)
    house.stores.switch.set_agent_runs(left_to_agent(house), "test")

    for project in (home / "project", home / "project" / "sub"):
        environment = {"CLAUDE_PROJECT_DIR": str(project)}
        house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "cwd": str(project)}, environment=environment)

    assert (home / "runs").read_text() == "run\n"
    assert house.last.hooks
