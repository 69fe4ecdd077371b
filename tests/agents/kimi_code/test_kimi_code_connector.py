"""Kimi Code's config.toml, connected and disconnected, and the one wrong key that switches all hooks off."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from connect.sites import Person

from tray.agents.kimi_code.protocol import EVENTS
from tray.connect import connectors
from tray.errors import HooktrayError

BEFORE = """\
# my models
default_model = "k3"   # the usual one

[[hooks]]
event = "Stop"
command = "true"

[providers.k3]
type = "openai"
"""
OWN = '[[hooks]]\nevent = "Stop"\ncommand = "true"\n'


@pytest.fixture
def person(tmp_path: Path) -> Person:
    person = Person(tmp_path, "kimi-code")
    settings(person).parent.mkdir(parents=True)
    settings(person).write_text(BEFORE)
    return person


def settings(person: Person) -> Path:
    return person.home / ".kimi-code" / "config.toml"


def trust(person: Person) -> str:
    return connectors()["kimi-code"].trust(person.site)


def test_connect_and_disconnect_keep_every_byte_of_its_users(person: Person) -> None:
    person.connect()
    connected = settings(person).read_text()
    person.connect()

    assert settings(person).read_text() == connected
    assert connected.startswith(BEFORE)
    assert [entry.event for entry in person.relay_entries()] == list(EVENTS)
    assert all(entry.up_to_date for entry in person.relay_entries())
    person.disconnect()
    assert settings(person).read_text() == BEFORE


def test_what_its_user_changes_in_between_stays(person: Person) -> None:
    person.connect()
    settings(person).write_text(settings(person).read_text().replace('"k3"', '"k4"', 1) + "\n# the end\n")

    person.disconnect()

    assert settings(person).read_text() == BEFORE.replace('"k3"', '"k4"', 1) + "\n# the end\n"


def test_only_keys_and_limits_that_it_knows_are_written(person: Person) -> None:
    person.connect()

    hooks = tomllib.loads(settings(person).read_text())["hooks"][1:]

    assert {key for hook in hooks for key in hook} == {"event", "command", "timeout"}
    assert all(isinstance(hook["timeout"], int) and 1 <= hook["timeout"] <= 600 for hook in hooks)
    assert trust(person) == "trusted"


BROKEN = [
    ('name = "mine"', "has the key `name`: take it out"),
    ("timeout = 601", "has the timeout 601: write whole seconds from 1 to 600"),
    ("timeout = 1.5", "has the timeout 1.5"),
    ("timeout = true", "has the timeout True"),
    ("matcher = 1", "has a matcher that is not text"),
]


@pytest.mark.parametrize(("line", "problem"), BROKEN, ids=[line for line, _ in BROKEN])
def test_a_hook_that_it_cannot_read_is_named_because_none_runs_then(person: Person, line: str, problem: str) -> None:
    settings(person).write_text(BEFORE.replace(OWN, f"{OWN}{line}\n"))

    person.connect()

    off = "off: Kimi Code runs no hook because of one that it cannot read: hooks[0] in "
    assert trust(person).startswith(off)
    assert problem in trust(person)


def test_an_event_that_there_is_not_switches_all_off_too(person: Person) -> None:
    settings(person).write_text(BEFORE.replace('"Stop"', '"Stopped"'))

    assert "has the event `Stopped`, which there is not" in trust(person)
    settings(person).write_text(BEFORE.replace('"Stop"', '"TaskStarted"'))
    assert trust(person) == "trusted"


def test_settings_that_are_no_toml_are_left_alone(person: Person) -> None:
    settings(person).write_text("a = \n")

    with pytest.raises(HooktrayError, match="not TOML"):
        person.connect()

    assert settings(person).read_text() == "a = \n"
    assert trust(person).startswith("off: Kimi Code runs no hook: ")


def test_its_users_hooks_move_and_come_back(person: Person) -> None:
    person.connect()
    connected = settings(person).read_text()

    person.import_hooks()

    assert OWN not in settings(person).read_text()
    assert len(person.relay_entries()) == len(EVENTS)
    imported = person.site.paths.config.parent / "imported" / "kimi-code" / "config.toml"
    assert imported.read_text() == OWN
    person.undo_import()
    assert settings(person).read_text() == connected
    person.disconnect()
    assert settings(person).read_text() == BEFORE
