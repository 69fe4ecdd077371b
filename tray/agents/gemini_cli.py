"""Gemini CLI is recognised by the names of its own events, or by the path of its transcripts.

{"session_id":…,"transcript_path":"….gemini/tmp/…/chats/session-….jsonl","timestamp":"2026-…",…}
"""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload

EVENTS = frozenset(
    {
        *("AfterAgent", "AfterModel", "AfterTool", "BeforeAgent", "BeforeModel", "BeforeTool"),
        *("BeforeToolSelection", "PreCompress"),
    }
)


def _is_sender(payload: Payload) -> bool:
    if not wire.text(payload, "timestamp"):
        return False
    path = wire.path_parts(payload, "transcript_path")
    is_own_event = wire.hook_event_name(payload, "") in EVENTS
    return is_own_event or (path[-2:-1] == ["chats"] and path[-1].startswith("session-"))


AGENT = KnownAgent(
    id="gemini-cli",
    name="Gemini CLI",
    marks=Marks(
        keys=("timestamp",),
        is_sender=_is_sender,
        yields=True,
        variables=("GEMINI_SESSION_ID",),
        event=wire.hook_event_name,
    ),
    programs=frozenset({"gemini"}),
    variables=frozenset({"GEMINI_CLI"}),
)
