"""Devin is recognised by a variable of its hooks' environment."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks

AGENT = KnownAgent(
    id="devin", name="Devin", marks=Marks(variables=("DEVIN_PROJECT_DIR",), event=wire.hook_event_name)
)
