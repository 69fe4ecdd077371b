"""What a broken hook means, by the policy of the file that declares it (decision 16)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.hosts import heard
from engine.declared import STOP, X_CODE, claude, declare, plugin, write
from house import PRE_TOOL_USE, House

from tray.agents.protocol import parse, spec
from tray.engine.sentence import sentence
from tray.model.event import Capability
from tray.model.hook import Failure

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")

BROKEN = {
    "exit code": "exit 3",
    "signal": "kill -9 $$",
    "out of time": "sleep 60",
    "too much": "head -c 1100000 /dev/zero",
}
SECONDS = dict.fromkeys(BROKEN, 20.0) | {"out of time": 0.3}
DIALECTS = ("copilot-cli", "shelley", "starchild", "x-code")


# All dialects treat the failures alike, so only one of them tests every failure.
IN_EACH_DIALECT = [("claude-code", how) for how in BROKEN] + [(dialect, "exit code") for dialect in DIALECTS]
FAILS = ["exit code", "signal", "too much"]


@pytest.mark.parametrize(("dialect", "how"), IN_EACH_DIALECT)
def test_block_in_our_own_file_blocks_whatever_broke_in_any_dialect(house: House, dialect: str, how: str) -> None:
    keys: dict[str, Any] = {"script": BROKEN[how], "timeout": SECONDS[how], "dialect": dialect, "failure": "block"}
    house.hook("guard", on="tool_before", **keys)

    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert house.last.hooks[0]["status"] == ("timed_out" if how == "out of time" else "failed")


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize(("said", "blocks"), [("block", True), ("continue", False), (None, False)])
def test_claude_codes_on_failure(house: House, tmp_path: Path, how: str, said: str | None, blocks: bool) -> None:
    handler = {"command": BROKEN[how], "timeout": SECONDS[how], **({"onFailure": said} if said else {})}
    declare(house, {"claude-code": str(claude(tmp_path, handler))})

    assert bool(house.tool()) is blocks


def test_no_failure_of_claude_codes_hooks_refuses_an_end(house: House, tmp_path: Path) -> None:
    declare(house, {"claude-code": str(claude(tmp_path, {"command": "exit 3", "onFailure": "block"}, event="Stop"))})

    assert house.relay("claude-code", "Stop", STOP).stdout == b""


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("policy", ["allow", "block"])
def test_x_codes_failure_policy(house: House, tmp_path: Path, how: str, policy: str) -> None:
    entry = {"command": BROKEN[how], "timeout": 300, "failurePolicy": policy}
    declare(house, {"x-code": str(plugin(tmp_path, entry) / "hooks" / "hooks.json")})

    assert bool(house.tool()) is (policy == "block")
    assert house.last.hooks[0]["status"] != "ok"


@pytest.mark.parametrize("how", FAILS)
def test_starchilds_hooks_never_block_by_failing(house: House, tmp_path: Path, how: str) -> None:
    write(tmp_path / "hooks" / "guard.sh", f"#!/bin/sh\n{BROKEN[how]}\n", executable=True)
    text = "hooks: [{event: pre_tool_call, command: ./hooks/guard.sh}]\n"
    declare(house, {"starchild": str(write(tmp_path / "config" / "shell_hooks.yaml", text))})

    assert house.tool() == {}
    assert house.last.hooks[0]["status"] == "failed"


@pytest.mark.parametrize("how", FAILS)
def test_shelleys_hooks_block_but_for_the_end_of_a_turn(house: House, tmp_path: Path, how: str) -> None:
    for name in ("chat-message", "end-of-turn"):
        write(tmp_path / "hooks" / name, f"#!/bin/sh\n{BROKEN[how]}\n", executable=True)
    declare(house, {"shelley": str(tmp_path / "hooks")})
    message = {"message": "hello", "readonly": {"conversation_id": "c"}}

    assert house.relay("shelley", "chat-message", message).code == 1
    ended = house.relay("shelley", "end-of-turn", {"type": "end_of_turn", "conversation_id": "c"})
    assert (ended.stdout, ended.code) == (b"", 0)
    assert house.last.verdict.word == "abstain"


STARCHILD = {"event": "pre_tool_call", "session_id": "s", "cwd": "/", "tool_name": "bash", "tool_input": {}}
SHELL_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-code": ("PreToolUse", PRE_TOOL_USE),
    "starchild": ("pre_tool_call", STARCHILD),
    "x-code": ("PreToolUse", X_CODE),
}
CANNOT_ASK = tuple(agent for agent, (name, _) in SHELL_CALLS.items() if Capability.ASK not in spec(agent, name).can)


def call(house: House, agent: str) -> str:
    """The verdict that the agent hears about a shell command."""
    name, payload = SHELL_CALLS[agent]
    event = parse(house.relay_request(agent, payload, event=name))
    return heard(event, house.relay(agent, name, payload)).verdict


@pytest.mark.parametrize("how", BROKEN)
def test_without_a_policy_a_broken_guard_asks_where_the_agent_can(house: House, how: str) -> None:
    house.hook("guard", on="tool_before", script=BROKEN[how], timeout=SECONDS[how])

    assert call(house, "claude-code") == "ask"
    assert house.last.reason.startswith("guard: it failed: ")
    assert "guard asks you: it failed: " in sentence(house.last)


@pytest.mark.parametrize("agent", CANNOT_ASK)
def test_without_a_policy_a_broken_guard_lets_through_where_the_agent_cannot_ask(house: House, agent: str) -> None:
    house.hook("guard", on="tool_before", script="exit 3", dialect="starchild")

    assert call(house, agent) == "none"
    name = SHELL_CALLS[agent][0]
    assert house.last.adjustments == (f"guard: it failed, and {name} of {agent} cannot ask: it refused nothing",)
    assert house.decisions[-1][1].outcomes[0].let_through


@pytest.mark.parametrize("agent", SHELL_CALLS)
def test_ask_that_is_written_out_becomes_a_denial_where_the_agent_cannot_ask(house: House, agent: str) -> None:
    house.hook("guard", on="tool_before", script="exit 3", failure="ask")

    assert call(house, agent) == ("deny" if agent in CANNOT_ASK else "ask")
    assert not house.decisions[-1][1].outcomes[0].let_through


@pytest.mark.parametrize("agent", SHELL_CALLS)
def test_allow_that_is_written_out_lets_through_without_asking(house: House, agent: str) -> None:
    house.hook("guard", on="tool_before", script="exit 3", failure="allow")

    assert call(house, agent) == "none"
    assert not house.decisions[-1][1].outcomes[0].let_through


@pytest.mark.parametrize(
    ("event", "failure"),
    [("tool_before", "default"), ("permission_request", "default"), ("tool_after", "allow"), ("turn_end", "allow")],
)
def test_only_hooks_that_gate_ask_by_default(house: House, event: str, failure: str) -> None:
    assert house.hook("hook", on=event, script="exit 0").hook.failure.value == failure


def test_a_hook_for_the_agents_own_event_that_gates_asks_by_default(house: House) -> None:
    keys: dict[str, Any] = {"agent": ["claude-code"], "script": "exit 3"}

    assert house.hook("guard", on="PreToolUse", **keys).hook.failure is Failure.DEFAULT
    assert house.hook("watcher", on="PostToolUse", **keys).hook.failure is Failure.ALLOW
    assert call(house, "claude-code") == "ask"


def test_the_refusal_of_another_hook_wins_over_a_failure_that_asks(house: House) -> None:
    house.hook("broken", on="tool_before", script="exit 3")
    house.hook("guard", on="tool_before", script="""echo '{"decision":"block","reason":"no"}'""")

    assert call(house, "claude-code") == "deny"


def test_a_hook_for_which_there_is_no_thread_left_asks_and_a_rule_still_denies(house: House) -> None:
    house.hook("guard", on="tool_before", tool="Bash", script="exit 0")
    request = house.relay_request("claude-code", PRE_TOOL_USE, event="PreToolUse")
    read = house.relay_request("claude-code", PRE_TOOL_USE | {"tool_name": "Read"}, event="PreToolUse")

    asked, cause = house.engine.answer_busy(request), house.last.hooks[0]["cause"]
    unguarded = house.engine.answer_busy(read)
    house.hook("rule", on="tool_before", type="rule", decision="deny")

    assert json.loads(asked.stdout)["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert cause == "busy"
    assert unguarded.stdout == b"", "no guard matches it"
    denied = house.engine.answer_busy(request).stdout
    assert json.loads(denied)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_failure_that_blocks_a_claude_hook_on_a_foreign_agent_blocks_there(house: House, tmp_path: Path) -> None:
    declare(house, {"claude-code": str(claude(tmp_path, {"command": "exit 3", "onFailure": "block"}))})

    assert json.loads(house.relay("starchild", "pre_tool_call", STARCHILD).stdout)["decision"] == "block"


def test_what_could_not_be_started_is_named_as_the_user_knows_it(house: House) -> None:
    house.script("guard.sh", "exit 0").chmod(0o644)
    house.hook("guard", on="tool_before", command="./guard.sh")

    told = house.tool("ls")["hookSpecificOutput"]["permissionDecisionReason"]

    assert told == f"guard (Hooktray): it failed: not executable: {house.paths.config.parent / 'guard.sh'}"
    assert str(house.paths.copies) not in str(house.last.hooks)
