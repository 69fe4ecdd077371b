"""Antigravity is recognised by {"toolCall":{"name":…,"args":{…}},"stepIdx":7}. There an invalid answer denies."""

from __future__ import annotations

from tray.agents.agent import KnownAgent, Marks, Payload

NEUTRAL = {
    "PostInvocation": b"{}",
    "PostToolUse": b"{}",
    "PreInvocation": b"{}",
    "PreToolUse": b'{"decision":"ask"}',  # the user's own policy applies; `{}` would deny
    "Stop": b'{"decision":""}',
}
TOOL_EVENTS, STOP_EVENTS = ("PreToolUse", "PostToolUse"), ("Stop",)


def _is_sender(payload: Payload) -> bool:
    if "stepIdx" in payload and isinstance(payload.get("toolCall"), dict):
        return True
    return "conversationId" in payload and not payload.keys().isdisjoint({"artifactDirectoryPath", "executionNum"})


def _event(payload: Payload, word: str) -> str:
    """Payloads name no event: it is the one in the command, or "" if the payload cannot be of that event."""
    if "toolCall" in payload:
        return word if word in TOOL_EVENTS else ""
    if not payload.keys().isdisjoint({"executionNum", "fullyIdle", "terminationReason"}):
        return "Stop"
    return word if word in NEUTRAL.keys() - {*TOOL_EVENTS, *STOP_EVENTS} else ""


AGENT = KnownAgent(
    id="antigravity",
    name="Antigravity",
    marks=Marks(
        keys=("conversationId", "stepIdx"),
        is_sender=_is_sender,
        event=_event,
        neutral=lambda event: NEUTRAL.get(event, b""),
    ),
)
