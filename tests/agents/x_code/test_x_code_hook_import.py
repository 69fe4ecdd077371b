"""X-Code's plugins go below Hooktray by a switch in its settings, and come back byte for byte."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from connect.plugins import plugin
from connect.sites import Person, tree

from tray.connect import hook_import
from tray.errors import HooktrayError
from tray.sources.configuration import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

SETTINGS = {
    "missing": None,
    "empty": "",
    "braces": "{}\n",
    "other keys": '{\n    "disabledSkills": ["a"]   \n}',
    "other plugins": '{"enabledPlugins":{"x@y":false}}',
    "on by name": '{\n  "enabledPlugins": { "lint@market": true, "x@y": false }\n}\r\n',
    "BOM": '\ufeff{\r\n\t"theme": "é"\r\n}\r\n',
}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    one = Person(tmp_path, "x-code")
    (one.home / ".x-code").mkdir()
    return one


@pytest.fixture
def settings(person: Person) -> Path:
    return person.home / ".x-code" / "settings.json"


def test_a_plugin_of_hooks_alone_is_switched_off_and_waits_as_a_source(person: Person, settings: Path) -> None:
    folder = plugin(person, "lint")
    before = tree(folder)

    notes = person.import_hooks()

    assert json.loads(settings.read_text()) == {"enabledPlugins": {"lint@market": False}}
    assert tree(folder) == before
    found = load(person.site.paths)
    assert [(hook.match.native, hook.match.agents, hook.failure.value, hook.inactive) for hook in found.hooks] == [
        ("PreToolUse", ("x-code",), "block", "")
    ]
    assert found.warnings == ()
    assert notes[0] == "lint@market: none of its hooks runs until you have approved it in the tray's menu."
    assert notes[-1] == "Until `hooktray connect x-code` no event reaches them."
    assert "hooktray import-hooks x-code --undo" in hook_import.import_reminder(person.site, "x-code")


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("listed", ["", "# mine\nsources:\n  - shelley: ~/hooks   # old\n# end\n"])
def test_release_gives_the_same_bytes_back(person: Person, settings: Path, name: str, listed: str) -> None:
    plugin(person, "lint")
    plugin(person, "zest")
    if (text := SETTINGS[name]) is not None:
        settings.write_bytes(text.encode())
    if listed:
        person.site.paths.config.write_text(listed)
    before = tree(person.home), tree(person.site.paths.config.parent)

    person.import_hooks()
    assert len(load(person.site.paths).hooks) == 2
    assert (tree(person.home), tree(person.site.paths.config.parent)) != before
    person.undo_import()

    assert (tree(person.home), tree(person.site.paths.config.parent)) == before


@pytest.mark.parametrize("name", [name for name, text in SETTINGS.items() if text])
def test_after_an_edit_the_switches_are_as_they_were(person: Person, settings: Path, name: str) -> None:
    plugin(person, "lint")
    text = str(SETTINGS[name]).encode()
    settings.write_bytes(text)
    person.import_hooks()
    settings.write_bytes(settings.read_bytes().replace(b"{", b'{"later": 1, ', 1))

    person.undo_import()

    new, old = (json.loads(one.decode("utf-8-sig")) for one in (settings.read_bytes(), text))
    assert new.pop("later") == 1
    assert {"enabledPlugins": {}, **new} == {"enabledPlugins": {}, **old}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"commands": "./commands"}, "it brings commands too"),
        ({"mcpServers": {"a": {}}}, "it brings mcpServers too"),
        ({"userConfig": [{"key": "k", "type": "string"}]}, "it brings userConfig too"),
        ({"hooks": {}}, "it has no hooks"),
        ({"hooks": {"Tomorrow": [{"command": "x"}]}}, "Hooktray cannot run all of its hooks"),
    ],
)
def test_a_plugin_that_would_lose_something_stays(person: Person, more: dict[str, Any], why: str) -> None:
    plugin(person, "lint", **more)
    before = tree(person.home)

    with pytest.raises(HooktrayError, match="no hook of x-code can be imported") as caught:
        person.import_hooks()

    assert f"lint@market stays: {why}" in caught.value.hint
    assert tree(person.home) == before


@pytest.mark.parametrize("text", ["[]", "{,}", '{"name": "lint", "hooks": "./nowhere.json"}'])
def test_a_plugin_that_cannot_be_read_stays_and_keeps_no_other(person: Person, settings: Path, text: str) -> None:
    (plugin(person, "lint") / ".x-code-plugin" / "plugin.json").write_text(text)
    plugin(person, "zest")

    assert person.import_hooks()[0].startswith("lint@market stays: ")

    assert json.loads(settings.read_text()) == {"enabledPlugins": {"zest@market": False}}


def test_a_folder_of_skills_beside_its_hooks_is_enough(person: Person, settings: Path) -> None:
    (plugin(person, "lint") / "skills").mkdir()
    plugin(person, "zest")

    notes = person.import_hooks()

    assert notes[0] == "lint@market stays: it brings skills too, which would go with its hooks."
    assert json.loads(settings.read_text()) == {"enabledPlugins": {"zest@market": False}}


@pytest.mark.parametrize(
    ("text", "why"), [("{,}", ":1:2:"), ("[]", ":1:1:"), ('{"enabledPlugins": []}', ":1:20:"), ("{}{}", ":1:3:")]
)
def test_settings_that_cannot_be_edited_are_refused(person: Person, settings: Path, text: str, why: str) -> None:
    plugin(person, "lint")
    settings.write_text(text)
    before = tree(person.home)

    with pytest.raises(HooktrayError, match=f"settings.json{why}"):
        person.import_hooks()

    assert tree(person.home) == before


def test_twice_is_refused_and_so_is_a_release_of_nothing(person: Person) -> None:
    plugin(person, "lint")
    with pytest.raises(HooktrayError, match="nothing to put back"):
        person.undo_import()
    person.import_hooks()

    with pytest.raises(HooktrayError, match="no hook of x-code can be imported") as caught:
        person.import_hooks()

    assert "lint@market stays: it was imported before" in caught.value.hint
