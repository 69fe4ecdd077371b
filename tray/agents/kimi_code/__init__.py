"""Kimi Code: hooks as tables of ~/.kimi-code/config.toml."""

from __future__ import annotations

import re

from msgspec.structs import replace

from tray.agents import wire
from tray.agents.agent import HookRules, Marks, NativeTool, Payload, part
from tray.agents.claude_shape import CAPITALISED, claude_shaped
from tray.agents.kimi_code.protocol import ANSWERS, CLIENT, CLIENTS, NAME, PROTOCOL, SETTINGS, SHAPE
from tray.model.event import Capability

PATH = {"file_path": ("path",)}
TOOLS = {
    "Edit": NativeTool("Edit", PATH),
    "Read": NativeTool("Read", PATH),
    "Task": NativeTool("Agent"),
    "TodoWrite": NativeTool("TodoList"),
    "WebFetch": NativeTool("FetchURL"),
    "Write": NativeTool("Write", PATH),
}


def _is_sender(payload: Payload) -> bool:
    return payload.get(CLIENT) in CLIENTS


AGENT = replace(
    claude_shaped(
        name=NAME,
        shape=SHAPE,
        file=SETTINGS,
        protocol=PROTOCOL,
        tools=TOOLS,
        marks=Marks(
            keys=(CLIENT,),
            is_sender=_is_sender,
            is_alike=_is_sender,
            event_names=CAPITALISED,
            event=wire.hook_event_name,
        ),
        rules=HookRules(deduplicated=True, exact_names=False, text_counts=True),
        programs=frozenset({"kimi"}),
    ),
    default_can=Capability.DENY,
    keeps_call_ids=True,
    answers=ANSWERS,
    guarded_members={"*/.kimi-code/config.toml": re.compile("hooks", re.IGNORECASE)},
    connector=part("tray.agents.kimi_code.connector:CONNECTOR"),
    reader=part("tray.agents.kimi_code.source"),
    importer=part("tray.agents.kimi_code.connector:IMPORTER"),
)
