"""What is Kimi Code's own: prompts in parts, and how little its hooks can say."""

from __future__ import annotations

import json

import pytest
from agents.hook_outputs import ran
from agents.recordings import recorded, sampled

from tray.agents.kimi_code.protocol import EVENTS, PROTOCOL
from tray.agents.protocol import fit, render
from tray.model.decision import Answer, Decision, Rewrite, Target, Verdict

DENY = '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'
BEFORE, PROMPT = sampled("kimi-code", "PreToolUse"), sampled("kimi-code", "UserPromptSubmit")


def test_a_prompt_is_the_text_of_its_parts() -> None:
    assert recorded("kimi-code", "UserPromptSubmit").prompt == "say hello"


def test_exit_2_refuses_with_or_without_a_reason_and_json_only_at_exit_0() -> None:
    assert PROTOCOL.read(BEFORE, ran(2)).verdict is Verdict.DENY
    assert PROTOCOL.read(BEFORE, ran(2, '{"message":"x"}', "no")).reason == "no"
    assert PROTOCOL.read(BEFORE, ran(0, DENY)).reason == "no"
    assert PROTOCOL.read(BEFORE, ran(1, DENY)).problem == "exit 1"


@pytest.mark.parametrize(
    "said",
    [
        '{"decision":"block"}',
        '{"continue":false}',
        DENY.replace("deny", "ask"),
        DENY.replace("deny", "allow"),
        "text",
    ],
)
def test_nothing_else_counts(said: str) -> None:
    output = PROTOCOL.read(BEFORE, ran(0, said))

    assert (output.verdict, output.stop, output.rewrite, output.problem) == (Verdict.ABSTAIN, None, None, "")


def test_what_is_printed_at_a_prompt_is_context() -> None:
    for said, context in (("mind", "mind"), ('{"message":"mind"}', "mind"), ('{"a":1}', '{"a":1}'), ("{}", "")):
        assert PROTOCOL.read(PROMPT, ran(0, said)).context == context
    assert PROTOCOL.read(BEFORE, ran(0, "mind")).context == ""


def test_of_an_answer_to_a_prompt_only_the_context_is_written() -> None:
    decision = Decision(context="mind", notes=("for the user",))

    assert json.loads(render(PROMPT, decision).stdout) == {"message": "mind"}
    assert render(PROMPT, Decision(notes=("for the user",))) == Answer()
    assert render(BEFORE, Decision(notes=("for the user",))) == Answer()


@pytest.mark.parametrize("name", [name for name, spec in EVENTS.items() if not spec.observe_only])
def test_a_refusal_has_its_reason_and_nothing_else(name: str) -> None:
    event = sampled("kimi-code", name)

    said = json.loads(render(event, Decision(verdict=Verdict.DENY, reason="no", notes=("n",), context="c")).stdout)

    assert said == {
        "hookSpecificOutput": {
            "hookEventName": name,
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    }


def test_what_it_cannot_carry_is_refused() -> None:
    rewrite = Rewrite(target=Target.INPUT, value={"command": "true"})

    for decision in (Decision(rewrite=rewrite), Decision(verdict=Verdict.ASK), Decision(stop="enough")):
        assert fit(BEFORE, decision).verdict is Verdict.DENY
