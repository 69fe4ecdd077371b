"""Windsurf is recognised by {"agent_action_name":…,"trajectory_id":…}."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks

AGENT = KnownAgent(
    id="windsurf",
    name="Windsurf",
    marks=Marks(
        keys=("agent_action_name",),
        is_sender=lambda payload: "trajectory_id" in payload,
        event=lambda payload, word: wire.event_name(payload, "agent_action_name") or word,
    ),
)
