"""Our plugin in OpenCode's folders: written whole, recognised by its relay, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from connect.sites import OTHER_RELAY, RELAY, NoProblem, Person, tree
from msgspec.structs import replace

from tray.agents.opencode.connector import CONNECTOR
from tray.agents.opencode.protocol import EVENTS
from tray.agents.registry import AGENTS
from tray.connect import hook_import
from tray.doctor.entries import changed_entries
from tray.doctor.finding import Cause
from tray.errors import HooktrayError
from tray.installation.entry_watch import plan_for

FOREIGN = b"export const Own = async () => ({})\n"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, "opencode")


def plugin(person: Person) -> Path:
    return CONNECTOR.settings_path(person.site)


def test_the_plugin_holds_the_relay_and_the_limits_of_all_events(person: Person) -> None:
    person.connect()

    assert plugin(person) == person.home / ".config" / "opencode" / "plugins" / "hooktray.js"
    text = plugin(person).read_text()
    assert f'const RELAY = ["{RELAY[0]}", "--home", "/home/you/h", "opencode"]\n' in text
    assert all(f'"{event}": {spec.timeout}' in text for event, spec in EVENTS.items())
    entries = person.relay_entries()
    assert [entry.event for entry in entries] == list(EVENTS)
    assert {(entry.argv[:-1], entry.up_to_date) for entry in entries} == {((*RELAY, "opencode"), True)}


def test_connecting_again_writes_nothing_and_another_relay_writes_it_anew(person: Person) -> None:
    person.connect()

    assert person.connect() == 0
    assert person.connect(OTHER_RELAY) == 1
    assert person.relay_entries()[0].argv[0] == OTHER_RELAY[0]


def test_a_plugin_of_somebody_else_under_our_name_is_left_alone(person: Person) -> None:
    plugin(person).parent.mkdir(parents=True)
    plugin(person).write_bytes(FOREIGN)

    with pytest.raises(HooktrayError, match="is not Hooktray's plugin"):
        person.connect()

    assert (person.disconnect(), plugin(person).read_bytes(), person.relay_entries()) == (0, FOREIGN, ())


def test_disconnecting_leaves_nothing_behind_in_home_and_project(person: Person) -> None:
    person.connect()
    person.site = replace(person.site, scope="project")
    person.connect()
    assert CONNECTOR.connect_options(person.site, [str(plugin(person))]) == f" --scope project in {person.project}"
    person.site = replace(person.site, scope="", cwd=person.home)

    assert person.disconnect() == 2

    assert (tree(person.home), tree(person.project)) == ({}, {})


def test_its_folder_follows_the_users_variable(person: Person) -> None:
    person.site = replace(person.site, environment={"XDG_CONFIG_HOME": str(person.home / "elsewhere")})

    person.connect()

    assert (person.home / "elsewhere" / "opencode" / "plugins" / "hooktray.js").is_file()


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (b"const IS_RUN", b"process.exit()\nconst IS_RUN", Cause.ENTRY_ALTERED),
        (RELAY[0].encode(), OTHER_RELAY[0].encode(), Cause.ENTRY_ELSEWHERE),
        (b"const RELAY", b"const NOTHING", Cause.ENTRY_GONE),
    ],
)
def test_a_changed_plugin_is_found_and_put_back(person: Person, before: bytes, after: bytes, cause: Cause) -> None:
    person.connect()
    written = plugin(person).read_bytes()
    plugin(person).write_bytes(written.replace(before, after, 1))

    (finding,) = changed_entries(person.site, "opencode")

    assert finding.cause is cause
    assert plan_for(person.site, "opencode", plugin(person))
    person.connect()
    assert plugin(person).read_bytes() == written


def test_a_plugin_that_was_deleted_is_found_and_put_back(person: Person) -> None:
    person.connect()
    plugin(person).unlink()

    assert [one.cause for one in changed_entries(person.site, "opencode")] == [Cause.ENTRY_FILE_GONE]
    assert person.connect() == 1


def test_it_has_no_hook_files_and_says_so(person: Person) -> None:
    assert AGENTS["opencode"].reader is None
    with pytest.raises(HooktrayError) as caught:
        hook_import.import_hooks(person.site, "opencode", NoProblem())

    assert caught.value.hint == "OpenCode has no hook files: plugins run inside it"
