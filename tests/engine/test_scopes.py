"""A skill's hooks are asked while the skill is in force in the session, an agent's while the agent is at work."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.recordings import recorded, request_for
from engine.declared import approve_all, write
from every import every
from house import PRE_TOOL_USE, House

from tray.agents.protocol import parse
from tray.engine.scopes import in_subagent, invoked_skill, is_active
from tray.engine.trial import synthetic_event
from tray.model.hook import Match, restore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")

DEPLOY = """\
---
name: deploy
hooks:
  PreToolUse:
    - matcher: Bash
      hooks: [{type: command, command: ./check.sh}]
  Stop:
    - hooks: [{type: command, command: ./stop.sh}]
---
"""
SKILL = PRE_TOOL_USE | {"tool_name": "Skill", "tool_input": {"skill": "deploy", "args": "now"}}
STOP = {"session_id": "s-1", "cwd": "/", "hook_event_name": "Stop", "stop_hook_active": False}


def approved(house: House, path: Path, *rules: dict[str, Any], stop: str = "exit 0") -> None:
    write(path, DEPLOY)
    for name, text in (("check.sh", "echo not now >&2; exit 2"), ("stop.sh", stop)):
        write(path.parent / name, f"#!/bin/sh\ncat >/dev/null\n{text}\n", executable=True)
    house.configure({"hooks": rules, "sources": [{"claude-code": str(path)}]})
    approve_all(house)


def denied(answer: dict[str, Any]) -> bool:
    return bool(answer) and answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def tell(house: House, payload: dict[str, Any]) -> None:
    house.relay("claude-code", payload["hook_event_name"], payload)


@pytest.mark.parametrize(
    "invocation",
    [
        SKILL,
        SKILL | {"tool_input": {"command": "/deploy now"}},
        STOP | {"hook_event_name": "UserPromptSubmit", "prompt": "/deploy now"},
        STOP | {"hook_event_name": "UserPromptExpansion", "command_name": "deploy", "prompt": "/deploy"},
    ],
)
def test_a_skill_is_in_force_from_its_invocation_to_the_end_of_the_turn(
    house: House, tmp_path: Path, invocation: dict[str, Any]
) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md")

    before = denied(house.tool())
    tell(house, invocation)
    during = denied(house.tool())
    tell(house, STOP)

    assert (before, during, denied(house.tool())) == (False, True, False)


def test_another_session_and_another_skill_change_nothing(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md")

    tell(house, SKILL | {"session_id": "s-2"})
    tell(house, SKILL | {"tool_input": {"skill": "review"}})

    assert not denied(house.tool())


def test_a_refused_stop_goes_on_with_the_turn(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md", stop="echo go on >&2; exit 2")
    tell(house, SKILL)

    answer = house.relay("claude-code", "Stop", STOP)

    assert json.loads(answer.stdout)["decision"] == "block"
    assert denied(house.tool())


def test_what_a_test_sends_neither_begins_nor_ends_a_skill(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md")
    tell(house, SKILL)

    house.engine.observe(synthetic_event("claude-code", "Stop", json.dumps(STOP).encode(), environment={}, cwd="/"))
    house.join()

    assert denied(house.tool())


def test_while_nobody_can_tell_which_skills_are_in_force_their_hooks_are_asked(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md")
    tell(house, SKILL | {"tool_input": {"skill": "review"}})
    with house.stores.database.write() as connection:
        connection.execute("ALTER TABLE session_mark RENAME TO lost")

    assert denied(house.tool())


def test_a_turn_that_the_user_interrupted_ends_with_the_next_one(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md")
    tell(house, SKILL)

    tell(house, STOP | {"hook_event_name": "UserPromptSubmit", "prompt": "something else"})
    during = denied(house.tool())
    tell(house, STOP)

    assert (during, denied(house.tool())) == (True, False)


def test_a_refused_invocation_brings_nothing_into_force(house: House, tmp_path: Path) -> None:
    refusal = {"event": "tool_before", "type": "rule", "tool": "Skill", "decision": "deny", "reason": "no"}
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md", refusal)

    tell(house, SKILL)

    assert not denied(house.tool())


def test_an_agents_hooks_are_asked_inside_that_agent(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "agents" / "deploy.md")
    subagent = PRE_TOOL_USE | {"agent_id": "a1", "agent_type": "deploy"}

    def asked(payload: dict[str, Any]) -> bool:
        return bool(house.relay("claude-code", "PreToolUse", payload).stdout)

    assert [asked(PRE_TOOL_USE), asked(subagent), asked(subagent | {"agent_type": "other"})] == [False, True, False]
    assert asked(PRE_TOOL_USE | {"agent_type": "deploy"})  # a session begun as this agent


INVOCATIONS = [
    ("claude-code", "PreToolUse", {"tool_name": "Skill", "tool_input": {"skill": "lint:check"}}, "lint:check"),
    ("claude-code", "PreToolUse", {"tool_name": "Skill", "tool_input": {}}, ""),
    ("claude-code", "PreToolUse", {"tool_name": "Bash", "tool_input": {"skill": "x"}}, ""),
    ("claude-code", "PostToolUse", {"tool_name": "Skill", "tool_input": {"skill": "check"}}, ""),
    ("claude-code", "UserPromptSubmit", {"prompt": "/check it"}, "check"),
    ("claude-code", "UserPromptSubmit", {"prompt": "look at /check"}, ""),
    ("claude-code", "UserPromptSubmit", {"prompt": "/usr/bin is full"}, ""),
    ("x-code", "PreToolUse", {"tool": {"name": "activateSkill", "args": {"name": "check"}, "callId": "1"}}, "check"),
    ("shelley", "slash/check", {"command": "check", "raw_message": "/check"}, "check"),
    ("starchild", "on_user_message", {"message": "/check"}, "check"),
]


@every(("agent", "name", "payload", "skill"), INVOCATIONS)
def test_these_events_bring_a_skill_into_force(agent: str, name: str, payload: dict[str, Any], skill: str) -> None:
    assert invoked_skill(parse(request_for(agent, name, json.dumps(payload).encode()))) == skill


def test_the_recorded_slash_command_names_its_skill() -> None:
    assert invoked_skill(recorded("claude-code", "UserPromptExpansion")) == "mycmd"


@pytest.mark.parametrize(
    ("names", "skills", "fits"),
    [
        (("check",), {"check"}, True),
        (("lint:check",), {"check"}, True),
        (("check",), {"lint:check"}, True),
        (("lint:check",), {"other:check"}, False),
        (("check", "verify"), {"verify"}, True),
        (("check",), set(), False),
    ],
)
def test_a_plugins_skill_has_two_names(names: tuple[str, ...], skills: set[str], fits: bool) -> None:
    assert is_active(names, skills) is fits


def test_a_subagents_events_are_inside_it() -> None:
    assert in_subagent("general-purpose", recorded("claude-code", "SubagentStop"))
    assert not in_subagent("general-purpose", recorded("claude-code", "Stop"))


def test_the_scope_is_part_of_what_is_approved(house: House, tmp_path: Path) -> None:
    approved(house, tmp_path / "skills" / "deploy" / "SKILL.md")
    hook = house.catalog.states[0].hook

    assert restore(hook.definition).match == hook.match
    assert hook.match.skill == ("deploy",)
    assert '"skill": ["deploy"]' in hook.definition
    assert Match(event="x") != Match(event="x", subagent="y")
