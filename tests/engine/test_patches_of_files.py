"""A guard that reads one file is asked about each file of a patch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine.declared import claude, declare
from house import House

from tray.model.decision import Verdict

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Update File: .env\n@@\n-x\n+y\n*** End Patch"
READ = "import json, sys; path = json.load(sys.stdin)['tool_input']['file_path']"
REFUSE = f"{READ}; sys.exit('no secrets' if path == '.env' else 0)"


def guarded(house: House, code: str) -> None:
    script = house.script("guard.sh", f'exec python3 -c "{code}"')
    declare(house, {"claude-code": str(claude(house.root, {"command": str(script)}, matcher="Edit|Write"))})


def patched(house: House, text: str = PATCH) -> dict[str, Any]:
    common = {"session_id": "s", "cwd": str(house.root), "model": "m", "turn_id": "t", "permission_mode": "default"}
    call = {"tool_name": "apply_patch", "tool_input": {"command": text}, "tool_use_id": "c"}
    answer = house.relay("codex", "PreToolUse", {**common, "hook_event_name": "PreToolUse", **call})
    return dict(json.loads(answer.stdout)) if answer.stdout else {}


def test_a_file_behind_the_first_is_refused_as_the_first_would_be(house: House) -> None:
    guarded(house, f"{READ}; sys.stderr.write('no secrets'); sys.exit(2 if path == '.env' else 0)")

    answer = patched(house)

    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "no secrets" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert [hook["name"] for hook in house.last.hooks] == ["guard"]


def test_a_guard_that_fails_for_a_later_file_has_failed(house: House) -> None:
    guarded(house, REFUSE)

    assert patched(house) == {}
    assert "exit 1" in str(house.last.hooks[0]["cause"])


def test_what_each_file_adds_to_the_context_is_joined(house: House) -> None:
    said = "{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'additionalContext': path}}"
    guarded(house, f"{READ}; print(json.dumps({said}))")

    assert patched(house)["hookSpecificOutput"]["additionalContext"] == "a.py\n\n.env"


def test_an_allow_of_one_file_allows_no_other(house: House) -> None:
    said = "{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'allow'}}"
    guarded(house, f"{READ}; print(json.dumps({said}) if path == 'a.py' else '')")

    patched(house)

    assert house.decisions[-1][1].verdict is Verdict.ABSTAIN


@pytest.mark.parametrize("path", ["a.py", ".env"])
def test_a_rewrite_of_one_file_of_a_patch_is_a_refusal(house: House, path: str) -> None:
    said = "{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'updatedInput': {'file_path': 'b'}}}"
    guarded(house, f"{READ}; print(json.dumps({said}) if path == '{path}' else '')")

    answer = patched(house)

    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "one file of a patch" in answer["hookSpecificOutput"]["permissionDecisionReason"]
