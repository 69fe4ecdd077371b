"""A decision that says nothing leaves by a short way, which must lead where the long one does."""

from __future__ import annotations

from agents.recordings import request_for
from every import every

from tray.agents.protocol import fit, is_only_verdict, neutral, parse, spec
from tray.agents.registry import AGENTS
from tray.model.decision import NO_OUTPUT, Decision, Outcome, Status

SILENCE = Decision(outcomes=(Outcome(hook="h", status=Status.SKIPPED, output=NO_OUTPUT),))
EVENTS = [(agent, name) for agent, known in AGENTS.items() for name in known.events]


@every(("agent", "name"), EVENTS)
def test_silence_is_the_neutral_answer_in_every_event(agent: str, name: str) -> None:
    try:
        body = AGENTS[agent].protocol.sample(name)
    except KeyError:
        body = b"{}"
    event = parse(request_for(agent, name, body))

    assert is_only_verdict(SILENCE)
    assert fit(event, SILENCE) is SILENCE
    if not spec(agent, event.name).observe_only:
        assert AGENTS[agent].protocol.render(event, SILENCE) == neutral(event.sender, event.name, event.body)
