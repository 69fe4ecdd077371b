"""The parts of agents that are imported on demand have the functions that their callers expect."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
from every import every

from tray.agents.agent import Connector, HookImporter, HookReader, part
from tray.agents.registry import AGENTS

PARTS = {"connector": Connector, "importer": HookImporter, "reader": HookReader}
OPTIONS = [agent for agent in AGENTS if AGENTS[agent].connect_options is not None]
CASES = [(agent, name) for agent in AGENTS for name in PARTS if getattr(AGENTS[agent], name) is not None]


def functions(protocol: type) -> dict[str, list[str]]:
    """The names of the protocol's functions, each with those of its parameters."""
    found = {name: value for name, value in vars(protocol).items() if inspect.isfunction(value) and name[0] != "_"}
    return {name: list(inspect.signature(value).parameters)[1:] for name, value in found.items()}


@every(("agent", "name"), CASES)
def test_each_part_has_the_functions_of_its_protocol(agent: str, name: str) -> None:
    found: Any = getattr(AGENTS[agent], name)()

    wanted = functions(PARTS[name])
    assert {each: list(inspect.signature(getattr(found, each)).parameters) for each in wanted} == wanted
    assert [key for key in inspect.get_annotations(PARTS[name]) if not hasattr(found, key)] == []


@every("agent", OPTIONS)
def test_options_follow_from_a_site_and_its_files(agent: str) -> None:
    found: Any = AGENTS[agent].connect_options()  # type: ignore[misc]

    assert [*inspect.signature(found).parameters] == ["site", "files"]


def test_a_part_is_imported_when_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tray.agents.placeholders", raising=False)
    found, name = part("tray.agents.placeholders"), part("tray.agents.connection:PROBE_EVENT")
    assert "tray.agents.placeholders" not in sys.modules

    assert found().__name__ == "tray.agents.placeholders"
    assert name() == AGENTS["codex"].connector().probe_payload("s", "/")["hook_event_name"]  # type: ignore[misc]
