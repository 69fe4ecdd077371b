"""The systems below the C relay: what it calls is there on each, though only one of them is compiled here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tray.agents.registry import known_agents

NATIVE = Path(__file__).parents[2] / "native"
DEFINED = re.compile(r"^static [^;=]*?\b(\w+)\([^;]*?\) \{", re.MULTILINE)


def defined(name: str) -> set[str]:
    return set(DEFINED.findall((NATIVE / name).read_text()))


@pytest.mark.parametrize("system", ["posix.h", "windows.h"])
def test_each_system_has_all_that_the_relay_asks_of_one(system: str) -> None:
    relay = (NATIVE / "relay.c").read_text()
    systems = defined("posix.h") | defined("windows.h")
    asked = {name for name in systems if re.search(rf"\b{name}\(", relay)}

    assert len(asked) > 15, "the pattern finds them"
    assert asked - defined(system) - {"arguments_of"} == set()  # which wmain alone calls


def test_neither_relay_knows_an_agent_by_its_name() -> None:
    names = {name.lower() for agent in known_agents() for name in (agent.id, agent.name, *agent.programs)}
    files = [*NATIVE.iterdir(), NATIVE.parent / "tray" / "relay.py"]
    words = {path.name: set(re.findall(r"[\w-]+", path.read_text().lower())) for path in files if path.is_file()}

    assert {"relay.c", "posix.h", "windows.h", "linux.c", "relay.py"} <= words.keys()
    assert {name: found & names for name, found in words.items() if found & names} == {}
