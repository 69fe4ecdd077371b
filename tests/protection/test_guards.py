"""What an approved hook goes by without a copy of it is no tool's to change, in whichever folder it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from every import every
from house import House
from protection.test_self_protection import PLACES, event

from tray.model.decision import Verdict
from tray.protection.self_protection import Protection

GUARDS = [
    ".codex/hooks/policy.py",
    ".gemini/hooks/check.sh",
    ".github/hooks/scripts/guard.sh",
    ".claude/helpers/deny.mjs",
    "tools/ci/gate",
    "x.toml",
]
WRITES = [
    "echo 'exit 0' > {}",
    "echo x >> ./{}",
    "tee {} < /tmp/x",
    "cp /tmp/x {}",
    "mv /tmp/x {}",
    "mv {} /tmp/x",
    "ln -sf /tmp/x {}",
    "rm -f {}",
    "rm -rf /home/u/p/{}",
    "chmod -x {}",
    "sed -i 's/deny/allow/' {}",
    "truncate -s0 {}",
    "cat > {} <<'E'\nexit 0\nE",
    "git checkout HEAD~3 -- {}",
    "git restore {}",
    "patch {} < /tmp/d",
    "python3 fix.py {}",
    "python3 -c \"open('{}', 'w').write('x')\"",
    "node -e \"fs.writeFileSync('{}', '')\"",
    "sh -c 'rm {}'",
    "cd .. && rm p/{}",
    "curl -o {} http://x",
    "xargs rm <<< {}",
    "git apply <<'E'\n--- a/{0}\n+++ b/{0}\n@@\n-a\n+b\nE",
]
READS = [
    "cat {}",
    "grep deny {}",
    "python3 {} < /tmp/x",
    "./{}",
    "git diff {}",
    "git add {}",
    "cp {} /tmp/x",
    "ls -l {}",
]


def verdict(tool: str, input: dict[str, Any], *guards: str) -> Verdict:
    found = Protection(protected_paths=PLACES, guards=lambda: guards).judge(event(tool, input))
    return found.output.verdict if found else Verdict.ABSTAIN


def writes(guard: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (("Bash", {"command": line.format(guard)}) for line in WRITES)
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
    judged = [one for one in READS if verdict("Bash", {"command": one.format(guard)}, f"/home/u/p/{guard}")]

    assert judged == []


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
