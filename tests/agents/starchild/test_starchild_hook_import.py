"""Starchild's own entries go below Hooktray and come back, each as it was written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from connect.sites import Person, tree
from msgspec.structs import replace

from tray.errors import HooktrayError
from tray.sources.configuration import load
from tray.strict.yaml_reader import load_yaml

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

GUARD = """event: pre_tool_call   # why
    matcher: 'rm -rf'

    command: /bin/echo "é"  # mine
    timeout: 16.0
"""
FLOW = '{event: on_stop, command: "/bin/echo b"}'
BESIDE = "event: on_stop\n    command: ./beside.sh\n"
TEXT = f"# top\nhooks:\n  # the guard\n  - {GUARD}  - {BESIDE}  - {FLOW}\nother: 1\n"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, "starchild")


@pytest.fixture
def file(person: Person) -> Path:
    file = person.home / "workspace" / "config" / "shell_hooks.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    return file


def test_commands_move_and_wait_and_the_rest_stays(person: Person, file: Path) -> None:
    notes = person.import_hooks()

    assert file.read_text() == f"# top\nhooks:\n  # the guard\n  - {BESIDE}other: 1\n"
    found = load(person.site.paths)
    assert [(hook.match.native, hook.match.pattern, hook.timeout, hook.inactive) for hook in found.hooks] == [
        ("pre_tool_call", "rm -rf", 16.0, ""),
        ("on_stop", "", 20.0, ""),
    ]
    assert {hook.match.agents for hook in found.hooks} == {("starchild",)}
    assert found.warnings == ()
    assert notes[0].startswith("1 of your hooks stay")
    assert notes[1].startswith("2 hooks move")


@pytest.mark.parametrize("there", ["hooks:\n- event: on_stop\n  command: /new\n", "hooks: []\n", "", "a: 1\n"])
def test_after_an_edit_each_entry_comes_back_as_it_was_written(person: Person, file: Path, there: str) -> None:
    person.import_hooks()
    file.write_text(there)

    person.undo_import()

    back = file.read_text()
    new_settings: Any = load_yaml(back.encode(), "f").value
    old_settings: Any = load_yaml(TEXT.encode(), "f").value
    new, old = new_settings["hooks"], old_settings["hooks"]
    assert new[-2:] == [old[0], old[2]]
    for line in ("event: pre_tool_call   # why\n", 'command: /bin/echo "é"  # mine\n', "timeout: 16.0\n", FLOW):
        assert line in back


def test_release_finds_the_workspace_by_itself(tmp_path: Path) -> None:
    person = Person(tmp_path, "starchild", workspace="elsewhere")
    file = person.project / "elsewhere" / "config" / "shell_hooks.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    person.import_hooks()
    person.site = replace(person.site, workspace="", cwd=tmp_path)

    person.undo_import()

    assert file.read_text() == TEXT


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no hook of yours is in it"),
        ("hooks: []\n", "no hook of yours is in it"),
        (f"hooks:\n  - {BESIDE}", "no hook in it can be imported"),
        ("hooks:\n  - {event: tomorrow, command: /x}\n", "no hook in it can be imported"),
        ("hooks:\n  - {event: on_stop, command: /x, matcher: '('}\n", "no hook in it can be imported"),
        ("hooks:\n  - {event: on_stop, type: http, url: 'http://127.0.0.1/'}\n", "no hook in it can be imported"),
        ("hooks:\n  - {event: on_stop, command: /x, timeout: 0x10}\n", "no hook in it can be imported"),
        ("hooks: yes please\n", ":1:8:"),
    ],
)
def test_what_cannot_be_imported_is_refused(person: Person, file: Path, text: str, why: str) -> None:
    file.write_text(text)
    before = tree(person.home), tree(person.site.paths.config.parent)

    with pytest.raises(HooktrayError, match=why):
        person.import_hooks()

    assert (tree(person.home), tree(person.site.paths.config.parent)) == before


def test_hooks_that_are_switched_off_there_stay_off(person: Person, file: Path) -> None:
    file.with_name("agent.yaml").write_text("shell_hooks: {enabled: false}\n")

    with pytest.raises(HooktrayError, match="runs none of its hooks"):
        person.import_hooks()
