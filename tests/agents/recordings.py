"""The recorded payloads as they come over the wire, and short ways to an Event."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents.protocol import parse, spec
from tray.agents.registry import AGENTS
from tray.model.event import Event, RelayRequest

FOLDER = Path(__file__).parent / "payloads"


def wire(agent: str, name: str) -> bytes:
    """One recording, compact as the agent sends it."""
    value = json.loads((FOLDER / agent / f"{name}.json").read_text(encoding="utf-8"))
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return body + b"\n" if agent in ("claude-code", "x-code") else body


def request_for(agent: str, event: str, body: bytes) -> RelayRequest:
    environment = {"PATH": "/usr/bin", "CLAUDE_PROJECT_DIR": "/home/dev/project"}
    return RelayRequest(
        agent=agent, event=event, id="01", body=body, cwd="/relay", environment=environment, pid=41, parent=40
    )


def built(**fields: Any) -> Event:
    """Returns an Event with these fields, and with the agent and the EventSpec that `parse` would set."""
    event = Event(**fields)
    return replace(event, spec=spec(event.agent, event.name), sender=AGENTS.find(event.agent))


@cache
def recorded(agent: str, name: str) -> Event:
    return parse(request_for(agent, address(agent, name), wire(agent, name)))


def address(agent: str, name: str) -> str:
    """The event that a recording is of, as the relay's command line says it."""
    if agent != "shelley":
        return name.partition("-")[0]
    if name.startswith("slash-command"):
        return "slash/files" if name.endswith("-new") else "slash/foo"
    return name.removesuffix("-seed000").removesuffix("-subagent")


@cache
def sampled(agent: str, name: str) -> Event:
    return parse(request_for(agent, name, AGENTS[agent].protocol.sample(name)))
