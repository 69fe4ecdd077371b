"""Law 2: what an event cannot carry becomes stricter, never looser, and a remark says so."""

from __future__ import annotations

from agents.decisions import DECISIONS
from agents.recordings import request_for, sampled
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tray.agents.protocol import TARGETS, VERDICTS, fit, parse, spec
from tray.agents.registry import AGENTS
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Capability, Event

WHO = "PreToolUse of x-code"
LOSSES: list[tuple[str, str, Decision, Decision]] = [
    (
        "x-code",
        "PreToolUse",
        Decision(verdict=Verdict.ASK, reason="sure?"),
        Decision(verdict=Verdict.DENY, reason="sure?", adjustments=(f"{WHO} cannot ask: made deny",)),
    ),
    (
        "x-code",
        "PreToolUse",
        Decision(verdict=Verdict.ALLOW),
        Decision(adjustments=(f"{WHO} cannot allow: nothing was said",)),
    ),
    (
        "x-code",
        "PreToolUse",
        Decision(stop="enough", context="c", retry=True, notes=("n",)),
        Decision(
            verdict=Verdict.DENY,
            reason="enough",
            notes=("n",),
            adjustments=(
                f"{WHO} cannot stop the agent: made deny",
                f"{WHO} cannot ask for a retry: dropped",
                f"{WHO} cannot take context: dropped",
            ),
        ),
    ),
    (
        "x-code",
        "PreToolUse",
        Decision(verdict=Verdict.DENY, reason="no", rewrite=Rewrite(target=Target.OUTPUT, value="x")),
        Decision(verdict=Verdict.DENY, reason="no"),
    ),
    (
        "x-code",
        "PreToolUse",
        Decision(verdict=Verdict.DENY, reason="no", stop="enough"),
        Decision(verdict=Verdict.DENY, reason="no", adjustments=(f"{WHO} cannot stop the agent: made deny",)),
    ),
    (
        "claude-code",
        "SessionEnd",
        Decision(verdict=Verdict.DENY, reason="no", notes=("n",), rewrite=Rewrite(target=Target.PROMPT, value="x")),
        Decision(
            notes=("n",),
            adjustments=(
                "SessionEnd of claude-code cannot rewrite a prompt: dropped",
                "SessionEnd of claude-code cannot deny: nothing was said",
            ),
        ),
    ),
    (
        "starchild",
        "pre_tool_call",
        Decision(rewrite=Rewrite(target=Target.INPUT, value={"command": "ls", "cwd": "/"})),
        Decision(
            verdict=Verdict.DENY,
            reason="A hook's rewrite cannot be carried: pre_tool_call of starchild"
            " cannot carry the rewrite, which adds a key",
            adjustments=("pre_tool_call of starchild cannot carry the rewrite, which adds a key: made deny",),
        ),
    ),
    (
        "starchild",
        "on_session_start",
        Decision(stop="x", context="c"),
        Decision(context="c", adjustments=("on_session_start of starchild cannot stop the agent: dropped",)),
    ),
]


@every(("agent", "name", "decision", "fitted"), LOSSES)
def test_what_is_lost_becomes_stricter_and_is_remarked(
    agent: str, name: str, decision: Decision, fitted: Decision
) -> None:
    assert fit(sampled(agent, name), decision) == fitted


def test_an_event_with_a_problem_carries_nothing_but_a_refusal() -> None:
    event = parse(request_for("claude-code", "PreToolUse", b""))

    assert fit(event, Decision(verdict=Verdict.DENY, reason="no")) == Decision(verdict=Verdict.DENY, reason="no")
    assert fit(event, Decision(verdict=Verdict.ALLOW)).verdict is Verdict.ABSTAIN
    assert fit(event, Decision(context="words")).context == ""


def test_a_turn_end_that_the_engine_made_of_a_round_end_still_answers_nothing() -> None:
    event = replace(sampled("x-code", "TurnComplete"), kind=sampled("claude-code", "Stop").kind)

    assert fit(event, Decision(verdict=Verdict.DENY)).verdict is Verdict.ABSTAIN


EVENTS = st.sampled_from(
    [sampled(agent, name) for agent, known in AGENTS.items() for name in known.events]
    + [parse(request_for(agent, "no-such-event", b"{}")) for agent in AGENTS]
    + [parse(request_for("claude-code", "PreToolUse", b"[]")), parse(request_for("foo", "PreToolUse", b"{}"))]
)


def abilities(event: Event) -> Capability:
    can = spec(event.agent, event.name).can
    return can & (Capability.ASK | Capability.DENY) if event.problem else can


@settings(deadline=None, max_examples=100)
@given(EVENTS, DECISIONS)
def test_no_decision_ever_becomes_looser(event: Event, decision: Decision) -> None:
    can, fitted = abilities(event), fit(event, decision)
    feedback_only = spec(event.agent, event.name).feedback_only  # the model reads the output even after a refusal

    if decision.verdict >= Verdict.ASK and Capability.DENY in can:
        assert fitted.verdict >= decision.verdict
    if decision.rewrite and not fitted.rewrite and Capability.DENY in can and not feedback_only:
        assert fitted.verdict is Verdict.DENY
    if decision.stop is not None and fitted.stop is None and Capability.DENY in can:
        assert fitted.verdict is Verdict.DENY
    assert fitted.verdict is not Verdict.ALLOW or decision.verdict is Verdict.ALLOW


@settings(deadline=None, max_examples=100)
@given(EVENTS, DECISIONS)
def test_a_fitted_decision_holds_only_what_the_event_carries(event: Event, decision: Decision) -> None:
    can, fitted = abilities(event), fit(event, decision)

    assert fitted.verdict is Verdict.ABSTAIN or VERDICTS[fitted.verdict] in can
    assert fitted.rewrite is None or TARGETS[fitted.rewrite.target] in can
    assert not fitted.context or Capability.CONTEXT in can
    assert fitted.stop is None or Capability.STOP in can
    assert not fitted.retry or Capability.RETRY in can
    assert event.problem == "" or not fitted.extra
    assert {name for name, _ in fitted.extra} <= set(spec(event.agent, event.name).extras)
    assert fit(event, fitted) == fitted


@settings(deadline=None, max_examples=100)
@given(EVENTS, DECISIONS)
def test_every_change_is_remarked(event: Event, decision: Decision) -> None:
    fitted = fit(event, decision)
    late = spec(event.agent, event.name).after_the_fact

    lost = [
        fitted.verdict is not decision.verdict,
        fitted.context != decision.context,
        fitted.stop != decision.stop,
        fitted.retry != decision.retry,
        fitted.extra != decision.extra,
        # A rewrite beside a refusal is moot, unless the refusal withholds nothing.
        fitted.rewrite != decision.rewrite and (fitted.verdict is not Verdict.DENY or late),
    ]
    assert bool(fitted.adjustments) == any(lost)
    assert fitted.notes == decision.notes
    assert all("cannot" in remark for remark in fitted.adjustments)
    if late and decision.rewrite:
        assert fitted.rewrite == decision.rewrite or any("rewrite" in remark for remark in fitted.adjustments)
