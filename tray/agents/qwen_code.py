"""Qwen Code is recognised by Claude Code's shape with a timestamp, and by the path of its transcripts.

{"hook_event_name":…,"session_id":…,"transcript_path":"….qwen/projects/…/chats/<session>.jsonl","timestamp":"2026-…"}
"""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload


def _is_sender(payload: Payload) -> bool:
    if not (wire.text(payload, "timestamp") and wire.text(payload, "hook_event_name")):
        return False
    path = wire.path_parts(payload, "transcript_path")
    in_chats = path[-2:] == ["chats", f"{wire.text(payload, 'session_id')}.jsonl"]
    return in_chats or "########" in wire.text(payload, "prompt_id")


AGENT = KnownAgent(
    id="qwen-code",
    name="Qwen Code",
    marks=Marks(
        keys=("timestamp",),
        is_sender=_is_sender,
        yields=True,
        variables=("QWEN_CODE_SESSION_ID",),
        event=wire.hook_event_name,
    ),
    programs=frozenset({"qwen"}),
    variables=frozenset({"QWEN_CODE"}),
)
