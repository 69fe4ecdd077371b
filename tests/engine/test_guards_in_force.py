"""The approved guards in the relay's table: names of tools, the failure of each, and none while hooks are off."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from engine.declared import declare, write
from house import House
from msgspec.structs import replace

from tray.agents.tools import native_names, titles
from tray.engine import plan
from tray.engine.guards_in_force import guards
from tray.model.hook import Failure, Guard

EVERYBODY = ("claude-code", "copilot-cli", "shelley", "starchild", "x-code")


def found(house: House, *agents: str, event: str = "PreToolUse", **more: Any) -> list[Guard]:
    rows = guards(house.stores.ledger.state, house.stores.switch, agents or ("claude-code",), **more)
    return [replace(row, hooks=()) for row in rows if row.event == event]


def row(failure: str, *names: str, agent: str = "claude-code", others: bool = False) -> Guard:
    return Guard(
        agent=agent, event="PreToolUse", failure=Failure(failure), names=tuple(sorted(names)), is_exception=others
    )


def known(*without: str, agent: str = "claude-code") -> set[str]:
    return {name for title in titles() for name in native_names(agent, title)} - set(without)


def covers(guard: Guard, tool: str) -> bool:
    return (tool in guard.names) != guard.is_exception


def test_a_name_of_one_agent_guards_every_agents_own_tool_where_its_failure_stops_anything(house: House) -> None:
    house.hook("guard", on="tool_before", tool="Bash", script="exit 0", failure="block")

    rows = guards(house.stores.ledger.state, house.stores.switch, EVERYBODY)

    tools = {(one.agent, one.event): set(one.names) for one in rows}
    assert "Bash" in tools["claude-code", "PreToolUse"]
    assert "bash" in tools["starchild", "pre_tool_call"]
    assert "shell" in tools["x-code", "PreToolUse"]
    assert {one.failure for one in rows} == {Failure.BLOCK}


@pytest.mark.parametrize("tool", ["Ba(sh|tch)", "^Ba", "sh$"])
def test_a_pattern_guards_the_known_tools_that_it_finds_and_all_that_are_not_known(house: House, tool: str) -> None:
    house.hook("guard", on="tool_before", tool=tool, script="exit 0")

    (guard,) = found(house)

    assert guard.is_exception
    assert [covers(guard, name) for name in ("Bash", "mcp__any", "Read", "Write")] == [True, True, False, False]


@pytest.mark.parametrize("tool", ["^Bash$", "^(Bash|Write)$", "^(?:Bash)$"])
def test_a_pattern_that_is_a_list_of_names_guards_nothing_else(house: House, tool: str) -> None:
    house.hook("guard", on="tool_before", tool=tool, script="exit 0")

    (guard,) = found(house)

    assert not guard.is_exception
    assert covers(guard, "Bash")
    assert not covers(guard, "mcp__any")


@pytest.mark.parametrize("tool", ["", "*"])
def test_a_guard_without_a_matcher_guards_everything(house: House, tool: str) -> None:
    house.hook("guard", on="tool_before", tool=tool, matcher="rm -rf", script="exit 0")

    assert found(house) == [row("ask", others=True)]


def test_hooks_of_one_failure_share_a_row_and_each_failure_has_its_own(house: House) -> None:
    house.hook("shell", on="tool_before", tool="Bash|mcp__disk__wipe", script="exit 0")
    house.hook("writer", on="tool_before", tool="Write", script="exit 0", failure="ask")
    house.hook("strict", on="tool_before", tool="Edit", script="exit 0", failure="block")
    house.hook("lenient", on="tool_before", tool="Edit", script="exit 0", failure="allow")

    rows = guards(house.stores.ledger.state, house.stores.switch, ["claude-code"])

    assert found(house) == [row("ask", "Bash", "Write", "mcp__disk__wipe"), row("block", "Edit")]
    assert [one.hooks for one in rows if one.event == "PreToolUse"] == [("shell", "writer"), ("strict",)]


def test_where_the_event_cannot_ask_only_block_and_a_written_ask_guard(house: House) -> None:
    house.hook("default", on="tool_before", tool="Read", script="exit 0")
    house.hook("asks", on="tool_before", tool="Write", script="exit 0", failure="ask")
    house.hook("blocks", on="tool_before", tool="Edit", script="exit 0", failure="block")

    unjudged, guard = found(house, "x-code")

    assert guard.failure is Failure.BLOCK
    assert [covers(guard, name) for name in ("readFile", "writeFile", "edit")] == [False, True, True]
    assert unjudged.failure is Failure.ALLOW
    assert [covers(unjudged, name) for name in ("readFile", "writeFile", "edit")] == [True, False, False]


def test_a_hook_that_may_fail_a_hook_that_is_off_and_one_that_waits_guard_nothing(house: House) -> None:
    house.hook("lenient", on="tool_before", tool="Bash", script="exit 0", failure="allow")
    house.hook("off", on="tool_before", tool="Bash", script="exit 0", enabled=False)
    house.hook("waits", on="tool_before", tool="Bash", script="exit 0", approved=False)
    switched = house.hook("switched", on="tool_before", tool="Bash", script="exit 0")
    house.stores.switch.set_hook(switched.key, False, "test")
    house.hook("after", on="tool_after", tool="Bash", script="exit 0", failure="block")

    assert found(house) == []


def test_a_rule_that_looks_only_at_the_tool_has_its_own_verdict(house: House) -> None:
    house.hook("no web", on="tool_before", tool="WebFetch", type="rule", decision="deny")
    house.hook("ask first", on="tool_before", tool="Write", type="rule", decision="ask")
    house.hook("fine", on="tool_before", tool="Read", type="rule", decision="allow")

    assert found(house) == [row("ask", "Write"), row("block", "WebFetch")]
    (guard,) = found(house, "x-code")
    assert (guard.failure, covers(guard, "writeFile"), covers(guard, "readFile")) == (Failure.BLOCK, True, False)


def test_a_rule_that_looks_at_arguments_asks_as_a_failed_hook_does(house: House) -> None:
    house.hook("no rm", on="tool_before", tool="Bash", matcher="rm -rf", type="rule", decision="deny")

    assert found(house) == [row("ask", "Bash")]


def test_a_rules_pattern_refuses_what_it_finds_and_asks_about_what_is_not_known(house: House) -> None:
    house.hook("no web", on="tool_before", tool="Web.*", type="rule", decision="deny")

    asks, blocks = found(house)

    assert (asks.failure, blocks.failure) == (Failure.ASK, Failure.BLOCK)
    assert (set(blocks.names), blocks.is_exception) == ({"WebFetch", "WebSearch"}, False)
    assert covers(asks, "mcp__any")
    assert not any(covers(asks, name) for name in known())


def test_there_are_none_while_hooks_are_off_or_paused_and_an_agents_pause_is_its_own(house: House) -> None:
    house.hook("guard", on="tool_before", tool="Bash", script="exit 0", failure="block")
    switch, later = house.stores.switch, time.time() + 600
    agents = ("claude-code", "x-code")

    switch.pause(later, agent="claude-code", channel="test")
    assert {one.agent for one in found(house, *agents)} == {"x-code"}
    switch.set_enabled(True, "test")
    switch.pause(later, session="s-1", agent="claude-code", channel="test")
    assert {one.agent for one in found(house, *agents)} == set(agents), "the relay knows no sessions"
    switch.pause(later, channel="test")
    assert found(house, *agents) == []
    assert {one.agent for one in found(house, *agents, after_quit=True)} == set(agents)
    switch.set_enabled(False, "test")
    assert found(house, *agents, after_quit=True) == []


def test_a_hook_of_another_format_guards_the_tools_of_its_matcher(house: House, tmp_path: Path) -> None:
    command = {"type": "command", "command": "true"}
    groups = [{"matcher": "Write|Edit", "hooks": [command]}, {"hooks": [command | {"if": "Bash(git *)"}]}]
    path = write(tmp_path / "settings.json", {"hooks": {"PreToolUse": groups, "PostToolUse": groups}})
    declare(house, {"claude-code": str(path)})

    assert found(house) == [row("ask", "Bash", "Edit", "Write")]


def test_an_agent_that_is_not_connected_has_none(house: House) -> None:
    house.hook("guard", on="tool_before", tool="Bash", script="exit 0")

    assert guards(house.stores.ledger.state, house.stores.switch, ()) == ()


def test_a_hook_whose_matcher_fails_guards_every_tool(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.hook("guard", on="tool_before", tool="Writ.", script="exit 0", failure="block")

    def fail(*_: object) -> bool:
        raise RuntimeError("a fault in Hooktray")

    monkeypatch.setattr(plan, "_tool_fits", fail)

    (guard,) = found(house)
    assert guard.failure is Failure.BLOCK
    assert covers(guard, "Bash")
    assert covers(guard, "mcp__disk__wipe")


def test_a_tool_that_one_pattern_names_is_guarded_although_another_excepts_it(house: House) -> None:
    """The pattern's row excepts every known tool that it does not match, `Read` among them."""
    house.hook("shells", on="tool_before", tool="Ba(sh|tch)", script="exit 0")
    house.hook("reads", on="tool_before", tool="Read", script="exit 0")

    (guard,) = found(house)

    assert guard.is_exception
    assert [covers(guard, name) for name in ("Bash", "Read", "Write")] == [True, True, False]
