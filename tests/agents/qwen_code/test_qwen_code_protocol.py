"""What is Qwen Code's own: prompts without text, answers on stderr, and what `continue: false` means."""

from __future__ import annotations

import json

import pytest
from agents.hook_outputs import ran
from agents.recordings import recorded, sampled

from tray.agents.protocol import render
from tray.agents.qwen_code.protocol import PROTOCOL
from tray.model.decision import Answer, Decision, Verdict
from tray.model.event import EventKind

DENY = '{"decision":"deny","reason":"no"}'
HALT = '{"continue":false,"stopReason":"no"}'


@pytest.mark.parametrize("name", ["UserPromptSubmit-continued", "UserPromptSubmit-continued-older"])
def test_a_prompt_without_text_after_a_batch_of_tools_is_none(name: str) -> None:
    event = recorded("qwen-code", name)

    assert (event.kind, event.name) == (EventKind.MODEL_BEFORE, "UserPromptSubmit")
    assert json.loads(PROTOCOL.stdin(event))["prompt"] == ""


@pytest.mark.parametrize("name", ["UserPromptSubmit", "UserPromptSubmit-older"])
def test_a_prompt_of_its_user_is_one(name: str) -> None:
    event = recorded("qwen-code", name)

    assert (event.kind, event.prompt) == (EventKind.PROMPT, "say hello")


def test_an_answer_on_stderr_counts_where_stdout_has_none() -> None:
    event = sampled("qwen-code", "PreToolUse")

    assert PROTOCOL.read(event, ran(0, "", DENY)).verdict is Verdict.DENY
    assert PROTOCOL.read(event, ran(1, "", DENY)).verdict is Verdict.DENY
    assert PROTOCOL.read(event, ran(0, "{}", DENY)).verdict is Verdict.ABSTAIN


def test_exit_2_goes_by_stderr_only() -> None:
    event = sampled("qwen-code", "PreToolUse")

    assert PROTOCOL.read(event, ran(2, DENY)).problem
    assert PROTOCOL.read(event, ran(2, "", "no")).reason == "no"
    assert PROTOCOL.read(event, ran(2, DENY, '{"decision":"allow"}')).verdict is Verdict.ABSTAIN


@pytest.mark.parametrize("event", ["PostToolUse", "PreToolUse", "Stop", "SubagentStop"])
def test_a_hooks_stop_refuses_there(event: str) -> None:
    output = PROTOCOL.read(sampled("qwen-code", event), ran(0, HALT))

    assert (output.verdict, output.reason, output.stop) == (Verdict.DENY, "no", None)


def test_a_hooks_stop_ends_the_turn_at_the_prompt() -> None:
    output = PROTOCOL.read(sampled("qwen-code", "UserPromptSubmit"), ran(0, HALT))

    assert (output.verdict, output.stop) == (Verdict.ABSTAIN, "no")


@pytest.mark.parametrize("word", ["allow", "approve"])
def test_an_allow_of_its_hooks_is_no_grant(word: str) -> None:
    specific = f'{{"hookSpecificOutput":{{"permissionDecision":"{word}"}}}}'

    for said in (f'{{"decision":"{word}"}}', specific) if word == "allow" else (f'{{"decision":"{word}"}}',):
        assert PROTOCOL.read(sampled("claude-code", "PreToolUse"), ran(0, said)).verdict is Verdict.ABSTAIN


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_a_stop_at_an_end_is_silence_because_every_word_makes_it_go_on(event: str) -> None:
    decision = Decision(stop="enough", verdict=Verdict.DENY, reason="more")

    assert render(sampled("qwen-code", event), decision) == Answer()
