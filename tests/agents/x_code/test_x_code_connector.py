"""X-Code CLI is connected and disconnected without a trace."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from connect.sites import RELAY, Person, tree
from msgspec.structs import replace

from tray.agents.registry import AGENTS
from tray.agents.x_code import source as x_code_source
from tray.connect import apply_connect, connectors
from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")


@pytest.fixture
def x_code(tmp_path: Path) -> Person:
    return Person(tmp_path, "x-code")


def test_x_code_gets_one_plugin_with_ten_events_and_loses_it_again(x_code: Person) -> None:
    assert x_code.connect() == 2
    assert {entry.event for entry in x_code.relay_entries()} == set(AGENTS["x-code"].events)
    assert x_code.connect() == 0
    plugin = x_code.home / ".x-code" / "plugins" / "cache" / "local" / "hooktray" / "1.0.0"
    found = x_code_source.read(plugin, (), {})
    assert len(found.hooks) == 10
    assert {hook.timeout for hook in found.hooks} == {30.0}
    assert found.warnings == ()

    x_code.disconnect()

    assert tree(x_code.home) == {}


OTHER = {"id": "lint@market", "name": "lint", "marketplace": "market", "version": "2", "installScope": "user"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"schemaVersion": "1", "plugins": [OTHER]}, indent=2) + "\n",
        json.dumps({"schemaVersion": "1", "plugins": []}, indent=2) + "\n",
        json.dumps({"plugins": [OTHER]}),
        '{"schemaVersion": "1"}',
    ],
)
@pytest.mark.parametrize("forgotten", [False, True], ids=["noted", "notes lost"])
def test_other_plugins_stay(x_code: Person, text: str, forgotten: bool) -> None:
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)

    x_code.connect()
    there = json.loads(file.read_text())
    if forgotten:
        for page in (x_code.site.paths.state / "connections").iterdir():
            page.unlink()
    x_code.disconnect()

    assert there["plugins"][:-1] == json.loads(text).get("plugins", [])
    assert there["plugins"][-1]["id"] == "hooktray@local"
    assert forgotten or file.read_text() == text
    assert json.loads(file.read_text()).get("plugins", []) == json.loads(text).get("plugins", [])


@pytest.mark.parametrize(("variable", "inside"), [("X_CODE_HOME", "plugins"), ("XC_PLUGINS_DIR", "")])
def test_x_codes_folders_follow_its_environment(tmp_path: Path, variable: str, inside: str) -> None:
    person = Person(tmp_path, "x-code", environment={variable: str(tmp_path / "xc")})

    person.connect()

    assert (tmp_path / "xc" / inside / "installed_plugins.json").exists()
    assert tree(person.home) == {}


def test_a_list_of_plugins_that_cannot_be_read_is_refused(x_code: Person) -> None:
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"plugins": [}')
    before = tree(x_code.home)

    with pytest.raises(HooktrayError, match=r"installed_plugins.json:1:14:"):
        x_code.connect()

    assert tree(x_code.home) == before


# ---- all or none


def test_when_one_file_cannot_be_written_none_is(x_code: Person) -> None:
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"plugins": []}')
    plan = connectors()["x-code"].connect(x_code.site)
    file.write_text('{"plugins": [ ]}')
    before = tree(x_code.home)

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        apply_connect(x_code.site, "x-code", plan)

    assert tree(x_code.home) == before
    assert tree(x_code.site.paths.state / "connections") == {}


def test_a_failed_upgrade_keeps_what_disconnect_needs(x_code: Person) -> None:
    x_code.connect(("/old/hooktray-hook",))
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    plan = connectors()["x-code"].connect(replace(x_code.site, relay=RELAY))
    file.parent.joinpath("cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json").write_text("{}")

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        apply_connect(x_code.site, "x-code", plan)
    x_code.disconnect()

    assert tree(x_code.home) == {}
