"""Cursor is recognised by the fields that it adds to each payload.

{"conversation_id":…,"generation_id":…,"cursor_version":"3.19.10","hook_event_name":"preToolUse",…}
"""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload

PERMISSION_EVENTS = frozenset(
    {
        *("beforeMCPExecution", "beforeReadFile", "beforeShellExecution", "beforeTabFileRead"),
        *("preToolUse", "subagentStart"),
    }
)


def _is_sender(payload: Payload) -> bool:
    return "cursor_version" in payload or ("conversation_id" in payload and "generation_id" in payload)


def _neutral(event: str) -> bytes:
    """Newer versions block if a permission hook prints nothing. After an allow, cursor-agent still asks its user."""
    return b'{"permission":"allow"}' if f"{event[:1].lower()}{event[1:]}" in PERMISSION_EVENTS else b"{}"


AGENT = KnownAgent(
    id="cursor",
    name="Cursor",
    marks=Marks(
        keys=("conversation_id", "cursor_version"),
        is_sender=_is_sender,
        variables=("CURSOR_VERSION",),
        event=wire.hook_event_name,
        neutral=_neutral,
    ),
    programs=frozenset({"cursor-agent"}),
    variables=frozenset({"CURSOR_AGENT"}),
)
