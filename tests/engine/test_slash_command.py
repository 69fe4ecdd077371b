"""`/hooks …` typed into an agent is answered by the tray, and no prompt loosens a gate."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hosts import claude_judge, shelley, starchild, x_code
from hosts.process import Exit, Report
from house import House

from tray.agents.registry import AGENTS
from tray.engine.own_answers import parse_command
from tray.model.event import Event, EventKind

JUDGES: dict[str, Callable[[str, bytes, Exit], Report]] = {
    "claude-code": claude_judge.judge,
    "shelley": shelley.judge,
    "starchild": starchild.judge,
    "x-code": x_code.judge,
}


def prompt(text: str, kind: EventKind = EventKind.PROMPT, topic: str = "") -> Event:
    return Event(id="1", agent="claude-code", name="x", kind=kind, prompt=text, topic=topic)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/hooks", ("/hooks",)),
        ("  /hooktray list \n", ("/hooktray", "list")),
        ("/hooks approve turn_end ./done.sh", ("/hooks", "approve", "turn_end", "./done.sh")),
        ("/hooksmith", None),
        ("please /hooks list", None),
        ("/hooks " + "x" * 600, None),
        ("", None),
    ],
)
def test_only_a_whole_prompt_is_a_command(text: str, words: tuple[str, ...] | None) -> None:
    assert parse_command(prompt(text)) == words


@pytest.mark.parametrize("agent_says", ["off", "/hooks off"])
def test_a_slash_command_is_one_too(agent_says: str) -> None:
    assert parse_command(prompt(agent_says, EventKind.SLASH_COMMAND, "hooks")) == ("/hooks", "off")


SAID = {"prompt": "/hooks off"}
SLASH = {"command": "hooks", "args": "off", "raw_message": "/hooks off"}
PROMPTS = [
    ("claude-code", "UserPromptSubmit", SAID),
    ("claude-code", "UserPromptExpansion", SAID | {"command_name": "hooks", "command_args": "off"}),
    ("x-code", "UserPromptSubmit", SAID),
    ("starchild", "pre_llm_call", {"last_user_message": "/hooks off"}),
    ("shelley", "chat-message", {"message": "/hooks off"}),
    ("shelley", "slash/hooks", SLASH),
]


@pytest.mark.parametrize(("agent", "event", "said"), PROMPTS)
def test_a_slash_command_does_not_reach_the_model_if_the_agent_can_block_prompts(
    house: House, agent: str, event: str, said: dict[str, Any]
) -> None:
    body = json.dumps(json.loads(AGENTS[agent].protocol.sample(event)) | said).encode()

    answer = house.relay(agent, event, body)
    told = JUDGES[agent](event, body, Exit(code=answer.code, stdout=answer.stdout, stderr=answer.stderr))

    assert (told.verdict, told.warnings) == ("deny", [])  # as the stand-in of the agent reads it
    assert "not running" in told.reason  # the tray's answer, for the person who typed
    assert house.last.verdict.word == "deny"
    assert house.stores.switch.state().enabled


def test_other_prompts_pass(house: House) -> None:
    assert house.relay("claude-code", "UserPromptSubmit", {"prompt": "fix the hooks"}).stdout == b""
