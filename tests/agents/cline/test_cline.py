"""Cline: executables of ours beside those of its user, its list of commands as one, its folder as a source."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.hook_outputs import ran
from agents.recordings import sampled
from connect.sites import Person, tree
from every import every

from tray.agents.cline import source
from tray.agents.protocol import parse, render
from tray.agents.registry import AGENTS
from tray.errors import HooktrayError
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Event, RelayRequest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")
COMMANDS = [
    ({"commands": ["ls", "rm -rf build"]}, "ls\nrm -rf build"),
    ({"commands": [{"command": "rm", "args": ["-rf", "a b"]}]}, "rm -rf 'a b'"),
    ({"commands": "ls"}, "ls"),
    ({"command": "ls"}, "ls"),
    ({"cmd": "ls"}, "ls"),
    ({"command": "rm", "args": ["-rf", "build"]}, "rm -rf build"),
    (["ls", "pwd"], "ls\npwd"),
    ("ls", "ls"),
    ({"commands": [7]}, "7"),
    ({"commands": [{"command": "rm -rf build"}]}, "rm -rf build"),
    # It runs the first form that fits: what is in the others must not hide it.
    ({"cmd": "true", "command": "rm -rf build"}, "rm -rf build\ntrue"),
    ({"commands": [7], "command": "rm -rf build"}, "7\nrm -rf build"),
    ({"commands": 7, "cmd": "rm -rf build"}, "7\nrm -rf build"),
    ({"command": "rm -rf build", "args": [7]}, "rm -rf build\n'rm -rf build' 7"),
    ({"command": "rm -rf build", "args": None}, "rm -rf build"),
    ({}, ""),
]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path, "cline")


def call(input: Any) -> Event:
    payload: dict[str, Any] = {"hookName": "tool_call", "taskId": "t", "workspaceRoots": ["/p"]}
    payload |= {"tool_call": {"id": "c1", "name": "run_commands", "input": input}}
    return parse(RelayRequest(agent="cline", event="PreToolUse", id="1", body=json.dumps(payload).encode()))


def own_hook(person: Person, name: str, text: str = "#!/usr/bin/env python3\n") -> Path:
    path = person.home / ".cline" / "hooks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_executables_of_ours_come_and_go_beside_those_of_its_user(person: Person) -> None:
    own_hook(person, "PreToolUse")
    own_hook(person, "posttooluse.py")
    before = tree(person.home)

    assert person.connect() == len(AGENTS["cline"].events)
    connected = tree(person.home)
    assert {entry.event for entry in person.relay_entries()} == set(AGENTS["cline"].events)
    assert all(entry.up_to_date for entry in person.relay_entries())
    assert person.connect() == 0
    person.disconnect()

    assert {name: connected[name] for name in before} == before
    assert tree(person.home) == before


def test_a_file_of_its_user_in_our_place_is_never_written_over(person: Person) -> None:
    own_hook(person, "PreToolUse.bash")
    before = tree(person.home)

    with pytest.raises(HooktrayError, match="is a hook of yours") as error:
        person.connect()
    person.disconnect()

    assert "rename it to PreToolUse.sh" in (error.value.hint or "")
    assert tree(person.home) == before


def test_with_the_program_gone_our_executables_say_nothing(person: Person) -> None:
    person.connect()

    for entry in person.relay_entries():
        done = subprocess.run(entry.argv, input=b"x" * 100_000, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), entry.event


@every(("input", "line"), COMMANDS)
def test_a_guard_reads_one_command_in_whichever_form_it_was_sent(input: Any, line: str) -> None:
    event = call(input)

    assert event.tool is not None
    assert event.tool.input == {"command": line}


def test_each_command_of_a_call_is_a_line_of_its_own() -> None:
    event = call({"commands": ["echo 'a", {"command": "rm", "args": ["-rf", "build"]}, "echo b'"]})

    assert event.tool is not None
    assert event.tool.lines == ("echo 'a", "rm -rf build", "echo b'")


def test_a_refusal_may_have_its_reason_as_context_and_a_context_as_its_reason() -> None:
    """As Cline reads them."""
    event, read = call({"commands": ["ls"]}), AGENTS["cline"].protocol.read

    assert read(event, ran(0, '{"cancel":true,"context":"no"}')).reason == "no"
    assert read(event, ran(0, '{"errorMessage":"seen"}')).context == "seen"
    assert read(event, ran(0, '{"cancel":true,"errorMessage":"no","context":"seen"}')).context == ""


def test_a_rewritten_command_and_a_refusal_are_in_its_own_words() -> None:
    event = call({"commands": ["ls", "pwd"]})
    rewrite = Decision(rewrite=Rewrite(target=Target.INPUT, value={"command": "true"}))

    assert json.loads(render(event, rewrite).stdout) == {"overrideInput": {"commands": ["true"]}}
    refusal = render(event, Decision(verdict=Verdict.DENY, reason="no", context="seen"))
    assert json.loads(refusal.stdout) == {"cancel": True, "errorMessage": "no", "contextModification": "seen"}


def test_a_hook_of_its_format_rewrites_another_agents_command() -> None:
    event = sampled("claude-code", "PreToolUse")

    output = AGENTS["cline"].protocol.read(event, ran(0, '{"overrideInput":{"commands":["a","b"]}}'))

    assert output.rewrite == Rewrite(target=Target.INPUT, value={"command": "a\nb"})


def test_its_folder_is_a_source_without_our_own(person: Person) -> None:
    person.connect()
    own = [
        own_hook(person, "PreToolUse"),
        own_hook(person, "TaskComplete.js", "console.log()"),
        own_hook(person, "taskstart.sh", "#!/bin/zsh -f\n"),
        own_hook(person, "README.md"),
        own_hook(person, "PostToolUse.exe"),
    ]

    found = source.read(own[0].parent, (), {})

    lines = {hook.name: (hook.match.event, getattr(hook.action, "line", "")) for hook in found.hooks}
    assert lines == {
        "PreToolUse": ("tool_before", f"python3 {own[0]}"),
        "TaskComplete.js": ("turn_end", f"node {own[1]}"),
        "taskstart.sh": ("session_start", f"/bin/zsh -f {own[2]}"),
    }
