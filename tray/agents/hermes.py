"""Hermes is recognised by lower-case event names and {"tool_name":…,"tool_input":…,"extra":{…}}."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload


def _is_sender(payload: Payload) -> bool:
    is_named = wire.hook_event_name(payload, "")[:1].islower()
    return is_named and isinstance(payload.get("extra"), dict) and {"tool_name", "tool_input"} <= payload.keys()


AGENT = KnownAgent(
    id="hermes", name="Hermes", marks=Marks(keys=("extra",), is_sender=_is_sender, event=wire.hook_event_name)
)
