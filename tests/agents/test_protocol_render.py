"""A decision becomes exactly these bytes; an answer is minimal, and nothing at all when nobody had an opinion."""

from __future__ import annotations

from typing import Any

import pytest
from agents.recordings import recorded, request_for, sampled
from every import every
from hypothesis import given
from hypothesis import strategies as st

from tray.agents.protocol import fit, is_only_verdict, neutral, parse, render, spec
from tray.agents.registry import AGENTS
from tray.model.decision import NO_OUTPUT, Answer, Decision, Outcome, Rewrite, Status, Target, Verdict

DENY, ASK, ALLOW = Verdict.DENY, Verdict.ASK, Verdict.ALLOW


def new_input(**value: Any) -> Rewrite:
    return Rewrite(target=Target.INPUT, value=value)


def new_prompt(value: Any) -> Rewrite:
    return Rewrite(target=Target.PROMPT, value=value)


def specific(said: str) -> str:
    return '{"hookSpecificOutput":{"hookEventName":"PreToolUse",' + said + "}}\n"


LOST = (
    '{{"decision":"block","reason":"A hook\'s rewrite cannot be carried: pre_tool_call of starchild'
    ' cannot carry the rewrite, which {} a key"}}\n'
)
PRE = "PreToolUse-Bash"
REFUSED = '"permissionDecision":"deny","permissionDecisionReason":'
CASES: list[tuple[str, str, Decision, str]] = [  # cases that are in no table of an agent's events
    ("claude-code", PRE, Decision(verdict=DENY, reason="no … ”never”"), specific(f'{REFUSED}"no … ”never”"')),
    ("claude-code", PRE, Decision(verdict=DENY), specific(f'{REFUSED}"Blocked by a hook"')),
    ("claude-code", PRE, Decision(verdict=ASK), specific('"permissionDecision":"ask"')),
    (
        "claude-code",
        PRE,
        Decision(verdict=ASK, reason="sure?"),
        specific('"permissionDecision":"ask","permissionDecisionReason":"sure?"'),
    ),
    (
        "claude-code",
        PRE,
        Decision(verdict=ALLOW, rewrite=new_input(command="ls"), context="c"),
        specific('"permissionDecision":"allow","updatedInput":{"command":"ls"},"additionalContext":"c"'),
    ),
    ("claude-code", PRE, Decision(stop=""), '{"continue":false}\n'),
    (
        "claude-code",
        PRE,
        Decision(verdict=DENY, reason="no", stop="x", rewrite=new_input(a=1)),
        '{"continue":false,"stopReason":"x",' + specific(f'{REFUSED}"no"')[1:],
    ),
    (
        "claude-code",
        "Stop",
        Decision(context="tests?"),
        '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"tests?"}}\n',
    ),
    ("starchild", "on_stop", Decision(verdict=DENY), '{"decision":"block","reason":"Blocked by a hook"}\n'),
    ("starchild", "pre_tool_call", Decision(rewrite=new_input(command="ls", cwd="/")), LOST.format("adds")),
    ("starchild", "pre_tool_call", Decision(rewrite=new_input()), LOST.format("removes")),
    ("x-code", "PreToolUse", Decision(verdict=ASK), '{"decision":"deny","reason":"Blocked by a hook"}\n'),
    (
        "x-code",
        "PreToolUse",
        Decision(rewrite=Rewrite(target=Target.OUTPUT, value="x")),
        (
            '{"decision":"deny","reason":"A hook\'s rewrite cannot be carried: PreToolUse of x-code'
            " cannot rewrite a tool's output\"}\n"
        ),
    ),
]


@every(("agent", "name", "decision", "stdout"), CASES)
def test_a_decision_is_answered_with_these_bytes(agent: str, name: str, decision: Decision, stdout: str) -> None:
    assert render(recorded(agent, name), decision) == Answer(stdout=stdout.encode())


PROMPT = b"You are Shelley.\nBe brief.\n"
SHELLEY: list[tuple[Decision, Answer]] = [
    (Decision(), Answer(stdout=PROMPT)),
    (Decision(notes=("n",), verdict=ALLOW), Answer(stdout=PROMPT)),
    (Decision(context="c"), Answer(stdout=PROMPT + b"\n\nc")),
    (Decision(rewrite=new_prompt("Be … kind.")), Answer(stdout="Be … kind.".encode())),
    (Decision(verdict=DENY, reason="no secrets"), Answer(stderr=b"no secrets\n", code=1)),
    (Decision(verdict=ASK), Answer(stderr=b"Blocked by a hook\n", code=1)),
    (
        Decision(rewrite=new_prompt(" ")),
        Answer(
            stderr=b"A hook's rewrite cannot be carried: system-prompt of shelley cannot carry the rewrite,"
            b" which is empty\n",
            code=1,
        ),
    ),
]


@pytest.mark.parametrize(("decision", "answer"), SHELLEY)
def test_shelleys_system_prompt_is_echoed_rewritten_or_refused_by_failing(decision: Decision, answer: Answer) -> None:
    assert render(parse(request_for("shelley", "system-prompt", PROMPT)), decision) == answer


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"You are."])
def test_shelleys_system_prompt_is_never_answered_with_nothing(body: bytes) -> None:
    answer = neutral(AGENTS["shelley"], "system-prompt", body)

    assert (answer.stdout, answer.code) == (body or b"\n", 0)
    assert render(parse(request_for("shelley", "system-prompt", body)), Decision(verdict=Verdict.DENY)) in (
        answer,
        Answer(stderr=b"Blocked by a hook\n", code=1),
    )


def test_an_event_with_a_problem_gets_the_neutral_answer_unless_a_hook_that_failed_shall_block() -> None:
    broken = parse(request_for("claude-code", "PreToolUse", b"[]"))

    assert render(broken, Decision(verdict=Verdict.ALLOW)) == Answer()
    assert b'"deny"' in render(broken, Decision(verdict=DENY)).stdout
    assert render(parse(request_for("foo", "PreToolUse", b"{}")), Decision(verdict=DENY)) == Answer()


def test_text_that_utf_8_cannot_hold_still_leaves_as_json() -> None:
    answer = render(recorded("claude-code", PRE), Decision(rewrite=new_input(command="\ud800é")))

    assert answer.stdout.decode() == specific('"updatedInput":{"command":"\\ud800\\u00e9"}')


@given(st.sampled_from([*AGENTS, "foo", ""]), st.text(max_size=20), st.binary(max_size=50))
def test_the_neutral_answer_is_safe_for_any_junk(agent: str, name: str, body: bytes) -> None:
    answer = neutral(AGENTS.find(agent), name, body)

    assert (answer.code, answer.stderr) == (0, b"")
    assert answer.stdout in (b"", body, b"\n") or agent in ("antigravity", "cursor")


SILENCE = Decision(outcomes=(Outcome(hook="h", status=Status.SKIPPED, output=NO_OUTPUT),))


@every(("agent", "name"), [(agent, name) for agent, known in AGENTS.items() for name in known.events])
def test_a_silent_decision_is_rendered_as_the_neutral_answer(agent: str, name: str) -> None:
    event = sampled(agent, name)

    assert is_only_verdict(SILENCE)
    assert fit(event, SILENCE) is SILENCE  # the fast path has the same result as the full one
    assert render(event, Decision()) == neutral(event.sender, name, event.body)
    if not spec(agent, name).observe_only:
        assert AGENTS[agent].protocol.render(event, SILENCE) == neutral(event.sender, name, event.body)
