"""Guarded calls that went on unjudged are journalled and announced once, by the tray that starts next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from house import House

from tray.engine.guards_in_force import guards
from tray.installation import installed_relay
from tray.model.decision import Record, Verdict
from tray.sessions import unjudged_calls

CALL = {"type": "PreToolUse", "toolName": "shell", "toolInput": {"command": "rm -rf /"}}


class Recorder:
    def __init__(self) -> None:
        self.alarms: list[tuple[str, str]] = []

    def unjudged(self, title: str, text: str, row: Record) -> None:
        self.alarms.append((title, text))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def install(house: House, agent: str) -> None:
    """The relay and its table as they are for this agent, without a tray or a one-shot engine."""
    installed_relay.install(house.paths, house.stores.database)
    summary = guards(house.stores.ledger.state, house.stores.switch, [agent])
    installed_relay.write_table(house.paths, summary, house.stores.database)
    table = house.paths.relay_table
    table.write_bytes(b"".join(line for line in table.read_bytes().splitlines(True) if not line.startswith(b"once=")))


def call(house: House, agent: str, event: str, payload: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    command = [str(house.paths.relay), agent, event]
    return subprocess.run(command, input=json.dumps(payload).encode(), capture_output=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="a relay with a first line")
def test_what_the_relay_let_pass_is_journalled_and_announced_once(house: House, recorder: Recorder) -> None:
    house.hook("no-secrets", on="tool_before", tool="Bash", script="exit 2")
    install(house, "x-code")
    unjudged_calls.announce(house.paths, house.stores.journal, recorder)
    assert (recorder.alarms, house.stores.journal.recent()) == ([], [])

    for _ in range(3):
        done = call(house, "x-code", "PreToolUse", CALL)
        assert (done.returncode, done.stdout) == (0, b"")
    assert unjudged_calls.number(house.paths) == 3
    for _ in range(2):
        unjudged_calls.announce(house.paths, house.stores.journal, recorder)
    house.stores.journal.close()  # whatever waits is written down

    (row,) = house.stores.journal.recent()
    assert (row.agent, row.event, row.kind) == ("x-code", "PreToolUse", "tool_before")
    assert (row.verdict, row.label) == (Verdict.UNJUDGED, "unjudged")
    assert row.reason == "3 guarded calls went on: neither the tray nor the one-shot engine could judge"
    ((title, text),) = recorder.alarms
    assert title == "Hooktray could not judge, and 3 guarded calls went on"
    assert text == "X-Code CLI cannot ask you · `hooktray doctor` shows what is wrong"
    assert unjudged_calls.number(house.paths) == 0


def test_notes_that_a_tray_took_and_did_not_announce_are_announced_by_the_next(
    house: House, recorder: Recorder
) -> None:
    (house.paths.state / "unjudged-calls.taken").write_bytes(b"x-code\x1fPreToolUse\n")
    (house.paths.state / "unjudged-calls").write_bytes(b"x-code\x1fPreToolUse\nno line of ours\n")

    for left in (1, 0):
        unjudged_calls.announce(house.paths, house.stores.journal, recorder)
        assert unjudged_calls.number(house.paths) == left

    assert len(recorder.alarms) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("name", ["unjudged-calls", "unjudged-calls.taken"])
@pytest.mark.parametrize(
    "make",
    [Path.mkdir, lambda path: os.mkfifo(path), lambda path: path.symlink_to(path.parent.parent / "other")],
    ids=["dir", "pipe", "link"],
)
def test_what_is_not_the_relays_file_is_taken_away_and_keeps_no_later_call_from_being_announced(
    house: House, recorder: Recorder, name: str, make: Any
) -> None:
    other = house.paths.state.parent / "other"
    other.write_bytes(b"x-code\x1fPreToolUse\n")
    make(house.paths.state / name)
    assert unjudged_calls.number(house.paths) == 0

    unjudged_calls.announce(house.paths, house.stores.journal, recorder)
    assert recorder.alarms == []

    (house.paths.state / "unjudged-calls").write_bytes(b"x-code\x1fPreToolUse\n")
    unjudged_calls.announce(house.paths, house.stores.journal, recorder)
    assert len(recorder.alarms) == 1
    assert other.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a relay with a first line")
def test_the_relays_own_reason_names_the_guard_and_the_cure(house: House) -> None:
    for name in ("no-secrets", "paths", "branch", "tests", "style"):
        house.hook(
            name, on="tool_before", tool="Bash", script="exit 2", failure="block" if name == "paths" else "ask"
        )
    install(house, "claude-code")
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}}

    found = json.loads(call(house, "claude-code", "PreToolUse", payload).stdout)["hookSpecificOutput"]

    assert found["permissionDecision"] == "deny"
    reason = found["permissionDecisionReason"]
    assert "Hooktray could not judge this call: `paths` could not be asked. Run `hooktray doctor`." in reason
    assert installed_relay.ending_command(house.paths) in reason
    table = house.paths.relay_table.read_text()
    assert "`no-secrets`, `branch`, `tests` and 1 more could not be asked" in table
