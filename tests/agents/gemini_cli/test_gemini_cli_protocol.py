"""What is Gemini CLI's own: answers on stderr and at any exit code, failed tools, and reasons of stops."""

from __future__ import annotations

import json

from agents.hook_outputs import ran
from agents.recordings import recorded, sampled

from tray.agents.gemini_cli.protocol import PROTOCOL
from tray.agents.protocol import fit, render
from tray.model.decision import Decision, Rewrite, Target, Verdict

DENY = '{"decision":"deny","reason":"no"}'
BEFORE = sampled("gemini-cli", "BeforeTool")


def test_an_answer_counts_on_stderr_and_at_any_exit_code() -> None:
    for result in (ran(0, "", DENY), ran(1, DENY), ran(127, DENY), ran(0, json.dumps(DENY))):
        assert PROTOCOL.read(BEFORE, result).verdict is Verdict.DENY
    assert PROTOCOL.read(BEFORE, ran(2, '{"decision":"allow"}', "no")).verdict is Verdict.ABSTAIN
    assert PROTOCOL.read(BEFORE, ran(0, "{}", DENY)).verdict is Verdict.ABSTAIN


def test_a_text_is_a_note_a_failure_or_a_refusal_by_the_exit_code() -> None:
    assert PROTOCOL.read(BEFORE, ran(0, "look")).notes == ("look",)
    assert PROTOCOL.read(BEFORE, ran(1, "look")).problem == "exit 1"
    for code in (2, 3, 125):
        output = PROTOCOL.read(BEFORE, ran(code, "", "no"))
        assert (output.verdict, output.reason) == (Verdict.DENY, "no")
    assert PROTOCOL.read(BEFORE, ran(127, "", "sh: not found")).problem
    assert PROTOCOL.read(BEFORE, ran(2)).problem


def test_an_allow_of_its_hooks_is_no_grant() -> None:
    for word in ("allow", "approve"):
        output = PROTOCOL.read(sampled("claude-code", "PreToolUse"), ran(0, f'{{"decision":"{word}"}}'))
        assert output.verdict is Verdict.ABSTAIN


def test_an_ask_of_its_hooks_is_asked_where_the_agent_can() -> None:
    output = PROTOCOL.read(sampled("claude-code", "PreToolUse"), ran(0, '{"decision":"ask","reason":"sure?"}'))

    assert (output.verdict, output.reason) == (Verdict.ASK, "sure?")
    assert fit(BEFORE, Decision(verdict=Verdict.ASK, reason="sure?")).verdict is Verdict.DENY


def test_claude_codes_words_for_a_refusal_mean_nothing_as_in_the_agent() -> None:
    specific = '{"hookSpecificOutput":{"hookEventName":"BeforeTool","permissionDecision":"deny"}}'

    assert PROTOCOL.read(BEFORE, ran(0, specific)).verdict is Verdict.ABSTAIN


def test_a_new_input_is_the_whole_one() -> None:
    rewrite = Rewrite(target=Target.INPUT, value={"command": "true"})

    answer = json.loads(render(BEFORE, Decision(rewrite=rewrite)).stdout)

    assert answer == {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "true"}}}
    said = '{"hookSpecificOutput":{"tool_input":{"command":"true"}}}'
    assert PROTOCOL.read(BEFORE, ran(0, said)).rewrite == rewrite


def test_a_stop_beside_a_refusal_gives_both_reasons() -> None:
    answer = json.loads(render(BEFORE, Decision(verdict=Verdict.DENY, reason="no", stop="enough")).stdout)

    assert (answer["continue"], answer["stopReason"]) == (False, "no\nenough")


def test_a_tool_that_failed_is_known_by_its_error() -> None:
    failed, done = (
        recorded("gemini-cli", "AfterTool-read_file-failed"),
        recorded("gemini-cli", "AfterTool-write_file"),
    )

    assert failed.tool is not None
    assert done.tool is not None
    assert (failed.tool.failed, done.tool.failed) == (True, False)


def test_the_last_message_of_another_agents_turn_is_under_its_own_key() -> None:
    read = json.loads(PROTOCOL.stdin(recorded("claude-code", "Stop")))

    assert (read["hook_event_name"], "last_assistant_message" in read) == ("AfterAgent", False)
    assert read["prompt_response"]
