"""Shelley: one executable for each of its hooks, in ~/.config/shelley/hooks."""

from __future__ import annotations

import re

from tray.agents import wire
from tray.agents.agent import Agent, HookRules, Marks, Payload, ProtectedFiles, part
from tray.agents.shelley import protocol

MOVED = ("/.config/shelley/hooks/", "/shelley-hooks/")


def _is_alike(payload: Payload) -> bool:
    is_prompt = isinstance(payload.get("readonly"), dict) and not payload.keys().isdisjoint({"message", "prompt"})
    return is_prompt or payload.get("type") == "end_of_turn" or {"command", "raw_message"} <= payload.keys()


def _event(payload: Payload, word: str) -> str:
    """For a payload that does not name its event."""
    if "raw_message" in payload:
        return f"slash/{wire.text(payload, 'command')}"
    return "new-conversation" if "prompt" in payload else "chat-message"


AGENT = Agent(
    id=protocol.AGENT,
    name="Shelley",
    events=protocol.EVENTS,
    protocol=protocol,
    answers=protocol.ANSWERS,
    marks=Marks(is_alike=_is_alike, event=_event),
    rules=HookRules(text_counts=True, fails_to_refuse=True, only_rewrites_prompts=True, moved=MOVED),
    programs=frozenset({"shelley"}),
    variables=frozenset({"SHELLEY_CONVERSATION_ID"}),
    protected=(ProtectedFiles(kind="Shelley's hooks", pattern=re.compile(r".*/shelley/hooks(?:/.*)?")),),
    settings_files=(".config/shelley/hooks/end-of-turn",),
    path_words=("hook",),
    probe_event="new-conversation",
    connector=part("tray.agents.shelley.connector:CONNECTOR"),
    reader=part("tray.agents.shelley.source"),
    import_hint="`hooktray connect shelley` does it: your own executables become hooks below Hooktray; "
    "`hooktray disconnect shelley` puts them back",
)
