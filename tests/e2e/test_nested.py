"""Agents that a hook starts: the hooks above them are skipped and no others, with a real tray and real relays."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from desk import wait
from e2e.nest import LONG, WAYS, Nest
from house import PRE_TOOL_USE, House
from plain import Plain

from tray.installation import installed_relay

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")


@pytest.fixture
def nest(house: House, plain: Plain, tmp_path: Path) -> Nest:
    return Nest(house, plain, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_below_a_hook_is_guarded_by_every_hook_but_that_one(nest: Nest, way: str) -> None:
    inner = nest.agent("inner", "start it; rm -rf x; mkfs y")
    nest.starter("start it", WAYS[way].format(inner=inner))
    nest.guards()
    nest.live.start()

    nest.live.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": "start it"}})

    answer = nest.answer("inner")
    assert answer["permissionDecision"] == "deny"
    assert "the guard says no" in answer["permissionDecisionReason"]
    assert "the rule" in answer["permissionDecisionReason"]
    gates = nest.gates("rm -rf x")
    assert {"rule": "", "guard": ""}.items() <= gates.items()
    assert nest.count("guard") == 1
    assert (gates["starter"], nest.count("starter")) == ("nested", 1)


def test_a_model_call_from_a_hook_of_model_calls_asks_every_hook_but_that_one(nest: Nest) -> None:
    model_call = {"event": "pre_llm_call", "session_id": "s", "cwd": "/", "system": "s", "last_user_message": "outer"}
    payload, script = nest.folder / "inner.json", nest.folder / "inner.sh"
    payload.write_text(json.dumps(model_call | {"last_user_message": "is this a secret?"}))
    script.write_text(
        f"{shlex.join(nest.live.relay_argv('starchild', 'pre_llm_call'))} <{payload} >{nest.folder}/said.tmp\n"
        f"mv {nest.folder}/said.tmp {nest.folder}/said\n"
    )
    judge = f"cat >/dev/null; echo run >>{nest.folder}/judge-runs; sh {script}"
    nest.house.hook("judge", on="model_before", script=judge, timeout=LONG)
    deny = """echo '{"decision":"block","reason":"the guard says no"}'"""
    nest.house.hook("guard", on="model_before", matcher="secret", script=f"cat >/dev/null; {deny}")
    nest.live.start()

    nest.live.relay("starchild", "pre_llm_call", model_call)

    wait((nest.folder / "said").exists, what="the inner answer")
    assert json.loads((nest.folder / "said").read_text())["decision"] == "block"
    assert nest.gates("is this a secret?") == {"judge": "nested", "guard": ""}
    assert nest.count("judge") == 1


def test_the_same_holds_when_one_shot_engines_judge(nest: Nest) -> None:
    installed_relay.write_conf(nest.house.paths, "once")
    inner = nest.agent("inner", "start it; rm -rf x; mkfs y")
    nest.starter("start it", f"sh {inner}")
    nest.guards()

    nest.live.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": "start it"}})

    assert nest.answer("inner")["permissionDecision"] == "deny"
    assert nest.row("rm -rf x").offline
    assert nest.gates("rm -rf x") == {"rule": "", "starter": "nested", "guard": ""}
    assert (nest.count("starter"), nest.count("guard")) == (1, 1)


def test_below_three_hooks_guards_are_still_asked_and_below_four_only_rules(nest: Nest) -> None:
    for level in range(1, 6):
        deeper = nest.agent(f"level-{level + 1}", f"level-{level + 1} look" + (" mkfs" if level == 4 else ""))
        nest.starter(f"level-{level} ", f"sh {deeper}", f"starter-{level}")
    note = f"cat >/dev/null; echo asked >>{nest.folder}/guard-runs"
    nest.house.hook("guard", on="tool_before", matcher="look", script=note)
    nest.house.hook("rule", on="tool_before", matcher="mkfs", type="rule", decision="deny", reason="the rule")
    nest.live.start()

    nest.live.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": "level-1 look"}})

    assert nest.answer("level-5")["permissionDecisionReason"].endswith("the rule")
    assert nest.gates("level-5 ") == {"rule": "", "starter-5": "nested too deep", "guard": "nested too deep"}
    assert nest.row("level-5 ").adjustments[0].startswith("the event comes from below 4 hooks")
    assert [nest.count(f"starter-{level}") for level in range(1, 6)] == [1, 1, 1, 1, 0]
    assert nest.count("guard") == 4
