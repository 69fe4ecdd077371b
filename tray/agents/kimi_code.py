"""Kimi Code is recognised by {"client_type":"kimi_code_cli"}."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks

AGENT = KnownAgent(
    id="kimi-code",
    name="Kimi Code",
    marks=Marks(
        keys=("client_type",),
        is_sender=lambda payload: payload.get("client_type") == "kimi_code_cli",
        event=wire.hook_event_name,
    ),
)
