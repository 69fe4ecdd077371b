"""The verdict in the journal is what the agent does: for each agent, event and kind of answer, by its stand-in."""

from __future__ import annotations

from agents.hosts import taken
from agents.recordings import sampled
from every import every

from tray.agents.protocol import fit, render, spec
from tray.agents.registry import AGENTS
from tray.model.decision import Decision, Rewrite, Target, Verdict
from tray.model.event import EventKind

KINDS = {
    "refused": Decision(verdict=Verdict.DENY, reason="no"),
    "asked": Decision(verdict=Verdict.ASK, reason="sure?"),
    "rewritten": Decision(rewrite=Rewrite(target=Target.INPUT, value={"command": "true"})),
    "output replaced": Decision(rewrite=Rewrite(target=Target.OUTPUT, value="masked")),
    "context": Decision(context="mind"),
}
ITS_OWN_QUESTIONS = (EventKind.ELICITATION, EventKind.PERMISSION_REQUEST)
CASES = [(agent, name, kind) for agent, one in AGENTS.items() for name in one.events for kind in KINDS]


@every(("agent", "name", "kind"), CASES, ids=[" ".join(case) for case in CASES])
def test_the_journal_has_the_verdict_that_the_agent_carries_out(agent: str, name: str, kind: str) -> None:
    event = sampled(agent, name)

    journalled = fit(event, KINDS[kind]).verdict
    done, _ = taken(event, render(event, KINDS[kind]))

    if event.kind in ITS_OWN_QUESTIONS and journalled is Verdict.ASK:  # it asks when it is told nothing
        done = max(done, Verdict.ASK)
    assert journalled is done


FEEDBACK = [(agent, name) for agent, one in AGENTS.items() for name in one.events if spec(agent, name).feedback_only]


@every(("agent", "name"), FEEDBACK)
def test_an_output_that_cannot_be_replaced_is_no_refusal_where_the_model_reads_it(agent: str, name: str) -> None:
    event = sampled(agent, name)
    value = 7 if event.tool and isinstance(event.tool.output, str) else "text"

    fitted = fit(event, Decision(rewrite=Rewrite(target=Target.OUTPUT, value={"other": value})))

    carried = fitted.rewrite is not None
    assert (fitted.verdict, bool(fitted.adjustments)) == (Verdict.ABSTAIN, not carried)
