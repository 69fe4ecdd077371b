"""Windsurf is recognised by {"agent_action_name":…,"trajectory_id":…}."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload


def _is_sender(payload: Payload) -> bool:
    return "trajectory_id" in payload


def _event_name(payload: Payload, word: str) -> str:
    return wire.event_name(payload, "agent_action_name") or word


AGENT = KnownAgent(
    id="windsurf",
    name="Windsurf",
    marks=Marks(keys=("agent_action_name",), is_sender=_is_sender, event=_event_name),
)
