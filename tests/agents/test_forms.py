"""The questions that agents put to their users: read from their events, and answered in their own words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tray.agents import forms
from tray.agents.protocol import answered, fit, form, parse, render
from tray.model.decision import NO_OPINION, Decision, Verdict
from tray.model.event import RelayRequest
from tray.model.form import Form

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue, or so"}],
}
SIZES = {**COLOUR, "question": "Which sizes?", "header": "Sizes"}
CLAUDE_CODE = {
    "session_id": "s-1",
    "cwd": "/w/api",
    "hook_event_name": "PermissionRequest",
    "tool_name": "AskUserQuestion",
    "tool_input": {"questions": [COLOUR, SIZES | {"multiSelect": True}]},
}
OPENCODE = {
    "session_id": "s-1",
    "cwd": "/w/api",
    "opencode_plugin": 1,
    "hook_event_name": "Elicitation",
    "questions": [COLOUR | {"custom": False}, SIZES | {"multiple": True}],
}
ANSWERS = {"Which colour?": ("Blue, or so",), "Which sizes?": ("Red", "all others")}


def asked(agent: str, payload: Any) -> tuple[Form | None, Any]:
    body = json.dumps(payload).encode()
    event = parse(RelayRequest(agent=agent, event=payload["hook_event_name"], id="0" * 32, body=body))
    return form(event), event


@pytest.mark.parametrize(("agent", "payload"), [("claude-code", CLAUDE_CODE), ("opencode", OPENCODE)])
def test_a_form_has_the_agents_questions(agent: str, payload: Any) -> None:
    found, _ = asked(agent, payload)

    assert found is not None
    first, second = found.questions
    assert (first.text, first.header, first.multiple, second.multiple) == ("Which colour?", "Colour", False, True)
    assert [(one.label, one.description) for one in first.options] == [("Red", "warm"), ("Blue, or so", "")]
    assert first.takes_own_words is (agent == "claude-code")
    assert second.takes_own_words


def test_claude_code_gets_each_answer_as_one_text_in_the_tools_input() -> None:
    _, event = asked("claude-code", CLAUDE_CODE)

    decision = fit(event, answered(event, Decision(verdict=Verdict.ASK), ANSWERS))

    said = json.loads(render(event, decision).stdout)["hookSpecificOutput"]["decision"]
    texts = {"Which colour?": "Blue, or so", "Which sizes?": "Red, all others"}
    assert said == {"behavior": "allow", "updatedInput": {**CLAUDE_CODE["tool_input"], "answers": texts}}  # type: ignore[dict-item]
    assert decision.adjustments == ()


def test_opencode_gets_a_list_of_answers_to_each_question() -> None:
    _, event = asked("opencode", OPENCODE)

    decision = fit(event, answered(event, Decision(verdict=Verdict.ASK), ANSWERS))

    said = json.loads(render(event, decision).stdout)["hookSpecificOutput"]
    content = {"Which colour?": ["Blue, or so"], "Which sizes?": ["Red", "all others"]}
    assert said == {"hookEventName": "Elicitation", "action": "accept", "content": content}
    assert decision.adjustments == ()


@pytest.mark.parametrize(
    "questions",
    [
        None,
        [],
        ["Which colour?"],
        [COLOUR, COLOUR],
        [COLOUR | {"question": " "}],
        [COLOUR | {"question": "\ud800?"}],
        [COLOUR | {"kind": "number"}],
        [COLOUR | {"options": {}}],
        [COLOUR | {"options": [{"label": "Red"}, {"label": "Red"}]}],
        [COLOUR | {"options": [{"description": "warm"}]}],
        [COLOUR | {"options": [], "custom": False}],
    ],
)
def test_what_is_no_such_list_is_answered_in_the_agent_itself(questions: object) -> None:
    assert forms.read(questions, multiple="multiple", own_words="custom") is None


@pytest.mark.parametrize(
    "other", [{"tool_name": "Bash"}, {"hook_event_name": "PreToolUse"}, {"tool_input": {"questions": "?"}}]
)
def test_no_other_event_has_a_form(other: dict[str, Any]) -> None:
    assert asked("claude-code", CLAUDE_CODE | other)[0] is None


def test_without_an_answer_nothing_is_said() -> None:
    _, event = asked("claude-code", CLAUDE_CODE)

    assert render(event, fit(event, NO_OPINION)).stdout == b""
