"""Values for the tests of the menu, and ways to find a row."""

from __future__ import annotations

import time
from collections.abc import Iterator

from msgspec.structs import replace

from tray.desktop.menu import menu
from tray.desktop.menu.items import Item, ItemKind
from tray.desktop.menu.state import Approval, MenuAgent, MenuRequest, MenuState
from tray.model.decision import Record, Verdict
from tray.model.hook import ApprovalState

NOON = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
RECORD = Record(
    id="r1",
    at=NOON,
    agent="claude-code",
    session="s",
    project="shop",
    event="PreToolUse",
    kind="tool_before",
    verdict=Verdict.DENY,
    reason="guard: no",
    ms=4.0,
    hooks=({"name": "guard", "status": "ok", "verdict": "deny", "reason": "no"},),
    tool="Bash",
    subject="rm -rf build/",
)
PENDING = Approval(
    key="hooktray:/h.yaml#guard", name="guard", event="tool_before", state=ApprovalState.PENDING, digest="1a2b3c4d5e"
)
CHANGED = replace(PENDING, state=ApprovalState.CHANGED)
LABEL_LIMIT = 120  # characters that no row exceeds
CLAUDE = MenuAgent(agent="claude-code", name="Claude Code", installed=True, connected=True)
OFF = MenuRequest(id="q1", summary="Switch hooks off", requester="claude-code, pid 812")


def walk(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from walk(item.children)


def find(state: MenuState, key: str) -> Item:
    return next(item for item in walk(menu(state)) if item.id == key)


def labels(item: Item) -> list[str]:
    return [child.label for child in item.children if child.kind is not ItemKind.SEPARATOR]
