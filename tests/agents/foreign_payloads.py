"""What agents without support send when they run a line of ours: one file each in `foreign/`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "foreign"


class Sent(NamedTuple):
    """One payload: `word` is the event that the line names, `event` the agent's own name for it."""

    agent: str
    event: str
    word: str
    payload: Mapping[str, Any]


def sent(agent: str = "") -> list[Sent]:
    files = [FOLDER / f"{agent}.json"] if agent else sorted(FOLDER.glob("*.json"))
    return [Sent(agent=file.stem, **row) for file in files for row in json.loads(file.read_text(encoding="utf-8"))]


def before_tool(agent: str) -> Sent:
    """What the agent sends before it runs a tool."""
    return sent(agent)[0]


def named(one: Sent) -> str:
    return f"{one.agent} {one.event}"
