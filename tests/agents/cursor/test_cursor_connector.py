"""Cursor's hooks.json: connected, read as a source, imported."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from connect.sites import OPERATIONS, Person, tree

from tray.agents.cursor.events import EVENTS, OTHER_TOOLS, UNCONNECTED_EVENTS
from tray.agents.registry import AGENTS
from tray.errors import HooktrayError
from tray.model.hook import Failure
from tray.reading.entries import SourceHooks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")
ENTRY = '{"command": "/bin/echo a"}'
VARIANTS = {
    "one line": f'{{"version": 1, "hooks": {{"stop": [{ENTRY}]}}}}',
    "tabs": f'{{\n\t"version": 1,\n\t"hooks": {{\n\t\t"stop": [\n\t\t\t{ENTRY}\n\t\t]\n\t}}\n}}\n',
    "CRLF": f'{{\r\n  "hooks": {{\r\n    "stop": [{ENTRY}, {ENTRY}]\r\n  }},\r\n  "version": 1\r\n}}\r\n\r\n',
    "byte order mark": f'\ufeff{{"version": 1, "hooks": {{"stop": [{ENTRY}], "sessionEnd": []}}}}\n',
    "no hooks": '{\n  "version": 1\n}\n',
    "two events": f'{{"version": 1, "hooks": {{"stop": [{ENTRY}], "beforeShellExecution": [{ENTRY}]}}, "a": {{}}}}\n',
}
ORDERS = ("import undo", "connect disconnect", "connect import reconnect undo disconnect")
# Without hooks there is nothing to import.
CASES = [(order, name) for order in ORDERS for name in VARIANTS if name != "no hooks" or "import" not in order]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, "cursor")


def settings(person: Person) -> Path:
    file = person.home / ".cursor" / "hooks.json"
    file.parent.mkdir(exist_ok=True)
    return file


def hooks_of(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings(person).read_text())["hooks"]
    return found


def source(person: Person, hooks: dict[str, Any]) -> SourceHooks:
    reader = AGENTS["cursor"].reader
    assert reader
    settings(person).write_text(json.dumps({"version": 1, "hooks": hooks}))
    return reader().read(settings(person), (), {})


def test_a_new_file_comes_and_goes(person: Person) -> None:
    person.connect()

    assert json.loads(settings(person).read_text())["version"] == 1
    assert {entry.event for entry in person.relay_entries()} == EVENTS.keys() - UNCONNECTED_EVENTS
    assert all(entry.up_to_date for entry in person.relay_entries())
    assert hooks_of(person)["preToolUse"][0]["matcher"] == OTHER_TOOLS
    assert "matcher" not in hooks_of(person)["beforeShellExecution"][0]
    person.disconnect()
    assert not settings(person).exists()


@pytest.mark.parametrize(("order", "name"), CASES)
def test_every_order_gives_the_same_bytes_back(person: Person, name: str, order: str) -> None:
    settings(person).write_bytes(VARIANTS[name].encode())
    before = tree(person.home)

    for step in order.split():
        OPERATIONS[step](person)

    assert tree(person.home) == before


def test_what_its_user_adds_afterwards_stays(person: Person) -> None:
    person.connect()
    changed = json.loads(settings(person).read_text())
    changed["hooks"]["stop"].append({"command": "./own.sh"})
    settings(person).write_text(json.dumps(changed))

    person.connect(("/elsewhere/hooktray-hook",))
    assert all(entry.up_to_date for entry in person.relay_entries())
    person.disconnect()

    assert json.loads(settings(person).read_text()) == {"version": 1, "hooks": {"stop": [{"command": "./own.sh"}]}}


def test_an_entry_whose_matcher_was_changed_is_written_anew(person: Person) -> None:
    person.connect()
    before = settings(person).read_bytes()
    settings(person).write_bytes(before.replace(b"^(?!Shell$|MCP:)", b"^Never$"))

    assert not all(entry.up_to_date for entry in person.relay_entries())
    person.connect()

    assert settings(person).read_bytes() == before


def test_a_file_without_a_version_is_refused(person: Person) -> None:
    settings(person).write_text('{"hooks": {}}')

    with pytest.raises(HooktrayError, match="version") as caught:
        person.connect()

    assert '"version": 1' in caught.value.hint
    assert settings(person).read_text() == '{"hooks": {}}'


# ---- its user's hooks


def test_matchers_mean_the_command_the_tool_or_the_subagent(person: Person) -> None:
    entry = {"command": "./guard.sh"}
    found = source(
        person,
        {
            "beforeShellExecution": [entry | {"matcher": "curl|wget", "failClosed": True}],
            "preToolUse": [entry | {"matcher": "Write|Read", "timeout": 7}],
            "beforeReadFile": [entry],
            "beforeMCPExecution": [entry],
            "stop": [entry | {"loop_limit": None}],
        },
    )

    assert found.warnings == ()
    words = {hook.match.native: (hook.match.tool, hook.match.pattern) for hook in found.hooks}
    assert words == {
        "beforeShellExecution": ("^Shell$", "curl|wget"),
        "preToolUse": ("Write|Read", ""),
        "beforeReadFile": ("^Read$", ""),
        "beforeMCPExecution": ("^(?:MCP:|mcp__)", ""),
        "stop": ("", ""),
    }
    by_event = {hook.match.native: hook for hook in found.hooks}
    assert by_event["beforeShellExecution"].failure is Failure.BLOCK
    assert (by_event["preToolUse"].timeout, by_event["stop"].timeout) == (7, 60)


def test_what_cannot_be_run_is_listed_and_what_is_wrong_is_told(person: Person) -> None:
    found = source(
        person,
        {
            "stop": [
                {"type": "prompt", "prompt": "Is it done?"},
                {"type": "mail"},
                {"command": "./c.sh", "matcher": "a("},
                {"command": "./d.sh", "statusMessage": 1},  # Cursor knows no such key
            ],
            "preToolUse": [{"command": "./a.sh", "matcher": "a("}],
            "nextYear": [{"command": "./b.sh"}],
        },
    )

    assert [hook.inactive for hook in found.hooks] == [
        "hooks of the type `prompt` are not in this version",
        "its matcher matches nothing",
        "",
        "its matcher matches nothing",
    ]
    words = ("unknown type", "not a pattern", "not a pattern", "unknown event")
    assert [word in text for word, text in zip(words, found.warnings, strict=True)] == [True] * 4


def test_a_hook_that_our_entries_cannot_stand_in_for_stays(person: Person) -> None:
    echo = {"command": "/bin/echo a"}
    hooks = {
        "preToolUse": [echo, echo | {"matcher": "Shell"}, echo | {"matcher": "Write"}],
        "afterFileEdit": [echo],
        "beforeShellExecution": [echo],
    }
    settings(person).write_text(json.dumps({"version": 1, "hooks": hooks}))

    notes = person.import_hooks()

    assert hooks_of(person) == {"preToolUse": hooks["preToolUse"][:2], "afterFileEdit": [echo]}
    assert any("2 of your hooks stay: Hooktray hears of commands" in note for note in notes)
    assert any("repeats postToolUse" in note for note in notes)
