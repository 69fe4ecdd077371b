"""Lines of ours in other folders: the book knows them, so that nobody has to remember where they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from connect.sites import ALL_ARRIVED, RELAY, Person, tree
from msgspec.structs import replace

from tray.agents.claude_code import settings_hooks as claude_source
from tray.agents.starchild import source as starchild_source
from tray.doctor.agent_status import AgentStatus, agent_statuses

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")


@pytest.fixture(params=["claude-code", "starchild"])
def person(tmp_path: Path, request: pytest.FixtureRequest) -> Person:
    """Connected for the user, and in another folder than the one they are in."""
    agent = str(request.param)
    one = Person(tmp_path, agent)
    one.connect()
    user, is_claude = one.site, agent == "claude-code"
    one.site = replace(user, scope="local") if is_claude else replace(user, workspace=str(one.project))
    one.connect()
    one.site = replace(user, scope="", cwd=one.home)
    return one


def commands(person: Person) -> int:
    """The files of the user's own beside the settings: Claude Code's command."""
    return 1 if person.agent == "claude-code" else 0


def of(person: Person) -> AgentStatus:
    return next(one for one in agent_statuses(person.site, ALL_ARRIVED) if one.agent == person.agent)


def test_all_of_them_are_told(person: Person) -> None:
    found = of(person)

    assert len(found.files) == 2
    assert str(person.project) in found.files[1]
    assert found.missing == ()
    assert "up to date" not in " ".join(found.advice)


def test_without_a_place_all_are_disconnected(person: Person) -> None:
    assert person.disconnect() == 2 + commands(person)

    assert (tree(person.home), tree(person.project)) == ({}, {})
    assert of(person).connected is False


def test_with_a_place_only_that_one_is(person: Person) -> None:
    person.site = replace(person.site, scope="user")

    assert person.disconnect() == 1 + commands(person)

    person.site = replace(person.site, scope="", workspace="")
    assert len(of(person).files) == 1


def test_a_new_relay_is_written_into_all(person: Person) -> None:
    assert person.connect(("/new/hooktray-hook",)) == 2

    assert {entry.required_files for entry in person.relay_entries()} == {("/new/hooktray-hook",)}


def test_what_the_user_took_out_by_hand_is_not_put_in_again(person: Person) -> None:
    for path in map(Path, of(person).files[1:]):
        path.write_text("")

    assert person.connect(("/new/hooktray-hook",)) == 1


def test_a_folder_that_is_gone_keeps_nobody(person: Person) -> None:
    for path in map(Path, of(person).files[1:]):
        path.unlink()

    assert person.disconnect() == 1 + commands(person)
    assert tree(person.home) == {}


def test_a_relay_that_vanished_is_named_and_connecting_takes_the_other(tmp_path: Path) -> None:
    native = tmp_path / "native" / "hooktray-hook"
    native.parent.mkdir()
    native.touch(mode=0o700)
    person = Person(tmp_path, "x-code")
    home = ("--home", str(person.site.paths.home))
    person.connect((str(native), *home))
    assert of(person).advice == ()

    native.unlink()
    there = tmp_path / "hooktray-hook"
    person.site = replace(person.site, relay=(str(there), *home))

    advice = f"{native} is not there any more, so its lines do nothing; hooktray connect x-code mends them"
    assert of(person).advice == (advice,)
    assert person.connect(person.site.relay) == 1
    assert {entry.required_files for entry in person.relay_entries()} == {(str(there),)}


@pytest.mark.parametrize("scope", ["project", "local"])
def test_of_a_project_alone_the_advice_names_it(tmp_path: Path, scope: str) -> None:
    person = Person(tmp_path, scope=scope)
    person.connect()
    person.site = replace(person.site, scope="", cwd=person.home)

    assert f"hooktray connect claude-code --scope {scope} in {person.project} mends them" in of(person).advice[0]


@pytest.mark.parametrize("relay", [RELAY, ("/it's here/hooktray-hook",)])
def test_our_lines_are_no_hooks_where_their_file_is_a_source(tmp_path: Path, relay: tuple[str, ...]) -> None:
    claude = Person(tmp_path / "c")
    claude.connect(relay)
    star = Person(tmp_path / "s", "starchild")
    star.connect(relay)

    settings = claude_source.read(claude.home / ".claude" / "settings.json", ())
    hooks_file = starchild_source.read(star.home / "workspace" / "config" / "shell_hooks.yaml", (), {})

    assert {hook.inactive for hook in (*settings.hooks, *hooks_file.hooks)} == {"it is Hooktray's own relay"}
    assert (settings.warnings, hooks_file.warnings) == ((), ())
