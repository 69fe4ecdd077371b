"""What a broken hook means, by the policy of the file that declares it (decision 16)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from house import PRE_TOOL_USE, House

BROKEN = {
    "exit code": "exit 3",
    "signal": "kill -9 $$",
    "out of time": "sleep 60",
    "too much": "head -c 1100000 /dev/zero",
}
SECONDS = dict.fromkeys(BROKEN, 20.0) | {"out of time": 0.3}
DIALECTS = ("claude-code", "shelley", "starchild", "x-code")


def approve(house: House, agent: str, path: Path) -> None:
    house.configure({"sources": [{agent: str(path)}]})
    for one in house.catalog.states:
        assert one.digest, one.health
        house.consent.approve(one.key, one.digest, "test")


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_block_in_our_own_file_blocks_whatever_broke_in_any_dialect(house: House, dialect: str, how: str) -> None:
    keys: dict[str, Any] = {"script": BROKEN[how], "timeout": SECONDS[how], "dialect": dialect, "failure": "block"}
    house.hook("guard", on="tool_before", **keys)

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert house.last.hooks[0]["status"] == ("timed_out" if how == "out of time" else "failed")


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize(("said", "blocks"), [("block", True), ("continue", False), (None, False)])
def test_claude_codes_on_failure(house: House, tmp_path: Path, how: str, said: str | None, blocks: bool) -> None:
    handler = {"type": "command", "command": BROKEN[how], "timeout": SECONDS[how]}
    handler |= {"onFailure": said} if said else {}
    events = {event: [{"hooks": [handler]}] for event in ("PreToolUse", "Stop")}
    approve(house, "claude-code", write(tmp_path / "settings.json", {"hooks": events}))

    assert bool(house.tool()) is blocks
    stop = {"session_id": "s", "cwd": "/", "hook_event_name": "Stop"}
    assert house.relay("claude-code", "Stop", stop).stdout == b""


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("policy", ["allow", "block"])
def test_x_codes_failure_policy(house: House, tmp_path: Path, how: str, policy: str) -> None:
    entry = {"command": BROKEN[how], "timeout": 300, "failurePolicy": policy}
    approve(house, "x-code", write(tmp_path / "hooks" / "hooks.json", {"PreToolUse": [entry]}))

    assert bool(house.tool()) is (policy == "block")
    assert house.last.hooks[0]["status"] != "ok"


@pytest.mark.parametrize("how", ["exit code", "signal", "too much"])
def test_starchilds_hooks_never_block_by_failing(house: House, tmp_path: Path, how: str) -> None:
    script = write(tmp_path / "hooks" / "guard.sh", f"#!/bin/sh\n{BROKEN[how]}\n")
    script.chmod(0o755)
    text = "hooks: [{event: pre_tool_call, command: ./hooks/guard.sh}]\n"
    approve(house, "starchild", write(tmp_path / "config" / "shell_hooks.yaml", text))

    assert house.tool() == {}
    assert house.last.hooks[0]["status"] == "failed"


@pytest.mark.parametrize("how", ["exit code", "signal", "too much"])
def test_shelleys_hooks_block_but_for_the_end_of_a_turn(house: House, tmp_path: Path, how: str) -> None:
    for name in ("chat-message", "end-of-turn"):
        write(tmp_path / "hooks" / name, f"#!/bin/sh\n{BROKEN[how]}\n").chmod(0o755)
    approve(house, "shelley", tmp_path / "hooks")
    message = {"message": "hello", "readonly": {"conversation_id": "c"}}

    assert house.relay("shelley", "chat-message", message).code == 1
    ended = house.relay("shelley", "end-of-turn", {"type": "end_of_turn", "conversation_id": "c"})
    assert (ended.stdout, ended.code) == (b"", 0)
    assert house.last.verdict.word == "abstain"


def test_a_failure_that_blocks_a_claude_hook_on_a_foreign_agent_blocks_there(house: House, tmp_path: Path) -> None:
    handler = {"type": "command", "command": "exit 3", "onFailure": "block"}
    groups = {"PreToolUse": [{"hooks": [handler]}]}
    approve(house, "claude-code", write(tmp_path / "settings.json", {"hooks": groups}))
    payload = {"event": "pre_tool_call", "session_id": "s", "cwd": "/", "tool_name": "bash", "tool_input": {}}

    assert json.loads(house.relay("starchild", "pre_tool_call", payload).stdout)["decision"] == "block"
    assert house.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout
