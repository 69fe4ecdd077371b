"""Qwen Code's settings file, connected and disconnected."""

from __future__ import annotations

import json
from pathlib import Path

from connect.sites import Person

from tray.agents.qwen_code.protocol import EVENTS, UNCONNECTED_EVENTS
from tray.connect import connectors

BEFORE = """{
  // the model that its user likes
  "model": {"name": "qwen3"},
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
}
"""


def settings(person: Person) -> Path:
    return person.home / ".qwen" / "settings.json"


def test_connect_and_disconnect_keep_every_byte_of_its_users(tmp_path: Path) -> None:
    person = Person(tmp_path, "qwen-code")
    settings(person).parent.mkdir(parents=True, exist_ok=True)
    settings(person).write_text(BEFORE)

    person.connect()
    connected = settings(person).read_text()
    person.connect()

    assert settings(person).read_text() == connected != BEFORE
    assert "// the model that its user likes" in connected
    assert {entry.event for entry in person.relay_entries()} == EVENTS.keys() - UNCONNECTED_EVENTS
    person.disconnect()
    assert settings(person).read_text() == BEFORE


def test_the_time_limits_are_milliseconds_which_both_versions_read_alike(tmp_path: Path) -> None:
    person = Person(tmp_path, "qwen-code")
    person.connect()

    hooks = json.loads(settings(person).read_text())["hooks"]

    written = {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()}
    assert (written["PreToolUse"], written["PostToolBatch"]) == (60000, 15000)
    assert min(written.values()) >= 1000


def test_all_hooks_switched_off_are_reported(tmp_path: Path) -> None:
    person = Person(tmp_path, "qwen-code")
    person.connect()
    text = settings(person).read_text()
    settings(person).write_text(text.replace("{", '{"disableAllHooks": true,', 1))

    assert (
        connectors()["qwen-code"]
        .trust(person.site)
        .startswith("off: Qwen Code runs no hook: take `disableAllHooks` out")
    )


def test_a_hook_that_hooktray_cannot_run_for_it_is_not_imported(tmp_path: Path) -> None:
    person = Person(tmp_path, "qwen-code")
    settings(person).parent.mkdir(parents=True, exist_ok=True)
    own, runs = ({"type": "command", "command": "true", **more} for more in ({"env": {"A": "b"}}, {}))
    settings(person).write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [own]}, {"hooks": [runs]}]}}))
    person.connect()

    person.import_hooks()

    groups = json.loads(settings(person).read_text())["hooks"]["PreToolUse"]
    assert [own in group["hooks"] for group in groups] == [True, False]
    assert not any(runs in group["hooks"] for group in groups)
