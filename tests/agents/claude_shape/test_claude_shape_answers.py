"""Reading hooks' answers where a Claude-shaped agent differs from Claude Code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.larch import event, shape

from tray.agents.claude_shape.answers import read
from tray.agents.claude_shape.shape import ClaudeShape, Exit2, RefusalStyle
from tray.model.decision import HookOutput, Result, Target, Verdict


def said(
    one: ClaudeShape, answer: Any = "", *, code: int = 0, stderr: bytes = b"", on: str = "BeforeTool"
) -> HookOutput:
    stdout = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
    return read(one, event(on), Result(code=code, stdout=stdout, stderr=stderr), on)


def specific(on: str = "BeforeTool", **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": on, **fields}}


@pytest.mark.parametrize(
    ("rule", "stdout", "stderr", "refuses"),
    [
        (Exit2.ALWAYS, "", b"", True),
        (Exit2.WITH_STDERR, "text", b"", False),
        (Exit2.WITH_STDERR, "", b"no", True),
        (Exit2.WITH_OUTPUT, "", b" \n", False),
        (Exit2.WITH_OUTPUT, "text", b"", True),
        (Exit2.WITH_OUTPUT, "", b"no", True),
    ],
)
def test_exit_2_refuses_with_the_output_that_the_agent_requires(
    rule: Exit2, stdout: str, stderr: bytes, refuses: bool
) -> None:
    output = said(shape(exit_2=rule), stdout, code=2, stderr=stderr)

    assert (output.verdict is Verdict.DENY, not output.problem) == (refuses, refuses)


@pytest.mark.parametrize("code", [0, 1, 2])
def test_json_counts_on_the_exit_codes_that_the_agent_reads_it_on(code: int) -> None:
    answer = {"decision": "block", "reason": "by answer"}

    anywhere = said(shape(), answer, code=code, stderr=b"by exit")
    only_on_0 = said(shape(json_on_any_exit=False), answer, code=code, stderr=b"by exit")

    assert (anywhere.verdict, anywhere.reason) == (Verdict.DENY, "by answer")
    expected = {
        0: (Verdict.DENY, "by answer", ""),
        1: (Verdict.ABSTAIN, "", "exit 1"),
        2: (Verdict.DENY, "by exit", ""),
    }
    assert (only_on_0.verdict, only_on_0.reason, only_on_0.problem) == expected[code]


@pytest.mark.parametrize(("beats", "verdict"), [(False, Verdict.DENY), (True, Verdict.ALLOW)])
def test_an_allow_in_json_beats_exit_2_if_the_agent_does_so(beats: bool, verdict: Verdict) -> None:
    answer = specific(permissionDecision="allow")

    assert said(shape(json_beats_exit_2=beats), answer, code=2, stderr=b"no").verdict is verdict


@pytest.mark.parametrize(
    "answer",
    [{"mood": "good"}, specific(mood="good"), {"updatedInput": {}}, specific(on="Done", permissionDecision="deny")],
)
def test_an_unknown_key_makes_an_answer_invalid_where_the_agents_schema_is_closed(answer: dict[str, Any]) -> None:
    on = answer.get("hookSpecificOutput", {}).get("hookEventName", "BeforeTool")
    refusing = answer | {"decision": "block", "reason": "no"}

    assert said(shape(), refusing, on=on).verdict is Verdict.DENY
    closed = said(shape(rejects_unknown_keys=True), refusing, on=on)
    assert (closed.verdict, "key that the agent does not know" in closed.problem) == (Verdict.ABSTAIN, True)


def test_a_known_answer_is_valid_where_the_agents_schema_is_closed() -> None:
    answer = specific(permissionDecision="deny", permissionDecisionReason="no") | {"systemMessage": "look"}

    output = said(shape(rejects_unknown_keys=True), answer)

    assert (output.verdict, output.reason, output.notes, output.problem) == (Verdict.DENY, "no", ("look",), "")


def test_the_agents_own_words_refuse() -> None:
    other = shape(refusal_words=("deny", "block"))

    assert said(other, {"decision": "deny"}).verdict is Verdict.DENY
    assert said(other, {"decision": "block"}).verdict is Verdict.DENY
    assert said(shape(), {"decision": "deny"}).problem.endswith("none of approve, block, continue, stop")


def test_a_permission_word_counts_where_the_agent_takes_it() -> None:
    by_decision = shape(refusals={"BeforeTool": RefusalStyle.BLOCK})
    without_ask = shape(permissions={"deny": Verdict.DENY})

    assert said(by_decision, specific(permissionDecision="deny")).verdict is Verdict.ABSTAIN
    assert said(shape(), specific(permissionDecision="ask")).verdict is Verdict.ASK
    assert said(without_ask, specific(permissionDecision="ask")).problem.endswith("none of deny")


def test_plain_text_is_context_on_the_events_where_the_agent_takes_it() -> None:
    assert said(shape(), "look there", on="Prompt").context == ""
    assert said(shape(text_context=frozenset({"Prompt"})), "look there", on="Prompt").context == "look there"


def test_continue_false_stops_unless_it_means_nothing_on_the_event() -> None:
    answer = {"continue": False, "stopReason": "enough"}

    assert said(shape(), answer).stop == "enough"
    assert said(shape(stop_ignored=frozenset({"BeforeTool"})), answer).stop is None


@pytest.mark.parametrize(
    ("merges", "value"), [(False, {"command": "pwd"}), (True, {"command": "pwd", "folder": "/p"})]
)
def test_a_new_input_is_under_the_agents_own_key_and_merged_where_the_agent_merges(
    merges: bool, value: dict[str, str]
) -> None:
    one = shape(rewrite_keys={Target.INPUT: "tool_input", Target.OUTPUT: "output"}, merges_input=merges)

    rewrite = said(one, specific(tool_input={"command": "pwd"})).rewrite

    assert rewrite is not None
    assert (rewrite.target, rewrite.value) == (Target.INPUT, value)
    assert said(one, specific(updatedInput={"command": "pwd"})).rewrite is None
    assert said(one, specific(tool_input="pwd")).problem == "output has a tool_input that is not an object"


@pytest.mark.parametrize("named", [{}, {"hookEventName": "Done"}])
def test_an_answer_need_not_name_its_event_where_the_agent_does_not_look(named: dict[str, str]) -> None:
    answer = {"hookSpecificOutput": {"permissionDecision": "deny", **named}}

    assert said(shape(checks_event_name=False), answer).verdict is Verdict.DENY
    assert said(shape(), answer).problem.endswith("whose hookEventName is not BeforeTool")
