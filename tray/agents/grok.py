"""Grok CLI is recognised by {"workspaceRoot":…,"hookEventName":…,"toolName":…}."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks

AGENT = KnownAgent(
    id="grok",
    name="Grok CLI",
    marks=Marks(
        keys=("workspaceRoot",),
        is_sender=lambda payload: not payload.keys().isdisjoint({"toolInput", "toolName"}),
        variables=("GROK_WORKSPACE_ROOT",),
        event=lambda payload, word: wire.event_name(payload, "hookEventName") or word,
    ),
)
