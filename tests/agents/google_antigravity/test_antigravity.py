"""Antigravity's payloads without a name, its answers of which a wrong byte refuses, and its file of named hooks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.hook_outputs import ran
from agents.recordings import recorded, request_for, sampled
from connect.sites import OPERATIONS, Person, tree

from tray.agents.google_antigravity.protocol import EVENTS, OWN, UNCONNECTED_EVENTS
from tray.agents.protocol import neutral, parse
from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.errors import HooktrayError
from tray.model.decision import Answer
from tray.model.event import EventKind, Tool
from tray.model.hook import Failure
from tray.reading.entries import SourceHooks

PROTOCOL = AGENTS["antigravity"].protocol
NEUTRAL = {
    "PostInvocation": b"{}",
    "PostToolUse": b"{}",
    "PreInvocation": b"{}",
    "PreToolUse": b'{"decision":"ask"}',
    "Stop": b'{"decision":""}',
}
posix = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")


def test_the_neutral_answers_are_its_own_and_an_unknown_event_gets_silence() -> None:
    assert {name: neutral(AGENTS["antigravity"], name, b"").stdout for name in EVENTS} == NEUTRAL
    assert neutral(AGENTS["antigravity"], "NextYear", b"") == Answer()


def test_a_call_has_its_folder_and_its_step() -> None:
    event = recorded("antigravity", "PreToolUse")

    assert event.cwd == "/workspace"
    assert event.tool == Tool(name="run_command", input={"CommandLine": "aws s3 ls", "Cwd": "/workspace"}, call="7")


def test_an_end_with_something_still_running_is_no_end_of_a_turn() -> None:
    failed = json.loads(PROTOCOL.sample("Stop")) | {"error": "quota"}

    assert recorded("antigravity", "Stop").kind is EventKind.TURN_END
    assert recorded("antigravity", "Stop-busy").kind is EventKind.RESPONSE_END
    event = parse(request_for("antigravity", "Stop", json.dumps(failed).encode()))
    assert (event.kind, event.message) == (EventKind.TURN_FAILED, "quota")


@pytest.mark.parametrize("out", ["{}", '{"decision":""}', "text", '{"decision":"perhaps"}'])
def test_what_it_takes_for_a_refusal_is_a_failure_of_the_hook(out: str) -> None:
    assert PROTOCOL.read(sampled("antigravity", "PreToolUse"), ran(0, out)).problem


def test_a_hook_of_its_format_reads_another_agents_call() -> None:
    read = json.loads(PROTOCOL.stdin(recorded("claude-code", "PreToolUse-Write")))

    assert read["toolCall"] == {
        "name": "write_to_file",
        "args": {"TargetFile": "/home/dev/project/a.txt", "CodeContent": "hello\n"},
    }


# ---- its file


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, "antigravity")


def settings(person: Person) -> Path:
    file = person.home / ".gemini" / "config" / "hooks.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def named(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings(person).read_text())
    return found


def group(matcher: str = "*", **fields: Any) -> dict[str, Any]:
    return {"matcher": matcher, "hooks": [{"type": "command", "command": "/bin/echo a", **fields}]}


STOP = {"Stop": [{"type": "command", "command": "/bin/echo b"}]}
VARIANTS = {
    "one line": json.dumps({"guard": {"PreToolUse": [group()]}}),
    "indented": json.dumps({"guard": {"PreToolUse": [group()]}, "done": STOP}, indent=3) + "\r\n\n",
    "compact": json.dumps({"done": STOP}, separators=(",", ":")),
}


@posix
@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize(
    "order",
    [
        "connect disconnect",
        "import undo",
        "import connect undo disconnect",
        "connect import reconnect undo disconnect",
    ],
)
def test_every_order_gives_the_same_bytes_back(person: Person, text: str, order: str) -> None:
    settings(person).write_bytes(text.encode())
    before = tree(person.home)

    for step in order.split():
        OPERATIONS[step](person)

    assert tree(person.home) == before


@posix
def test_our_named_hook_comes_and_goes(person: Person) -> None:
    person.connect()

    assert named(person).keys() == {OWN}
    assert {entry.event for entry in person.relay_entries()} == EVENTS.keys() - UNCONNECTED_EVENTS
    assert all(entry.up_to_date for entry in person.relay_entries())
    assert person.connect() == 0
    person.connect(("/elsewhere/hooktray-hook",))
    assert all(entry.up_to_date for entry in person.relay_entries())
    person.disconnect()
    assert not settings(person).exists()


@posix
def test_a_name_that_somebody_else_uses_is_refused(person: Person) -> None:
    settings(person).write_text(json.dumps({OWN: STOP}))
    before = tree(person.home)

    with pytest.raises(HooktrayError, match="not Hooktray's"):
        person.connect()

    assert tree(person.home) == before


@posix
def test_our_named_hook_switched_off_is_told_and_connect_puts_it_right(person: Person) -> None:
    person.connect()
    written = settings(person).read_bytes()
    settings(person).write_text(json.dumps({OWN: {"enabled": False, **named(person)[OWN]}}))

    assert connectors()["antigravity"].trust(person.site).startswith("off: Antigravity runs no hook of Hooktray's")
    person.connect()

    assert named(person) == json.loads(written)


def source(person: Person, value: dict[str, Any]) -> SourceHooks:
    reader = AGENTS["antigravity"].reader
    assert reader
    settings(person).write_text(json.dumps(value))
    return reader().read(settings(person), (), {})


def test_named_hooks_are_read(person: Person) -> None:
    found = source(
        person,
        {
            "guard": {"PreToolUse": [group("run_command|view_file", timeout=7)], **STOP},
            "off": {"enabled": False, "PostToolUse": [group()]},
            "wrong": {"Start": [], "PreToolUse": [group("a(")]},
            OWN: STOP,
        },
    )

    before, stop, off, wrong = found.hooks
    assert (before.match.tool, before.timeout, before.failure) == ("run_command|view_file", 7, Failure.BLOCK)
    assert (stop.match.native, stop.failure, stop.timeout) == ("Stop", Failure.ALLOW, 30)
    assert off.inactive == "`enabled: false` in `off`"
    assert wrong.inactive == "its matcher matches nothing"
    assert len(found.warnings) == 2


@posix
def test_nothing_can_be_imported_from_an_empty_file(person: Person) -> None:
    settings(person).write_text("{}\n")

    with pytest.raises(HooktrayError, match="no hook of yours is in it"):
        person.import_hooks()


def test_a_named_hook_moves_as_a_whole_or_stays(person: Person) -> None:
    slow = {"PreToolUse": [group(timeout=90)]}
    settings(person).write_text(json.dumps({"guard": {"PreToolUse": [group()], **STOP}, "slow": slow}))

    notes = person.import_hooks()

    assert named(person) == {"slow": slow}
    assert any("1 of your hooks stay: a `timeout` is longer than the 30 s" in note for note in notes)
    assert any("2 hooks move" in note for note in notes)
