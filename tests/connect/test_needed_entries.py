"""Only entries that something needs are written; more come when they are needed, and none goes by itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from connect.sites import Person, own_agent_of_kiro, tree
from msgspec.structs import replace

from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.connect.summary import summary
from tray.engine.needed_events import needed_events

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")
ALL_AT_ONCE = ("opencode", "starchild")  # one plugin registers all events; it asks for trust at each change
CONNECTABLE = [agent for agent in connectors() if agent not in ALL_AT_ONCE]


def needing(person: Person, needed: frozenset[str]) -> None:
    person.site = replace(person.site, needed={person.agent: needed})


def events(person: Person) -> set[str]:
    return {entry.event for entry in person.relay_entries()}


@pytest.mark.parametrize("agent", CONNECTABLE)
def test_entries_are_those_that_are_needed_and_those_that_are_there(tmp_path: Path, agent: str) -> None:
    person = Person(tmp_path, agent)
    own_agent_of_kiro(person.home)
    before = tree(person.home)
    every = [name for name in sorted(AGENTS[agent].events) if "<" not in name]
    every = [name for name in every if name not in AGENTS[agent].unconnected_events]
    first, more = frozenset(every[:2]), frozenset(every[1:4])

    needing(person, first)
    person.connect()
    assert events(person) == first
    assert person.connect() == 0
    needing(person, more)
    person.connect()
    assert events(person) == first | more
    needing(person, frozenset())
    assert person.connect() == 0
    person.disconnect()

    assert tree(person.home) == before


@pytest.mark.parametrize("agent", ALL_AT_ONCE)
def test_all_entries_are_written_at_once_where_each_change_asks_for_trust(tmp_path: Path, agent: str) -> None:
    person = Person(tmp_path, agent)
    person.connect()
    every = person.relay_entries()
    person.disconnect()
    needing(person, frozenset())

    person.connect()

    assert person.relay_entries() == every != ()


def test_a_summary_counts_the_entries_and_names_the_file(tmp_path: Path) -> None:
    person = Person(tmp_path)
    needing(person, needed_events(())["claude-code"])

    def shown() -> str:
        return summary(person.agent, connectors()[person.agent].connect(person.site), person.home)

    command = "~/.claude/commands/hooktray.md"
    assert shown() == f"adds 1 entry for each of 14 events to ~/.claude/settings.json · writes {command}"
    person.connect()
    assert shown() == ""
    needing(person, frozenset({"PreCompact"}))
    assert shown() == "adds 1 entry to ~/.claude/settings.json"
    person.site = replace(person.site, relay=("/elsewhere/hooktray-hook", "--home", "/home/you/h"))
    assert shown() == "adds 1 entry to ~/.claude/settings.json · renews 14 entries in ~/.claude/settings.json"
    plan = connectors()[person.agent].disconnect(person.site)
    assert (
        summary(person.agent, plan, person.home)
        == f"takes 14 entries out of ~/.claude/settings.json · removes {command}"
    )


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("opencode", "writes ~/.config/opencode/plugins/hooktray.js"),
        ("shelley", "adds 1 entry for each of 4 events to ~/.config/shelley/hooks"),
        ("codex", "adds 1 entry for each of 12 events to ~/.codex/hooks.json"),
    ],
)
def test_a_summary_suits_each_way_of_connecting(tmp_path: Path, agent: str, text: str) -> None:
    person = Person(tmp_path, agent)

    plan = connectors()[agent].connect(person.site)

    assert summary(agent, plan, person.home) == text
