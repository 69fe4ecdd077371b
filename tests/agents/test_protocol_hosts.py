"""Every answer as the agent's own loop reads it (tests/hosts): taken whole, without a complaint, and never looser."""

from __future__ import annotations

import json

from agents.decisions import DECISIONS
from agents.hosts import heard, meant, taken
from agents.recordings import request_for, sampled
from every import every
from hosts.process import Report
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.agents import outputs, wire
from tray.agents.protocol import fit, neutral, parse, render, spec
from tray.agents.registry import AGENTS
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import Capability, Event

EVENTS = [sampled(agent, name) for agent, known in AGENTS.items() for name in known.events]
IDS = [f"{event.agent}-{event.name}" for event in EVENTS]
TARGETS = {
    Target.ANSWER: "answer",
    Target.INPUT: "input",
    Target.MESSAGE: "message",
    Target.OUTPUT: "output",
    Target.PROMPT: "prompt",
}


@every("event", EVENTS, ids=IDS)
def test_the_neutral_answer_changes_nothing_and_is_no_cause_for_complaint(event: Event) -> None:
    expected = Report(warnings=["printed no path"]) if event.name == "WorktreeCreate" else Report()

    assert heard(event, neutral(event.sender, event.name, event.body)) == expected


def test_an_unknown_event_gets_the_neutral_answer_even_if_a_hook_refuses() -> None:
    unknown = [parse(request_for(agent, "no-such-event", b"{}")) for agent in AGENTS]
    refusal = Decision(verdict=Verdict.DENY, reason="no", stop="enough")

    for event in (*unknown, parse(request_for("foo", "PreToolUse", b"{}"))):
        assert render(event, refusal) == neutral(event.sender, event.name, event.body)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(EVENTS), DECISIONS)
def test_every_decision_arrives_and_the_agent_ignores_no_part_of_the_answer(event: Event, decision: Decision) -> None:
    fitted, answer = fit(event, decision), render(event, decision)
    can, feedback_only = spec(event.agent, event.name).can, spec(event.agent, event.name).feedback_only

    assert taken(event, answer) == meant(event, fitted)
    report = heard(event, answer)
    refused = report.verdict == "deny" or report.stop
    if decision.rewrite and decision.stop is None and Capability.DENY in can and not feedback_only:
        assert refused or arrived(event, decision.rewrite, report)
    if report.verdict == "deny" and fitted.reason.isascii() and fitted.reason and event.name[:4] != "Elic":
        assert fitted.reason in report.reason
    if fitted.context.isascii() and fitted.context and not refused:
        assert fitted.context in str(report.changes)


def arrived(event: Event, rewrite: Rewrite, report: Report) -> bool:
    """Whether the agent uses this value; one that changes nothing need not be told."""
    found = report.changes.get(TARGETS[rewrite.target])
    if rewrite.target is Target.PROMPT and found is None:
        return str(rewrite.value) == event.prompt
    if event.agent in ("copilot-cli", "x-code") and rewrite.target is Target.OUTPUT:
        return found is not None and str(found) == outputs.as_text(rewrite.value)
    if rewrite.target is Target.PROMPT:
        return str(found).startswith(str(rewrite.value).encode("utf-8", "replace").decode())  # context may follow it
    value = json.loads(wire.dumps(rewrite.value))  # as it travels
    same: bool = found == value or str(found) == str(value).strip()
    return same
