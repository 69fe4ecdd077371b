"""`connect` writes Hooktray's own file for Copilot CLI, and `disconnect` removes it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from connect.sites import Person, tree
from msgspec.structs import replace

from tray.agents.copilot_cli.connector import CONNECTOR
from tray.agents.copilot_cli.events import UNCONNECTED_EVENTS
from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")
OWN = {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh"}]}}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, "copilot-cli")


def hooks_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())["hooks"]
    return found


def test_a_file_of_ours_comes_and_goes(person: Person) -> None:
    file = person.home / ".copilot" / "hooks" / "hooktray.json"

    assert person.connect() == 1
    events = AGENTS["copilot-cli"].events.keys() - UNCONNECTED_EVENTS
    assert {entry.event for entry in person.relay_entries()} == events
    assert all(entry.up_to_date for entry in person.relay_entries())
    assert hooks_of(file)["PreToolUse"][0]["timeout"] == 600
    assert person.connect() == 0
    person.disconnect()

    assert tree(person.home) == {}


def test_the_users_own_files_stay_as_they_are(person: Person) -> None:
    folder = person.home / ".copilot" / "hooks"
    folder.mkdir(parents=True)
    (folder / "own.json").write_text(json.dumps(OWN))
    (person.home / ".copilot" / "settings.json").write_text("// mine\n{}")
    before = tree(person.home)

    person.connect()
    connected = tree(person.home)
    person.disconnect()

    assert {name: connected[name] for name in before} == before
    assert tree(person.home) == before


def test_hooks_that_somebody_put_into_our_file_stay(person: Person) -> None:
    file = person.home / ".copilot" / "hooks" / "hooktray.json"
    person.connect()
    said = json.loads(file.read_text())
    said["hooks"]["PreToolUse"].append({"type": "command", "bash": "./guard.sh"})
    file.write_text(json.dumps(said))

    with pytest.raises(HooktrayError, match="not Hooktray's"):
        person.connect(("/other/hooktray-hook",))
    person.disconnect()

    assert hooks_of(file) == {"PreToolUse": [{"type": "command", "bash": "./guard.sh"}]}


def test_its_folder_follows_its_environment(tmp_path: Path) -> None:
    person = Person(tmp_path, "copilot-cli", environment={"COPILOT_HOME": str(tmp_path / "copilot")})

    person.connect()

    assert (tmp_path / "copilot" / "hooks" / "hooktray.json").exists()
    assert tree(person.home) == {}


def test_a_project_is_not_trusted_until_its_folder_is(person: Person) -> None:
    person.site = replace(person.site, scope="project")
    config = person.home / ".copilot" / "config.json"
    config.parent.mkdir()

    person.connect()
    untrusted = connectors()["copilot-cli"].trust(person.site)
    config.write_text(
        "// This file is managed automatically.\n" + json.dumps({"trustedFolders": [str(person.project)]})
    )
    before = config.read_bytes()

    assert untrusted.startswith(f"off: start `copilot` in {person.project}")
    assert connectors()["copilot-cli"].trust(person.site) == "trusted"
    assert config.read_bytes() == before
    assert (person.project / ".github" / "hooks" / "hooktray.json").exists()
    assert (
        CONNECTOR.connect_options(
            replace(person.site, scope=""), [str(person.project / ".github" / "hooks" / "hooktray.json")]
        )
        == f" --scope project in {person.project}"
    )


def test_an_untrusted_project_is_reported_from_anywhere_unless_the_users_own_file_guards(
    person: Person, tmp_path: Path
) -> None:
    person.site = replace(person.site, scope="project")
    person.connect()
    person.site = replace(person.site, scope="", cwd=tmp_path)

    alone = connectors()["copilot-cli"].trust(person.site)
    person.site = replace(person.site, scope="user")
    person.connect()

    assert alone.startswith(f"off: start `copilot` in {person.project}")
    assert connectors()["copilot-cli"].trust(replace(person.site, scope="")) == "trusted"


def test_a_project_that_was_connected_is_disconnected_from_anywhere(person: Person, tmp_path: Path) -> None:
    person.site = replace(person.site, scope="project")
    person.connect()
    person.site = replace(person.site, scope="", cwd=tmp_path)

    assert {entry.path for entry in person.relay_entries()} == {
        str(person.project / ".github" / "hooks" / "hooktray.json")
    }
    person.disconnect()

    assert tree(person.project) == {}


def test_a_switch_in_its_settings_is_told(person: Person) -> None:
    person.connect()
    (person.home / ".copilot" / "settings.json").write_text('{"disableAllHooks": true}')

    assert connectors()["copilot-cli"].trust(person.site).startswith("off: Copilot CLI runs no hook")


def test_another_scope_is_refused(person: Person) -> None:
    person.site = replace(person.site, scope="local")

    with pytest.raises(HooktrayError, match="no scope `local`"):
        person.connect()


# ---- the user's own hooks


def own_file(person: Person, name: str = "own.json", **entry: Any) -> Path:
    folder = person.home / ".copilot" / "hooks"
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "guard.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    path = folder / name
    said = {"type": "command", "bash": str(script), **entry}
    path.write_text(json.dumps({"version": 1, "hooks": {"preToolUse": [said]}}, indent=3) + "\r\n")
    return path


def test_whole_files_move_and_come_back_byte_for_byte(person: Person) -> None:
    own_file(person).chmod(0o640)
    long = own_file(person, "long.json", timeoutSec=3600)
    person.connect()
    before = tree(person.home / ".copilot")

    notes = person.import_hooks()
    moved = person.site.paths.config.parent / "imported" / "copilot-cli" / "own.json"

    assert moved.exists()
    assert not (person.home / ".copilot" / "hooks" / "own.json").exists()
    assert long.exists()
    assert any("long.json stays" in note for note in notes)
    person.undo_import()
    assert tree(person.home / ".copilot") == before
    assert not moved.exists()


def test_a_file_that_is_there_again_is_not_overwritten(person: Person) -> None:
    own_file(person)
    person.import_hooks()
    own_file(person, timeoutSec=5)
    before = tree(person.home)

    with pytest.raises(HooktrayError, match="is there again"):
        person.undo_import()

    assert tree(person.home) == before


def test_nothing_to_import_is_said(person: Person) -> None:
    person.connect()

    with pytest.raises(HooktrayError, match="no hook of copilot-cli can be imported"):
        person.import_hooks()
