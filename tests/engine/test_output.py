"""A hook that prints more than its answer: what is strict on its last line counts, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents.hook_outputs import EVENTS, inner, ran
from engine.declared import built_hook
from every import every
from house import House
from msgspec.structs import replace

from tray.engine.hook_output import IGNORED, parse_output
from tray.execution import process
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import Event
from tray.model.hook import Command, Failure, Hook, Match

CHATTER = "Checking..."
DENY, ASK, ABSTAIN = Verdict.DENY, Verdict.ASK, Verdict.ABSTAIN
# Of each dialect: an event, and how a hook says each word to it. Shelley's hooks refuse by their exit code alone.
SAID: dict[str, tuple[str, dict[str, str]]] = {
    "claude-code": ("bash", {
        "deny": '{"decision":"block","reason":"no"}',
        "deny inside": inner('"permissionDecision":"deny","permissionDecisionReason":"no"'),
        "ask": inner('"permissionDecision":"ask","permissionDecisionReason":"no"'),
        "allow": inner('"permissionDecision":"allow"'),
        "rewrite": inner('"updatedInput":{"command":"true"}'),
    }),
    "shelley": ("bash", {"allow": '{"decision":"allow"}', "rewrite": '{"message":"other"}'}),
    "copilot-cli": ("copilot", {
        "deny": '{"permissionDecision":"deny","permissionDecisionReason":"no"}',
        "ask": '{"permissionDecision":"ask","permissionDecisionReason":"no"}',
        "allow": '{"permissionDecision":"allow"}',
        "rewrite": '{"modifiedArgs":{"command":"true"}}',
    }),
    "starchild": ("child", {
        "deny": '{"decision":"block","reason":"no"}',
        "deny inside": '{"permissionDecision":"deny","permissionDecisionReason":"no"}',
        "ask": '{"permissionDecision":"ask","permissionDecisionReason":"no"}',
        "allow": '{"permissionDecision":"allow"}',
        "rewrite": '{"tool_input":{"command":"true"}}',
    }),
    "x-code": ("write", {
        "deny": '{"decision":"deny","reason":"no"}',
        "allow": '{"decision":"allow"}',
        "rewrite": '{"decision":"modify","args":{"path":"/safe"}}',
    }),
}  # fmt: skip
STRICT = {"deny": DENY, "deny inside": DENY, "ask": ASK}
# How the last line ends and begins.
FORMS = {
    "no newline": CHATTER + "\n{}",
    "newline": CHATTER + "\n{}\n",
    "blank lines": CHATTER + "\n\n{}\n\n",
    "CRLF": CHATTER + "\r\n{}\r\n",
    "BOM before all": "\ufeff" + CHATTER + "\n{}\n",
    "BOM before the line": CHATTER + "\n\ufeff{}\n",
    "progress on one line": "10%\r50%\r" + CHATTER + "\r{}\n",
    "an allow before it": CHATTER + '\n{{"decision":"allow"}}\n{}\n',
    "no UTF-8 before it": CHATTER + " caf\udce9\n{}\n",
}
WORDS = [(dialect, word) for dialect, (_, words) in SAID.items() for word in words]
REFUSED = [(dialect, word) for dialect, word in WORDS if word in STRICT]
LENIENT = [(dialect, word) for dialect, word in WORDS if word not in STRICT]
# What is no answer, and refuses nothing.
TEXTS = {
    "text": CHATTER,
    "an array": CHATTER + "\n[1]",
    "a number": CHATTER + "\n7",
    "only a number": "7",
    "an object of no format": CHATTER + '\n{"level":"info","text":"decision: block"}',
    "a sentence about refusals": "decision: block everything by default, deny the rest",
}
OURS = ("claude-code", "copilot-cli", "shelley", "starchild", "x-code")


def hook(dialect: str, failure: Failure = Failure.ALLOW, *, source: str = "hooktray") -> Hook:
    match = Match(event="tool_before", format="" if source == "hooktray" else source)
    return built_hook(match=match, source=source, dialect=dialect, failure=failure)


def event(dialect: str) -> Event:
    return EVENTS[SAID[dialect][0]]


def printed(dialect: str, text: str, one: Hook | None = None, code: int = 0) -> HookOutput:
    result = ran(code, text.encode("utf-8", "surrogateescape"))
    return parse_output(event(dialect), one or hook(dialect), result)


@every("failure", Failure)
@every("form", FORMS)
@every(("dialect", "word"), REFUSED)
def test_a_deny_or_ask_on_the_last_line_counts_and_the_rest_is_ignored(
    dialect: str, word: str, form: str, failure: Failure
) -> None:
    output = FORMS[form].format(SAID[dialect][1][word])

    parsed = printed(dialect, output, hook(dialect, failure))

    assert parsed == HookOutput(verdict=STRICT[word], reason="no", adjustment=IGNORED)


@every("form", FORMS)
@every(("dialect", "word"), LENIENT)
def test_an_allow_or_a_rewrite_on_the_last_line_counts_no_more_than_other_text(
    dialect: str, word: str, form: str
) -> None:
    output = FORMS[form].format(SAID[dialect][1][word])

    parsed = printed(dialect, output)

    assert (parsed.verdict, parsed.rewrite, parsed.adjustment) == (ABSTAIN, None, "")
    assert printed(dialect, output, hook(dialect, Failure.BLOCK)).problem


@every("text", TEXTS)
@every("dialect", OURS)
def test_other_text_keeps_its_meaning_without_failure_block_and_fails_with_it(dialect: str, text: str) -> None:
    assert (printed(dialect, TEXTS[text]).verdict, printed(dialect, TEXTS[text]).problem) == (ABSTAIN, "")
    assert "and no answer" in printed(dialect, TEXTS[text], hook(dialect, Failure.BLOCK)).problem


@every("dialect", OURS)
@every("output", ["", " \n", "\r\n"])
def test_no_output_is_no_opinion_under_failure_block_too(dialect: str, output: str) -> None:
    assert printed(dialect, output, hook(dialect, Failure.BLOCK)) == HookOutput()


@every(("dialect", "word"), [one for one in WORDS if one[0] != "shelley"])
def test_one_json_object_is_the_answer_it_always_was(dialect: str, word: str) -> None:
    said = SAID[dialect][1][word]
    lines = json.dumps(json.loads(said), indent=2)

    for failure in Failure:
        parsed = printed(dialect, said, hook(dialect, failure))
        assert parsed == printed(dialect, lines, hook(dialect, failure))
        assert (parsed.problem, parsed.adjustment) == ("", "")


@pytest.mark.parametrize(
    ("source", "output", "is_failure"),
    [
        ("claude-code", CHATTER, False),  # plain text is allowed there
        ("shelley", CHATTER, False),
        ("starchild", CHATTER, True),
        ("x-code", CHATTER, True),
        ("x-code", '{"decision":"block"}', False),  # an answer that X-Code itself ignores
    ],
)
def test_in_other_formats_text_fails_only_where_it_means_nothing(source: str, output: str, is_failure: bool) -> None:
    parsed = printed(source, output, hook(source, Failure.BLOCK, source=source))

    assert bool(parsed.problem) is is_failure


@every(("dialect", "word"), REFUSED)
def test_the_last_line_counts_for_hooks_of_other_formats(dialect: str, word: str) -> None:
    output = f"{CHATTER}\n{SAID[dialect][1][word]}\n"

    parsed = printed(dialect, output, hook(dialect, source=dialect))

    assert (parsed.verdict, parsed.adjustment) == (STRICT[word], IGNORED)


def test_where_text_becomes_context_a_refusal_on_the_last_line_counts() -> None:
    output = f'{CHATTER}\n{{"decision":"block","reason":"no"}}\n'

    parsed = parse_output(EVENTS["start"], hook("claude-code", source="claude-code"), ran(0, output))

    assert parsed == HookOutput(verdict=DENY, reason="no", adjustment=IGNORED)


def test_what_refuses_and_rewrites_on_the_last_line_only_refuses() -> None:
    said = inner('"permissionDecision":"ask","updatedInput":{"command":"true"},"additionalContext":"x"')

    assert printed("claude-code", f"{CHATTER}\n{said}") == HookOutput(verdict=ASK, adjustment=IGNORED)


def test_an_end_of_everything_on_the_last_line_counts() -> None:
    parsed = printed("claude-code", CHATTER + '\n{"continue":false,"stopReason":"enough"}')

    assert (parsed.stop, parsed.adjustment) == ("enough", IGNORED)


@pytest.mark.parametrize("dialect", OURS)
def test_an_output_over_the_limit_is_a_failure_whatever_its_last_line_is(dialect: str) -> None:
    cause = f"stdout over {process.STDOUT_LIMIT} bytes"
    said = SAID[dialect][1].get("deny", "")

    parsed = parse_output(event(dialect), hook(dialect), Result(stdout=f"{CHATTER}\n{said}".encode(), cause=cause))

    assert parsed == HookOutput(problem=cause)


def test_a_text_that_is_the_answer_is_no_failure() -> None:
    guard = hook("shelley", Failure.BLOCK)

    assert parse_output(EVENTS["system"], guard, ran(0, "Be brief.")) == HookOutput(plain=True)  # as it was
    assert parse_output(EVENTS["system"], guard, ran(0, "Be kind.")).rewrite is not None


def test_an_answer_without_a_known_decision_is_a_failure_under_failure_block() -> None:
    assert printed("x-code", "{}").problem == ""
    assert printed("x-code", "{}", hook("x-code", Failure.BLOCK)).problem


def test_the_reason_quotes_little_of_it_and_nothing_that_hides_or_is_secret() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    problem = printed("starchild", f"\x1b[31m{token}\u202e {'x' * 500}", hook("starchild", Failure.BLOCK)).problem

    assert token not in problem
    assert "\x1b" not in problem
    assert "\u202e" not in problem
    assert len(problem) < 300


@pytest.mark.parametrize("failure", ["allow", "block"])
def test_a_guard_that_prints_checking_before_its_answer_still_denies(house: House, failure: str) -> None:
    script = """cat >/dev/null; echo 'Checking...'; echo '{"decision":"block","reason":"ask before you destroy"}'"""
    house.hook("guard", on="tool_before", script=script, failure=failure)

    answer = house.tool("rm -rf /")

    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert house.last.hooks[0]["status"] == "ok"
    assert house.last.adjustments == (f"guard: {IGNORED}",)


@pytest.mark.parametrize(("keys", "verdict"), [({}, "abstain"), ({"failure": "block"}, "deny")])
def test_only_text_refuses_under_failure_block(house: House, keys: dict[str, Any], verdict: str) -> None:
    house.hook("guard", on="tool_before", script="cat >/dev/null; echo 'Checking...'", **keys)

    house.tool("rm -rf /")

    assert house.last.verdict.word == verdict
    assert house.last.hooks[0]["status"] == ("failed" if keys else "ok")
    assert keys or "not JSON" in str(house.last.hooks[0]["cause"])
    if keys:
        assert 'it failed: it printed "Checking..." and no answer' in house.last.reason
        assert "print one JSON object, or nothing" in house.last.reason


@every("printed_too", ['{"decision": "block"}', "no force push", ""])
def test_a_python_that_finds_no_script_has_failed_unless_the_hook_printed_something(printed_too: str) -> None:
    guard = replace(hook("claude-code"), action=Command(line="python3 guard.py", folder="/c"))
    error = "python3: can't open file 'guard.py': [Errno 2] No such file or directory"

    parsed = parse_output(event("claude-code"), guard, ran(2, printed_too, error))

    assert parsed.verdict is (Verdict.DENY if printed_too else ABSTAIN)
    assert parsed.problem == ("" if printed_too else error)
