"""Gemini CLI's settings file, connected and disconnected, and the folders that its user trusts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from connect.sites import Person

from tray.agents.gemini_cli.protocol import EVENTS, UNCONNECTED_EVENTS
from tray.connect import connectors

BEFORE = """{
  // the model that its user likes
  "model": {"name": "gemini-3-pro"},
  "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "true"}]}]}
}
"""


def settings(person: Person) -> Path:
    return person.home / ".gemini" / "settings.json"


def trust(person: Person) -> str:
    return connectors()["gemini-cli"].trust(person.site)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    person = Person(tmp_path, "gemini-cli")
    settings(person).parent.mkdir(parents=True, exist_ok=True)
    settings(person).write_text(BEFORE)
    person.connect()
    return person


def change(person: Person, **members: Any) -> None:
    text = settings(person).read_text()
    settings(person).write_text(text.replace("{", "{" + json.dumps(members)[1:-1] + ",", 1))


def rule(person: Person, **rules: str) -> None:
    (person.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(rules))


def test_connect_and_disconnect_keep_every_byte_of_its_users(person: Person) -> None:
    connected = settings(person).read_text()
    person.connect()

    assert settings(person).read_text() == connected != BEFORE
    assert "// the model that its user likes" in connected
    assert {entry.event for entry in person.relay_entries()} == EVENTS.keys() - UNCONNECTED_EVENTS
    person.disconnect()
    assert settings(person).read_text() == BEFORE


def test_an_entry_has_a_name_and_its_limit_in_milliseconds(tmp_path: Path) -> None:
    person = Person(tmp_path, "gemini-cli")
    person.connect()

    hooks = json.loads(settings(person).read_text())["hooks"]

    handlers = {event: groups[0]["hooks"][0] for event, groups in hooks.items()}
    assert {handler["name"] for handler in handlers.values()} == {"hooktray"}
    assert (handlers["BeforeTool"]["timeout"], handlers["SessionEnd"]["timeout"]) == (600_000, 60_000)


def test_another_home_has_its_own_folder(tmp_path: Path) -> None:
    person = Person(tmp_path, "gemini-cli", environment={"GEMINI_CLI_HOME": str(tmp_path / "other")})

    person.connect()

    assert (tmp_path / "other" / ".gemini" / "settings.json").is_file()


def test_all_hooks_switched_off_are_reported_and_connect_switches_them_on(person: Person) -> None:
    connected = settings(person).read_text()
    change(person, hooksConfig={"enabled": False})

    assert trust(person).startswith("off: Gemini CLI runs no hook: take `hooksConfig.enabled` out of")
    person.connect()
    assert trust(person).startswith("asks: ")
    assert '"enabled"' not in settings(person).read_text()
    assert json.loads(connected.replace("// the model that its user likes", ""))["hooks"]


def test_disabled_entries_are_reported(person: Person) -> None:
    change(person, hooksConfig={"disabled": ["hooktray"]})

    count = len(EVENTS) - len(UNCONNECTED_EVENTS)
    assert trust(person).startswith(f"off: {count} of Hooktray's entries are disabled: take them out of")


TRUST = [
    ({}, "asks: start `gemini` in {}"),
    ({"{}": "TRUST_FOLDER"}, "trusted here"),
    ({"{}/sub": "TRUST_PARENT"}, "trusted here"),
    ({"/": "TRUST_FOLDER", "{}": "DO_NOT_TRUST"}, "off: Gemini CLI runs no hook in {}: type `/permissions trust`"),
    ({"/": "DO_NOT_TRUST", "{}": "TRUST_FOLDER"}, "trusted here"),
    ({"{}/sub": "TRUST_FOLDER"}, "asks: start `gemini` in {}"),
    ({"{}": "PERHAPS"}, "asks: start `gemini` in {}"),
]


@pytest.mark.parametrize(("rules", "expected"), TRUST, ids=[str(rules) for rules, _ in TRUST])
def test_the_trust_of_a_folder_is_that_of_the_longest_rule(
    person: Person, rules: dict[str, str], expected: str
) -> None:
    cwd = str(person.site.cwd)
    rule(person, **{path.format(cwd): level for path, level in rules.items()})

    assert trust(person).startswith(expected.format(cwd))


def test_without_the_question_of_trust_every_folder_is_trusted(person: Person) -> None:
    change(person, security={"folderTrust": {"enabled": False}})

    assert trust(person) == "trusted"
