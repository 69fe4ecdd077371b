"""Copilot CLI is recognised by its own shape and by Claude Code's with a timestamp.

{"sessionId":…,"timestamp":1795211022915,"cwd":…,"toolName":…,"toolArgs":…} has no event name; where the hook is
registered under Claude Code's event names, it is {"hook_event_name":…,"timestamp":"2026-…",…}.
"""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload

EVENTS_BY_KEY = (  # the first key in the payload decides the event
    ("hookName", "permissionRequest"),
    ("toolResult", "postToolUse"),
    ("error", "postToolUseFailure"),
    ("toolName", "preToolUse"),
    ("transformedPrompt", "userPromptTransformed"),
    ("prompt", "userPromptSubmitted"),
    ("stopReason", "agentStop"),
    ("source", "sessionStart"),
    ("reason", "sessionEnd"),
)


def _is_sender(payload: Payload) -> bool:
    if isinstance(payload.get("timestamp"), int) and wire.text(payload, "sessionId"):
        return "workspaceRoot" not in payload
    is_alike = wire.text(payload, "hook_event_name") and wire.text(payload, "timestamp")
    path = wire.path_parts(payload, "transcript_path")
    return bool(is_alike) and ("transcript_path" not in payload or path[-1] == "events.jsonl")


def _event(payload: Payload, word: str) -> str:
    if "hook_event_name" in payload:
        return wire.hook_event_name(payload, word)
    return next((event for key, event in EVENTS_BY_KEY if key in payload), word)


AGENT = KnownAgent(
    id="copilot-cli",
    name="Copilot CLI",
    marks=Marks(keys=("timestamp",), is_sender=_is_sender, yields=True, variables=("COPILOT_CLI",), event=_event),
    programs=frozenset({"copilot"}),
    variables=frozenset({"COPILOT_AGENT_SESSION_ID"}),
)
