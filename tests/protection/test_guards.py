"""What an approved hook goes by without a copy of it is no tool's to change, in whichever folder it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from every import every
from house import House
from msgspec.structs import replace
from protection.calls import PLACES, event, lines
from protection.calls import verdict as judged

from tray.model.decision import Verdict
from tray.protection.self_protection import Protection
from tray.store.ledger import LedgerState

GUARDS = [
    ".codex/hooks/policy.py",
    ".gemini/hooks/check.sh",
    ".github/hooks/scripts/guard.sh",
    ".claude/helpers/deny.mjs",
    "tools/ci/gate",
    "x.toml",
]


def verdict(tool: str, input: dict[str, Any], *guards: str) -> Verdict:
    return judged(event(tool, input), approved=LedgerState(uncovered=guards))


def writes(guard: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (
        ("Bash", {"command": line.replace("{p}", guard)}) for line in lines("ways to change what a hook goes by")
    )
    yield "Write", {"file_path": f"/home/u/p/{guard}", "content": "exit 0"}
    yield "Edit", {"file_path": guard, "old_string": "a", "new_string": "b"}
    yield "MultiEdit", {"file_path": f"./{guard}", "edits": []}
    yield "apply_patch", {"input": f"*** Begin Patch\n*** Update File: {guard}\n@@\n-a\n+b\n*** End Patch"}
    yield "mcp__fs__write_file", {"path": f"/home/u/p/{guard}", "content": "x"}


@every("guard", GUARDS)
def test_no_tool_changes_what_a_hook_goes_by_without_a_question(guard: str) -> None:
    passed = [call for call in writes(guard) if verdict(*call, f"/home/u/p/{guard}") < Verdict.ASK]

    assert passed == []


@every("guard", GUARDS)
def test_reading_and_running_it_is_free(guard: str) -> None:
    judged = [
        one
        for one in lines("ways to read it")
        if verdict("Bash", {"command": one.replace("{p}", guard)}, f"/home/u/p/{guard}")
    ]

    assert judged == []


GUARD = "/home/u/p/tools/ci/gate"
FOLDERS = [
    ("codex", "shell", "workdir"),
    ("codex", "exec_command", "workdir"),
    ("gemini-cli", "run_shell_command", "dir_path"),
    ("qwen-code", "run_shell_command", "directory"),
    ("cursor", "Shell", "working_directory"),
    ("opencode", "bash", "workdir"),
    ("antigravity", "run_command", "Cwd"),
    ("x-code", "shell", "cwd"),
    ("windsurf", "run_command", "cwd"),
]


@every(("agent", "tool", "key"), FOLDERS)
def test_a_command_is_judged_in_the_folder_that_its_call_names(agent: str, tool: str, key: str) -> None:
    def judged(command: str, folder: str) -> bool:
        input = {"command": command, "cmd": command, "CommandLine": command, "command_line": command, key: folder}
        call = replace(event(tool, input), agent=agent)
        return Protection(protected_paths=PLACES, approved=LedgerState(uncovered=(GUARD,))).judge(call) is not None

    assert judged("rm gate", "/home/u/p/tools/ci")
    assert judged("rm gate", "tools/ci")
    assert judged("rm tools/ci/gate", "/tmp")  # an agent may not know the key
    assert judged("echo '{}' > settings.json", "/home/u/.claude")
    assert not judged("rm gate", "/home/u/p/tools/other")
    assert not judged("cat gate", "/home/u/p/tools/ci")


@every(
    ("line", "is_asked"),
    [
        ("cp -t tools/ci /tmp/gate", True),
        ("cp -r /tmp/ci tools", True),
        ("mv -f /tmp/ci tools/", True),
        ("install -m 755 -t tools/ci /tmp/gate", True),
        ("rm -r tools/c*", True),
        ("ls tools/ci/* | xargs rm", True),
        ("cp -t tools/ci /tmp/other", False),
        ("cp -r /tmp/docs tools", False),
        ("cp -r tools /tmp/backup", False),
        ("rm -f tools/*.pyc", False),
        ("ls tools/ci/* | xargs wc -l", False),
        ("touch tools/ci/other", False),
        ("rm $(pwd)/tools/ci/other", False),
    ],
)
def test_what_is_put_into_its_folder_is_asked_about_if_it_may_replace_it(line: str, *, is_asked: bool) -> None:
    assert (verdict("Bash", {"command": line}, GUARD) >= Verdict.ASK) is is_asked


@every("guard", ["tools/ci/gate", "x.toml", ".github/hooks/scripts/guard.sh"])
def test_the_same_file_is_free_once_no_hook_needs_it_or_its_approval_covers_it(guard: str) -> None:
    assert verdict("Edit", {"file_path": guard, "old_string": "a", "new_string": "b"}) is Verdict.ABSTAIN
    assert (
        verdict("Edit", {"file_path": guard, "old_string": "a", "new_string": "b"}, "/home/u/p/y") is Verdict.ABSTAIN
    )


@every(
    "line",
    ["rm -rf tools", "mv tools/ci /tmp", "chmod -R a-r tools", "git clean -fdx", "rm tools/ci/*", "rm -rf ../p"],
)
def test_a_folder_above_it_is_not_taken_away(line: str) -> None:
    assert verdict("Bash", {"command": line}, "/home/u/p/tools/ci/gate") >= Verdict.ASK


@every(
    "line", ["rm -rf node_modules", "rm -rf node_modules .venv && npm ci", "npm install", "rm -rf build", "rm src/x"]
)
def test_packages_that_a_hook_uses_are_made_anew_freely(line: str) -> None:
    guards = ("/home/u/p/node_modules/.bin/eslint", "/home/u/p/.venv/bin/python", "/home/u/p/node_modules")

    assert verdict("Bash", {"command": line}, *guards) is Verdict.ABSTAIN


@pytest.mark.parametrize("edited", ["guard.sh", "rules.json"])
def test_an_approval_says_which_files_it_does_not_cover(house: House, edited: str) -> None:
    """The covered script is free to edit, as its copy runs; its rules are not."""
    place = house.root / "tools"
    place.mkdir()
    (place / "rules.json").write_text("[]")
    (place / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    (place / "guard.sh").chmod(0o755)
    house.hook("guard", on="tool_before", command=f"{place}/guard.sh {place}/rules.json")
    input = {"file_path": str(place / edited), "content": "x"}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": str(house.root)}

    answer = house.relay("claude-code", "PreToolUse", {**payload, "tool_name": "Write", "tool_input": input})

    said = json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] if answer.stdout else ""
    assert said == ("ask" if edited == "rules.json" else "")
    assert house.stores.ledger.state.uncovered == (str(place / "rules.json"),)


def test_a_revoked_hook_protects_nothing(house: House, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text("[]")
    state = house.hook("guard", on="tool_before", script="exit 0", command=f"./guard.sh {tmp_path}/rules.json")

    house.consent.revoke(state.key, "test")

    assert house.stores.ledger.state.uncovered == ()
