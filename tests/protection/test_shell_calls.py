"""The same forbidden call written in hundreds of ways, what no reading of a line can see, and calls that are free."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from every import every
from protection.calls import ORDINARY_TOOLS, PLACES, event, lines, pairs, shell, verdict

from tray.cli.commands import first_words
from tray.model.decision import Verdict
from tray.protection.protected_paths import ProtectedPaths
from tray.protection.self_protection import Protection
from tray.protection.shell_calls import VERBS
from tray.shell.split import WRAPPERS

# One file, as it may be written.
SPELLINGS = [
    "/home/u/.claude/settings.json",
    "~/.claude/settings.json",
    "../.claude/settings.json",
    "/home/u/p/../.claude/settings.json",
    "/home/u//.claude/./settings.json",
    "$HOME/.claude/settings.json",
    '"$HOME"/.claude/settings.json',
    "/home/u/.claude/setting?.json",
    "/home/u/.c*/settings.json",
    "/home/u/.CLAUDE/Settings.JSON",
]

# Other tools than a shell.
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("Write", {"file_path": "/home/u/.claude/settings.json", "content": "x"}),
    ("Edit", {"file_path": "/home/u/.claude/settings.json"}),
    ("MultiEdit", {"file_path": "/home/u/.claude/settings.json", "edits": []}),
    ("NotebookEdit", {"notebook_path": "/home/u/.claude/settings.json"}),
    ("Write", {"file_path": "~/.claude/settings.json"}),
    ("Write", {"file_path": "../.claude/settings.json"}),
    ("Write", {"file_path": "file:///home/u/.claude/settings.json"}),
    ("Write", {"file_path": "/home/u/.CLAUDE/SETTINGS.json"}),
    ("Write", {"file_path": "/home/u/p/../.claude//settings.json"}),
    ("Write", {"file_path": "/home/u/.config/hooktray/hooktray.yaml"}),
    ("Write", {"file_path": "/HOME/U/.CONFIG/HOOKTRAY/HOOKTRAY.YAML"}),
    (
        "apply_patch",
        {"input": "*** Begin Patch\n*** Update File: /home/u/.claude/settings.json\n@@\n-a\n+b\n*** End Patch"},
    ),
    ("apply_patch", {"patch": "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-a\n+b\n"}),
    ("mcp__fs__write_file", {"path": "/home/u/.claude/settings.json", "content": "x"}),
    ("mcp__fs__edit_file", {"path": "/home/u/.claude/settings.json", "edits": []}),
    ("mcp__fs__move_file", {"source": "a", "destination": "/home/u/.claude/settings.json"}),
    ("mcp__fs__write_file", {"uri": "file:///home/u/.claude/settings.json"}),
    ("mcp__x__put", {"files": [{"name": "/home/u/.claude/settings.json", "text": "x"}]}),
    ("mcp__x__put", {"files": {"/home/u/.claude/settings.json": "x"}}),
    ("mcp__shell__run", {"command": "hooktray off"}),
    ("mcp__shell__exec", {"argv": ["hooktray", "off"]}),
    ("mcp__shell__exec", {"args": ["-c", "hooktray off"], "program": "sh"}),
    ("mcp__py__run", {"code": "import os; os.system('hooktray off')"}),
    ("mcp__py__run", {"source": "from tray import cli"}),
    ("mcp__desktop__type", {"text": "hooktray off"}),
    ("mcp__browser__navigate", {"url": "http://127.0.0.1:8123/"}),
    ("mcp__browser__fetch", {"url": "http://localhost:8123/approve"}),
    ("WebFetch", {"url": "http://127.0.0.1:8123/x"}),
    ("mcp__ssh__exec", {"cmd": "hooktray off"}),
    ("mcp__fs__create_directory", {"path": "/home/u/.claude/hooks"}),
    ("mcp__fs__delete", {"path": "/home/u/.local/state/hooktray"}),
    ("mcp__fs__delete", {"path": "/home/u/.local/state"}),
    ("str_replace_editor", {"command": "create", "path": "/home/u/.claude/settings.json"}),
    ("str_replace_based_edit_tool", {"command": "create", "path": "/home/u/.claude/settings.json", "file_text": "x"}),
    ("patch", {"path": "/home/u/.config/shelley/hooks/end-of-turn"}),
    ("Bash", {"command": ["hooktray", "off"]}),
    ("shell", {"command": ["bash", "-lc", "hooktray off"]}),
]


def test_a_forbidden_command_is_caught_however_it_is_written() -> None:
    assert [line for line in lines("hidden calls") if shell(line) < Verdict.ASK] == []


@every("wrapper", sorted(WRAPPERS))
def test_no_program_that_runs_another_hides_a_forbidden_command(wrapper: str) -> None:
    """Whatever is added to the one table of them is judged here."""
    assert shell(f"{wrapper} hooktray off") in (Verdict.ASK, Verdict.DENY)


@every(("way", "spelling"), pairs(lines("ways to change a file"), SPELLINGS))
def test_a_forbidden_write_is_caught_however_it_is_written(way: str, spelling: str) -> None:
    assert shell(way.replace("{p}", spelling)) >= Verdict.ASK


def test_a_tool_that_is_no_shell_is_caught_too() -> None:
    assert [(name, input) for name, input in TOOLS if verdict(event(name, input)) < Verdict.ASK] == []


def test_what_hides_its_words_is_not_seen_and_the_documentation_says_so() -> None:
    assert [line for line in lines("unseen") if shell(line) is not Verdict.ABSTAIN] == []
    said = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    for what in ("base64", "git apply", "kill", "put together at run time"):
        assert what in said


def test_ordinary_calls_are_left_alone() -> None:
    assert [line for line in lines("ordinary") if shell(line) >= Verdict.ASK] == []
    assert [tool for tool in ORDINARY_TOOLS if verdict(event(*tool)) >= Verdict.ASK] == []


def test_every_command_is_free_asked_about_or_denied() -> None:
    assert {word for word, _ in first_words()} <= VERBS


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf {}",
        "rm -rf {} /tmp/x",
        "mv {} old",
        "chmod -R u+w {}",
        "cp -r {} /tmp/backup",
        "ln -s {} tray",
        "rsync -a {} host:/srv",
    ],
)
def test_a_repository_with_our_name_is_not_the_program(tmp_path: Path, line: str) -> None:
    (tmp_path / "hooktray").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hooktray").touch()
    folder = tmp_path.as_posix()

    found = [
        shell(f"cd {folder}\n{line.format(path)}")
        for path in ("hooktray", f"{folder}/hooktray", "bin/hooktray", f"{folder}/bin/hooktray")
    ]

    assert found == [Verdict.ABSTAIN, Verdict.ABSTAIN, Verdict.ASK, Verdict.ASK]


@pytest.mark.parametrize("make", [os.link, *([os.symlink] if sys.platform != "win32" else ())])
def test_another_name_of_a_protected_file_is_that_file(tmp_path: Path, make: object) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    (home / ".claude" / "settings.json").write_text("{}")
    assert callable(make)
    make(home / ".claude" / "settings.json", project / "notes.txt")
    (project / "plain.txt").write_text("")
    protection = Protection(protected_paths=ProtectedPaths(own=PLACES.own, home=str(home)))

    said = [
        protection.judge(event("Write", {"file_path": str(project / name)})) for name in ("notes.txt", "plain.txt")
    ]

    assert [one.output.verdict if one else None for one in said] == [Verdict.DENY, None]
