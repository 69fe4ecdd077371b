"""Connecting installs the relay that the lines name; earlier lines are outdated; disconnecting removes it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from connect.sites import ALL_ARRIVED, Person, tree
from desk import wait
from house import PRE_TOOL_USE
from msgspec.structs import replace
from user_controls import user_controls

from tray import relay_program
from tray.agents import relay_command, relay_table
from tray.approvals.catalog import HookCatalog
from tray.doctor.agent_status import agent_statuses
from tray.doctor.entries import changed_entries, recorded_entries
from tray.doctor.finding import Cause
from tray.engine.stores import open_stores
from tray.installation import installed_relay
from tray.paths import Paths

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

ELSEWHERE = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "HOOKTRAY_HOME": "/nonexistent"}


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    one = Person(tmp_path)
    monkeypatch.setenv("HOME", str(one.home))
    return one


def connect(person: Person, agent: str) -> Paths:
    """As the command and the menu do it."""
    person.agent = agent
    installed_relay.prepare_to_connect(person.site.paths, agent)
    person.connect(relay_command.relay_argv(person.site.paths))
    return person.site.paths


def disconnect(person: Person, agent: str) -> None:
    person.agent = agent
    person.disconnect()
    installed_relay.update_after_disconnect(person.site.paths)


def send(person: Person) -> subprocess.CompletedProcess[bytes]:
    entry = next(entry for entry in person.relay_entries() if entry.event == "PreToolUse")
    body = json.dumps(PRE_TOOL_USE).encode()
    return subprocess.run(entry.argv, input=body, capture_output=True, env=ELSEWHERE, check=False, timeout=60)


def approve_guard(paths: Paths) -> None:
    hook = {"name": "guard", "event": "tool_before", "tool": "Bash", "command": "/bin/false", "failure": "block"}
    paths.config.write_text(json.dumps({"hooks": [hook]}))
    stores = open_stores(paths, create=False)
    catalog = HookCatalog(paths, stores.ledger, stores.copies)
    catalog.refresh()
    (state,) = catalog.states
    user_controls(stores, catalog).approve(state.key, state.digest, "test")
    stores.journal.close()


def guarded_agents(paths: Paths) -> set[str]:
    return {guard.agent for guard in relay_table.read(paths.relay_table.read_bytes()).guards}


def test_an_event_before_the_first_start_of_the_tray_is_in_the_journal(person: Person) -> None:
    paths = connect(person, "claude-code")

    done = send(person)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    journal = open_stores(paths, create=False).journal
    rows = wait(lambda: journal.recent(5), what="the row, which is written after the answer has left")
    assert [(row.agent, row.event, row.offline) for row in rows] == [("claude-code", "PreToolUse", True)]
    journal.close()


@pytest.mark.parametrize("agent", ["claude-code", "shelley", "starchild", "x-code"])
def test_every_line_names_the_stable_place_and_nothing_that_changes(person: Person, agent: str) -> None:
    paths = connect(person, agent)

    lines = [" ".join(entry.argv) for entry in person.relay_entries()]
    if agent == "shelley":
        lines = [Path(line).read_text() for line in lines]

    assert len(lines) > 3
    assert all(str(paths.relay) in line for line in lines)
    assert not [line for line in lines if sys.prefix in line or "--home" in line or "--state" in line]


@pytest.mark.parametrize("agent", ["claude-code", "shelley", "starchild", "x-code"])
@pytest.mark.parametrize("written", ["native", "command"])
def test_lines_written_by_hand_are_outdated_until_connecting_writes_them_anew(
    person: Person, agent: str, written: str
) -> None:
    home = ("--home", str(person.site.paths.home))
    hooktray = str(Path(sys.executable).with_name("hooktray"))
    line = {
        "native": (str(relay_program.NATIVE_RELAY), *home),
        "command": (hooktray, "relay", *home),
    }[written]
    if not Path(line[0]).exists():
        pytest.skip("there is no such relay here")
    person.agent = agent
    person.connect(line)
    person.site = replace(person.site, relay=relay_command.relay_argv(person.site.paths))

    (found,) = (one for one in agent_statuses(person.site, ALL_ARRIVED) if one.agent == agent)
    assert Cause.AGENT_OUTDATED in [one.cause for one in found.findings]
    connect(person, agent)

    assert {entry.required_files for entry in person.relay_entries()} == {(str(person.site.paths.relay),)}
    (found,) = (one for one in agent_statuses(person.site, ALL_ARRIVED) if one.agent == agent)
    assert Cause.AGENT_OUTDATED not in [one.cause for one in found.findings]


def test_lines_that_lead_to_another_home_are_found_by_the_table_beside_their_relay(
    person: Person, tmp_path: Path
) -> None:
    paths = connect(person, "claude-code")
    text = paths.relay_table.read_text()
    paths.relay_table.write_text(text.replace(f"state={paths.state}", f"state={tmp_path}/other"))

    found = next(one for one in agent_statuses(person.site, ALL_ARRIVED) if one.agent == "claude-code")

    assert Cause.AGENT_OTHER_HOME in [one.cause for one in found.findings]


def test_disconnecting_ends_the_guards_of_one_agent_and_with_the_last_one_takes_the_relay_away(
    person: Person,
) -> None:
    connect(person, "x-code")
    paths = connect(person, "claude-code")
    line = shlex.join(next(entry for entry in person.relay_entries() if entry.event == "PreToolUse").argv)
    approve_guard(paths)
    installed_relay.prepare_to_connect(paths, "claude-code")
    assert guarded_agents(paths) == {"claude-code", "x-code"}

    disconnect(person, "x-code")
    assert guarded_agents(paths) == {"claude-code"}
    disconnect(person, "claude-code")

    assert not paths.relay_folder.exists()
    assert not [name for name in tree(person.home) if name.endswith("settings.json")]
    done = subprocess.run(["/bin/sh", "-c", line], input=b"{}", capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_disconnecting_one_agent_after_a_loss_takes_no_guard_from_another(person: Person) -> None:
    connect(person, "x-code")
    paths = connect(person, "claude-code")
    approve_guard(paths)
    installed_relay.prepare_to_connect(paths, "claude-code")
    for file in paths.state.glob("hooktray.db*"):
        file.unlink()

    disconnect(person, "x-code")

    assert guarded_agents(paths) == {"claude-code"}


@pytest.mark.parametrize("agent", ["claude-code", "shelley", "starchild", "x-code"])
def test_entries_whose_record_is_lost_are_recorded_again(person: Person, agent: str) -> None:
    paths = connect(person, agent)
    before = tree(person.home)
    entries, findings = recorded_entries(person.site, agent), changed_entries(person.site, agent)
    shutil.rmtree(paths.state)
    paths.prepare()

    connect(person, agent)

    found = recorded_entries(person.site, agent)
    assert {one.path: written for one, written in found} == {one.path: written for one, written in entries}
    assert changed_entries(person.site, agent) == findings
    assert {name for name in before if "state" not in name} <= {*tree(person.home)}
    disconnect(person, agent)
    assert not person.relay_entries()
