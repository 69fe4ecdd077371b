"""Codex is recognised by Claude Code's shape with turn_id and model, or by its transcripts: rollout-….jsonl."""

from __future__ import annotations

from tray.agents import wire
from tray.agents.agent import KnownAgent, Marks, Payload

ROLLOUT = "rollout-"


def _is_sender(payload: Payload) -> bool:
    if not wire.text(payload, "hook_event_name"):
        return False
    if isinstance(payload.get("model"), str):
        if wire.text(payload, "turn_id"):
            return True
        if "permission_mode" in payload and "transcript_path" in payload and payload["transcript_path"] is None:
            return True
    return wire.path_parts(payload, "transcript_path")[-1].startswith(ROLLOUT)


AGENT = KnownAgent(
    id="codex",
    name="Codex",
    marks=Marks(
        keys=("model", "turn_id"), transcript=ROLLOUT, is_sender=_is_sender, yields=True, event=wire.hook_event_name
    ),
    programs=frozenset({"codex"}),
    variables=frozenset({"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"}),
)
