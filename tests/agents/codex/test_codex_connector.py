"""Codex's trust in our entries, as its config.toml says; and that ours come last and stay as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from connect.sites import Person

from tray.agents.codex.connector import CONNECTOR, entry_hash, snake
from tray.agents.codex.protocol import EVENTS
from tray.errors import ConfigError

OWN = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./own.sh", "timeout": 5}]}
# As Codex 0.169.0 computed them (`hooks/list`) for this command.
COMMAND = "cat > /tmp/clients/cx/rec.$$.json; env > /tmp/clients/cx/env.$$"
HASHES = {
    "PreToolUse": "sha256:e211dd9c2f0daba1e9965a7c06fa381f0264e062d372fdfb752a237eab1429a3",
    "PermissionRequest": "sha256:3fe92ad1abef788925b2ebe8ed11a3db2eb80198f700d10959087d29d0c868e9",
    "SessionEnd": "sha256:f09ff174ef75ff7cabb78bc50e8abbbb60ff7cbbea306d8aa2ce1be684f19a28",
    "Interrupt": "sha256:6b6f52c06f0fa285040b5f4c86dfff14c226e28d2770b91f3d5b7458b1b2724f",
    "Stop": "sha256:f054f0bc50352562ea14e26095fd9b454e8f6da83e82356218af8287182507d1",
}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    one = Person(tmp_path, "codex")
    (one.home / ".codex").mkdir(parents=True, exist_ok=True)
    return one


def settings(person: Person) -> Path:
    return person.home / ".codex" / "hooks.json"


def trust_all(person: Person, *, leave_out: str = "", more: str = "") -> None:
    """What `/hooks` writes."""
    lines = ["[hooks.state]", ""]
    for event, groups in json.loads(settings(person).read_text())["hooks"].items():
        for number, group in enumerate(groups):
            for index, handler in enumerate(group["hooks"]):
                key = f"{settings(person)}:{snake(event)}:{number}:{index}"
                if event != leave_out:
                    lines += [f"[hooks.state.{json.dumps(key)}]"]
                    lines += [f'trusted_hash = "{entry_hash(event, group, handler)}"', more]
    (person.home / ".codex" / "config.toml").write_text("\n".join(lines))


@pytest.mark.parametrize("event", HASHES)
def test_the_hash_is_the_one_that_codex_computes(event: str) -> None:
    handler = {"type": "command", "command": COMMAND}

    assert entry_hash(event, {"hooks": [handler]}, handler) == HASHES[event]


def test_until_its_user_trusts_them_our_entries_do_not_run(person: Person) -> None:
    person.connect()

    assert CONNECTOR.trust(person.site).startswith("off: Hooktray's entries are not trusted yet: start Codex, type")


@pytest.mark.parametrize(
    ("written", "trust"),
    [
        ({}, "trusted"),
        ({"leave_out": "Stop"}, "off: 1 of Hooktray's entries are not trusted yet"),
        ({"more": "enabled = false"}, "off: "),
    ],
    ids=["all", "all but one", "switched off"],
)
def test_trust_requires_that_codex_trusts_each_entry(person: Person, written: dict[str, str], trust: str) -> None:
    person.connect()
    trust_all(person, **written)

    assert CONNECTOR.trust(person.site).startswith(trust)


def test_a_switch_for_all_hooks_is_named(person: Person) -> None:
    person.connect()
    path = person.home / ".codex" / "config.toml"
    path.write_text("[features]\nhooks = false\n")

    assert (
        CONNECTOR.trust(person.site)
        == f"off: Codex runs no hook: take out `hooks = false` below [features] in {path}"
    )


def test_a_config_that_is_no_toml_is_named_with_its_place(person: Person) -> None:
    person.connect()
    path = person.home / ".codex" / "config.toml"
    path.write_text("model = \n")

    with pytest.raises(ConfigError, match=re.escape(f"{path}:1:9: not TOML")):
        CONNECTOR.trust(person.site)


def test_ours_come_last_and_connecting_again_changes_no_byte(person: Person) -> None:
    settings(person).write_text(json.dumps({"hooks": {"PreToolUse": [OWN]}}))

    person.connect()

    text = settings(person).read_bytes()
    hooks = json.loads(text)["hooks"]
    assert set(hooks) == set(EVENTS)
    assert (hooks["PreToolUse"][0], len(hooks["PreToolUse"])) == (OWN, 2)
    person.connect()
    assert settings(person).read_bytes() == text


def test_nothing_of_ours_is_ever_written_into_its_config(person: Person) -> None:
    path = person.home / ".codex" / "config.toml"
    path.write_text('notify = ["mine"]\n')

    person.connect()
    person.disconnect()

    assert path.read_text() == 'notify = ["mine"]\n'
