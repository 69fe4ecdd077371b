"""Copilot CLI's hook files are read: folders, both names of events, groups, matchers, URLs, what cannot run here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.recordings import request_for

from tray.agents.copilot_cli.source import READER
from tray.agents.protocol import parse
from tray.engine.plan import EventSearch, matches
from tray.model.hook import Command, Failure, Hook, Http
from tray.reading.entries import SourceHooks

SHELL, OTHER_SHELL = ("powershell", "bash") if sys.platform == "win32" else ("bash", "powershell")


def written(folder: Path, hooks: dict[str, Any], name: str = "hooks.json", **more: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "hooks": hooks, **more}, indent=1))
    return path


def found(folder: Path, event: str, *entries: dict[str, Any], **more: Any) -> SourceHooks:
    return READER.read(written(folder, {event: list(entries)}, **more), (), {})


def one(folder: Path, event: str = "preToolUse", **entry: Any) -> Hook:
    (hook,) = found(folder, event, {"type": "command", SHELL: "./guard.sh", **entry}).hooks
    return hook


def test_a_full_entry_becomes_a_hook(tmp_path: Path) -> None:
    hook = one(tmp_path, matcher="bash|create", timeoutSec=10)

    assert (hook.name, hook.timeout, hook.failure) == ("guard", 10, Failure.BLOCK)
    assert (hook.match.event, hook.match.native, hook.match.tool) == (
        "tool_before",
        "PreToolUse",
        "^(?:bash|create)$",
    )
    assert isinstance(hook.action, Command)
    assert (hook.action.line, hook.action.shell, hook.action.folder) == ("./guard.sh", True, str(tmp_path))


def test_what_is_not_said_is_as_the_agent_has_it(tmp_path: Path) -> None:
    before, after = one(tmp_path), one(tmp_path, "postToolUse", timeout=7)

    assert (before.timeout, before.match.tool) == (30, "")
    assert (after.timeout, after.failure) == (7, Failure.ALLOW)


MATCHERS = [  # event, matcher, tool as the agent names it, asked
    ("preToolUse", "bash", "bash", True),
    ("preToolUse", "bas", "bash", False),
    ("preToolUse", "create|edit", "edit", True),
    ("preToolUse", "", "edit", True),
    ("PreToolUse", "Bash", "Bash", True),
    ("PreToolUse", "Bash", "bash", True),
    ("PreToolUse", "bash", "Bash", True),
    ("PreToolUse", "Ba", "Bash", False),
    ("PreToolUse", "*", "Write", True),
    ("PreToolUse", "W.*", "Write", True),
    ("PreToolUse", "Edit|Write", "create", True),
    ("PreToolUse", "(", "Bash", False),
]


@pytest.mark.parametrize(("event", "matcher", "tool", "asked"), MATCHERS)
def test_a_matcher_is_about_the_whole_name(tmp_path: Path, event: str, matcher: str, tool: str, asked: bool) -> None:
    hook = one(tmp_path, event, matcher=matcher)
    body = json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": {}})
    call = parse(request_for("copilot-cli", "", body.encode()))

    assert (not hook.inactive and matches(hook.match, call, EventSearch(call))) is asked


def test_a_matcher_that_is_no_pattern_matches_nothing_on_any_event(tmp_path: Path) -> None:
    keys: tuple[dict[str, object], ...] = ({"matcher": "["}, {"matcher": "**"}, {"statusMessage": 1})
    entries = [{SHELL: "a", **one} for one in keys]
    found = READER.read(written(tmp_path, {"sessionStart": entries}), (), {})

    assert [hook.inactive for hook in found.hooks] == ["its matcher matches nothing", "", ""]


def test_both_names_of_an_event_are_asked_about_the_same_event(tmp_path: Path) -> None:
    source = READER.read(written(tmp_path, {"agentStop": [{"bash": "true"}], "Stop": [{"bash": "false"}]}), (), {})
    stop = parse(request_for("copilot-cli", "Stop", b'{"hook_event_name":"Stop","session_id":"s"}'))

    assert [matches(hook.match, stop, EventSearch(stop)) for hook in source.hooks] == [True, True]


def test_a_folder_is_all_of_its_files_and_a_broken_one_is_a_warning(tmp_path: Path) -> None:
    written(tmp_path, {"preToolUse": [{"bash": "./a.sh"}]}, "a.json")
    written(tmp_path, {"Stop": [{"hooks": [{"command": "./b.sh"}], "matcher": ""}]}, "b.json")
    (tmp_path / "c.json").write_text("{")
    (tmp_path / "notes.txt").write_text("not hooks")

    source = READER.read(tmp_path, (), {})

    assert [(hook.name, hook.match.event) for hook in source.hooks] == [("a", "tool_before"), ("b", "turn_end")]
    assert len(source.warnings) == 1
    assert str(tmp_path) in source.watched


@pytest.mark.parametrize("place", [".github/hooks/x.json", ".github/copilot/settings.json"])
def test_a_projects_hooks_are_asked_in_that_project(tmp_path: Path, place: str) -> None:
    source = READER.read(written(tmp_path, {"preToolUse": [{"bash": "./guard.sh"}]}, place), (), {})

    assert [hook.match.project for hook in source.hooks] == [str(tmp_path)]
    assert [hook.action.folder for hook in source.hooks if isinstance(hook.action, Command)] == [str(tmp_path)]


def test_its_own_switch_makes_all_inactive(tmp_path: Path) -> None:
    source = found(tmp_path, "preToolUse", {"bash": "true"}, disableAllHooks=True)

    assert ["disableAllHooks" in hook.inactive for hook in source.hooks] == [True]


def test_a_url_is_a_request_and_must_be_encrypted_before_a_tool(tmp_path: Path) -> None:
    entries = [{"type": "http", "url": url} for url in ("https://a.example/h", "http://a.example/h")]
    source = found(tmp_path, "preToolUse", *entries)

    assert all(isinstance(hook.action, Http) for hook in source.hooks)
    assert ["https" in hook.inactive for hook in source.hooks] == [False, True]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"type": "prompt", "prompt": "/plan"}, "not in this version"),
        ({OTHER_SHELL: "./a"}, OTHER_SHELL),
        ({"type": "http", "url": "http://127.0.0.1:9/h"}, "allow_local"),
    ],
)
def test_what_cannot_run_here_says_why(tmp_path: Path, entry: dict[str, Any], why: str) -> None:
    (hook,) = found(tmp_path, "sessionStart", entry).hooks

    assert why in hook.inactive


def test_a_malformed_entry_takes_no_other_down(tmp_path: Path) -> None:
    source = found(tmp_path, "preToolUse", {"type": "nonsense"}, {"bash": ""}, {"bash": "./ok.sh"})

    assert ([hook.name for hook in source.hooks], len(source.warnings)) == (["ok"], 2)


def test_an_unknown_event_is_a_warning(tmp_path: Path) -> None:
    assert "preToolUze" in found(tmp_path, "preToolUze", {"bash": "true"}).warnings[0]


@pytest.mark.skipif(sys.platform == "win32", reason="a line for bash")
def test_variables_and_folder_of_an_entry_are_those_of_its_command(tmp_path: Path) -> None:
    (tmp_path / "in side").mkdir()
    hook = one(tmp_path, bash='echo "$LEVEL $PWD $COPILOT_HOOK_DIR"', env={"LEVEL": "a b"}, cwd="in side")

    assert isinstance(hook.action, Command)
    done = subprocess.run([hook.action.interpreter, "-c", hook.action.line], capture_output=True, check=True)
    assert done.stdout.decode().strip() == f"a b {tmp_path}/in side {tmp_path}"


def test_words_run_without_a_shell(tmp_path: Path) -> None:
    (hook,) = found(tmp_path, "preToolUse", {"exec": "python3", "args": ["-c", "print(1)"]}).hooks

    assert isinstance(hook.action, Command)
    assert (hook.action.shell, hook.action.line) == (False, "python3 -c 'print(1)'")
