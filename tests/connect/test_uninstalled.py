"""Hooktray is uninstalled without `disconnect`: what stands in the settings leaves each agent undisturbed."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from connect.sites import Person, own_agent_of_kiro
from hosts import claude_code, codex, gemini_cli, kimi_code, qwen_code, shelley, starchild, x_code
from hosts.process import Report

from tray.agents.claude_code.connector import CONNECTOR
from tray.agents.codex.connector import CONNECTOR as CODEX
from tray.agents.connection import Site
from tray.agents.registry import AGENTS
from tray.agents.settings_connector import SettingsConnector
from tray.agents.shelley.connector import CONNECTOR as SHELLEY
from tray.agents.starchild.connector import CONNECTOR as STARCHILD
from tray.agents.x_code import connector as x_code_connector
from tray.connect import connectors
from tray.strict.yaml_reader import load_yaml

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

HOSTS = {
    "claude-code": claude_code.run,
    "codex": codex.run,
    "gemini-cli": gemini_cli.run,
    "kimi-code": kimi_code.run,
    "qwen-code": qwen_code.run,
    "shelley": shelley.run,
    "starchild": starchild.run,
    "x-code": x_code.run,
}
PROMPT = b"be brief"
FOLDERS = {"gemini-cli": ".gemini", "qwen-code": ".qwen"}  # with milliseconds in their settings


def where(agent: str, site: Site) -> Path:
    """What the agent itself reads."""
    if agent == "x-code":
        return x_code_connector.manifest_path(site).parents[1]
    if agent == "shelley":
        return SHELLEY.folder(site)
    if agent == "kimi-code":
        return site.home / ".kimi-code" / "config.toml"
    if agent in FOLDERS:
        return site.home / FOLDERS[agent] / "settings.json"
    connectors: dict[str, SettingsConnector] = {"claude-code": CONNECTOR, "codex": CODEX, "starchild": STARCHILD}
    return connectors[agent].settings_path(site)


@pytest.mark.parametrize("agent", HOSTS)
def test_an_agent_whose_hooktray_was_uninstalled_is_undisturbed(tmp_path: Path, agent: str) -> None:
    person = Person(tmp_path, agent)
    person.connect((str(tmp_path / "gone" / "bin" / "hooktray-hook"),))
    events = [
        name for name in AGENTS[agent].events if name not in AGENTS[agent].unconnected_events and "<" not in name
    ]
    assert {entry.event for entry in person.relay_entries()} == set(events)

    found = {}
    for event in events:
        body = AGENTS[agent].protocol.sample(event)
        found[event] = HOSTS[agent](str(where(agent, person.site)), event, body)

    assert found == dict.fromkeys(events, Report())


def limits(agent: str, path: Path) -> dict[str, float]:
    """The seconds that stand in the agent's settings, for each event."""
    if agent in ("claude-code", "codex"):
        hooks = json.loads(path.read_text())["hooks"]
        return {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()}
    if agent == "kimi-code":
        return {hook["event"]: hook["timeout"] for hook in tomllib.loads(path.read_text())["hooks"]}
    if agent in FOLDERS:
        hooks = json.loads(path.read_text())["hooks"]
        return {event: groups[0]["hooks"][0]["timeout"] / 1000 for event, groups in hooks.items()}
    if agent == "starchild":
        settings: Any = load_yaml(path.read_bytes(), "f").value
        return {one["event"]: one["timeout"] for one in settings["hooks"]}
    hooks = json.loads((path / ".x-code-plugin" / "plugin.json").read_text())["hooks"]
    return {event: entries[0]["timeout"] / 1000 for event, entries in hooks.items()}


@pytest.mark.parametrize("agent", [agent for agent in HOSTS if agent != "shelley"])
def test_the_time_limits_that_are_written_are_those_our_deadlines_are_made_from(tmp_path: Path, agent: str) -> None:
    person = Person(tmp_path, agent)
    person.connect()

    written = limits(agent, where(agent, person.site))

    assert written == {event: AGENTS[agent].events[event].timeout for event in written}
    assert agent != "claude-code" or {event: written[event] for event in claude_code.TIMEOUTS} == claude_code.TIMEOUTS


@pytest.mark.parametrize("agent", connectors())
def test_every_line_names_the_relay_once_and_is_silent_or_neutral_without_it(tmp_path: Path, agent: str) -> None:
    person, relay = Person(tmp_path, agent), str(tmp_path / "gone" / "bin" / "hooktray-hook")
    own_agent_of_kiro(person.home)
    person.connect((relay,))
    entries = person.relay_entries()

    assert {entry.event for entry in entries} == {
        name for name in AGENTS[agent].events if name not in AGENTS[agent].unconnected_events and "<" not in name
    }
    for entry in entries:
        assert entry.required_files == (relay,), entry.event
        if agent == "opencode":  # a plugin starts the relay
            continue
        done = subprocess.run(entry.argv, input=PROMPT, capture_output=True, check=False, timeout=60)
        neutral = AGENTS[agent].protocol.neutral(entry.event, PROMPT).stdout
        assert (done.returncode, done.stderr) == (0, b""), entry.event
        assert done.stdout in (b"", neutral), entry.event
