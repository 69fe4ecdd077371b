"""Agents that Hooktray recognises by their payloads and does not support yet."""

from __future__ import annotations

from collections.abc import Mapping

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload


def _is_hermes(payload: Payload) -> bool:
    """True if the event name is in lower case and the payload is {"tool_name":…,"tool_input":…,"extra":{…}}."""
    is_named = wire.hook_event_name(payload, "")[:1].islower()
    return is_named and isinstance(payload.get("extra"), dict) and {"tool_name", "tool_input"} <= payload.keys()


def _is_windsurf(payload: Payload) -> bool:
    return "trajectory_id" in payload


def _windsurf_event(payload: Payload, word: str) -> str:
    return wire.event_name(payload, "agent_action_name") or word


HERMES = Marks(keys=("extra",), is_sender=_is_hermes, event=wire.hook_event_name)
WINDSURF = Marks(keys=("agent_action_name",), is_sender=_is_windsurf, event=_windsurf_event)
UNSUPPORTED: Mapping[str, KnownAgent] = {
    "hermes": KnownAgent(id="hermes", name="Hermes", marks=HERMES),
    "windsurf": KnownAgent(id="windsurf", name="Windsurf", marks=WINDSURF),
}
