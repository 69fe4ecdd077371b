from __future__ import annotations

import pytest
from agents.recordings import built
from engine.declared import built_hook
from msgspec.structs import replace

from tray.engine.merge import failed, make_outcome, merge
from tray.model.decision import HookOutput, Outcome, Rewrite, Status, Target, Verdict
from tray.model.event import EventKind
from tray.model.hook import Failure

CALL = built(id="1", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE)


def outcome(name: str, **output: object) -> Outcome:
    return Outcome(hook=name, status=Status.OK, output=HookOutput(**output))  # type: ignore[arg-type]


def rewrite(value: str) -> Rewrite:
    return Rewrite(target=Target.INPUT, value={"command": value})


def test_nobody_with_an_opinion_is_an_abstention_and_not_an_allow() -> None:
    assert merge([outcome("a"), outcome("b")]).verdict is Verdict.ABSTAIN
    assert merge([]).verdict is Verdict.ABSTAIN


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_strictest_verdict_wins_whoever_spoke_first(order: tuple[int, ...]) -> None:
    outcomes = [
        outcome("a", verdict=Verdict.ALLOW, reason="fine"),
        outcome("b", verdict=Verdict.DENY, reason="no"),
        outcome("c", verdict=Verdict.ASK, reason="sure?"),
    ]

    decision = merge([outcomes[index] for index in order])

    assert (decision.verdict, decision.reason) == (Verdict.DENY, "b (Hooktray): no")


def test_reasons_of_the_winning_verdict_stand_in_declared_order() -> None:
    decision = merge(
        [outcome("a", verdict=Verdict.DENY, reason="one"), outcome("b", verdict=Verdict.DENY, reason="two")]
    )

    assert decision.reason == "a (Hooktray): one\nb (Hooktray): two"


def test_the_last_declared_rewrite_counts_and_the_conflict_is_noted() -> None:
    decision = merge([outcome("a", rewrite=rewrite("x")), outcome("b", rewrite=rewrite("y"))])

    assert decision.rewrite == rewrite("y")
    assert decision.adjustments == ("several rewrites (a, b): the last declared, b, counts",)


def test_contexts_are_joined_by_a_blank_line_and_notes_kept_apart() -> None:
    decision = merge(
        [outcome("a", context="one", notes=("n",)), outcome("b"), outcome("c", context="two", notes=("m",))]
    )

    assert decision.context == "one\n\ntwo"
    assert decision.notes == ("n", "m")


def test_a_stop_without_words_is_still_a_stop() -> None:
    assert merge([outcome("a", stop="")]).stop == ""
    assert merge([outcome("a", stop="x"), outcome("b", stop="")]).stop == "a (Hooktray): x"
    assert merge([outcome("a")]).stop is None


def test_a_failed_hook_is_neither_an_allow_nor_a_deny() -> None:
    outcome = make_outcome(CALL, built_hook(), HookOutput(problem="exited with 1"), timed_out=False, ms=1)

    assert outcome.status is Status.FAILED
    assert outcome.output.verdict is Verdict.ABSTAIN
    assert outcome.cause == "exited with 1"


def test_a_failed_hook_that_shall_block_denies_and_says_why() -> None:
    outcome = failed(CALL, built_hook(failure=Failure.BLOCK), "timed out after 2 s", timed_out=True)

    assert outcome.status is Status.TIMED_OUT
    assert outcome.output.verdict is Verdict.DENY
    assert merge([outcome]).reason == "guard (Hooktray): it failed: timed out after 2 s"


@pytest.mark.parametrize(
    ("kind", "answered", "verdict"),
    [
        (EventKind.TOOL_BEFORE, False, Verdict.ASK),
        (EventKind.TOOL_BEFORE, True, Verdict.ABSTAIN),
        (EventKind.TURN_END, False, Verdict.ABSTAIN),
    ],
)
def test_a_failure_without_policy_asks_where_a_call_waits(kind: EventKind, answered: bool, verdict: Verdict) -> None:
    outcome = failed(replace(CALL, kind=kind, answered=answered), built_hook(failure=Failure.DEFAULT), "exit 1")

    assert (outcome.output.verdict, outcome.let_through) == (verdict, False)
