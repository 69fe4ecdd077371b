"""Which agent's event a hook is tried with."""

from __future__ import annotations

from tray.dialects import DIALECTS
from tray.model.hook import Match


def sample(match: Match) -> tuple[str, str] | None:
    """The agent and native event that this hook is asked about first; None when there is none."""
    if match.format in DIALECTS and match.native in DIALECTS[match.format].EVENTS and _asks(match, match.format):
        return match.format, match.native
    for agent in match.agents or tuple(DIALECTS):
        if agent not in DIALECTS:
            continue
        for name, spec in DIALECTS[agent].EVENTS.items():
            if match.event == spec.kind.value or (match.agents and match.event == name):
                return agent, name
        if match.agents and match.event.startswith("slash/"):
            return agent, match.event
    return None


def _asks(match: Match, agent: str) -> bool:
    return not match.agents or agent in match.agents
