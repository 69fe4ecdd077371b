"""Shelley is connected and disconnected without a trace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from connect.sites import Person, tree

from tray.agents.shelley import source as shelley_source
from tray.sources.configuration import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")


@pytest.fixture
def shelley(tmp_path: Path) -> Person:
    return Person(tmp_path, "shelley")


@pytest.fixture
def hooks(shelley: Person) -> Path:
    folder = shelley.home / ".config" / "shelley" / "hooks"
    folder.mkdir(parents=True)
    return folder


def script(path: Path, text: str = "echo mine", mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


def test_shelley_gets_its_four_executables_and_loses_them_again(shelley: Person) -> None:
    assert shelley.connect() == 4
    assert {entry.event for entry in shelley.relay_entries()} == {
        "chat-message",
        "end-of-turn",
        "new-conversation",
        "system-prompt",
    }
    assert shelley.connect() == 0
    shelley.disconnect()

    assert tree(shelley.home) == {}
    assert tree(shelley.site.paths.config.parent) == {}


@pytest.mark.parametrize("name", ["system-prompt", "chat-message"])
def test_with_the_program_gone_shelley_goes_on(shelley: Person, hooks: Path, name: str) -> None:
    shelley.connect()

    done = subprocess.run([hooks / name], input=b"You are Shelley.", capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (b"You are Shelley." if name == "system-prompt" else b"")


def test_the_users_own_executables_move_and_wait_as_hooks(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message", mode=0o750)
    script(hooks / "slash" / "deploy")
    script(hooks / "slash" / "not a name")
    shelley.site.paths.config.write_text("# mine\nhooks: []  # none\n")
    before = tree(shelley.home), tree(shelley.site.paths.config.parent)

    shelley.connect()

    found = load(shelley.site.paths)
    assert [(hook.name, hook.match.agents, hook.failure.value) for hook in found.hooks] == [
        ("chat-message", ("shelley",), "block"),
        ("slash/deploy", ("shelley",), "block"),
    ]
    assert {entry.event for entry in shelley.relay_entries()} >= {"chat-message", "slash/deploy"}
    assert shelley.connect() == 0
    shelley.disconnect()
    assert (tree(shelley.home), tree(shelley.site.paths.config.parent)) == before


def test_a_link_among_them_comes_back_as_it_was(shelley: Person, hooks: Path) -> None:
    script(hooks.parent / "mine.sh")
    (hooks / "end-of-turn").symlink_to("../mine.sh")
    before = tree(shelley.home)

    shelley.connect()
    assert [hook.name for hook in load(shelley.site.paths).hooks] == ["end-of-turn"]
    shelley.disconnect()

    assert tree(shelley.home) == before


def test_what_was_edited_at_its_new_place_comes_back_edited(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message")
    shelley.connect()
    script(shelley.site.paths.config.parent / "shelley-hooks" / "chat-message", "echo better")

    shelley.disconnect()

    assert (hooks / "chat-message").read_text() == "#!/bin/sh\necho better\n"


def test_somebody_elses_executable_in_our_place_is_left_and_nothing_is_lost(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message")
    shelley.connect()
    script(hooks / "chat-message", "echo new")

    shelley.disconnect()

    assert (hooks / "chat-message").read_text() == "#!/bin/sh\necho new\n"
    assert (shelley.site.paths.config.parent / "shelley-hooks" / "chat-message").exists()


def test_what_shelley_does_not_run_is_left_alone(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message", mode=0o644)
    (hooks / "end-of-turn").mkdir()
    before = tree(shelley.home)

    assert shelley.connect() == 2
    shelley.disconnect()

    assert tree(shelley.home) == before


def test_in_a_source_our_executables_are_not_listed_and_a_script_that_only_starts_the_relay_is_inactive(
    shelley: Person, hooks: Path
) -> None:
    shelley.connect()

    script(hooks / "slash" / "both", "echo first\necho second\nhooktray-hook shelley slash/both")

    found = shelley_source.read(hooks, (), {})

    assert [(hook.name, hook.inactive) for hook in found.hooks] == [("slash/both", "it is Hooktray's own relay")]
