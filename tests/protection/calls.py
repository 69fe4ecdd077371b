"""Calls of agents' tools, and what self-protection says to them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from tray.model.decision import Verdict
from tray.model.event import Event, EventKind, Tool
from tray.protection.protected_paths import ProtectedPaths
from tray.protection.self_protection import Protection
from tray.store.ledger import LedgerState

PLACES = ProtectedPaths(
    own=("/home/u/.config/hooktray", "/home/u/.local/state/hooktray"),
    home="/home/u",
    agent_homes={"x-code": "/srv/x"},
    port=8123,
)
NOT_APPROVED = LedgerState()
# Everyday calls of other tools, some with files and words that resemble Hooktray's.
ORDINARY_TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("Write", {"file_path": "/home/u/p/src/hooks.json", "content": "x"}),
    ("Write", {"file_path": "/home/u/p/settings.json", "content": "hooktray off"}),
    ("Edit", {"file_path": "docs/security.md", "old_string": "hooktray off", "new_string": "y"}),
    ("Read", {"file_path": "/home/u/.claude/settings.json"}),
    ("Grep", {"pattern": "hooktray off", "path": "/home/u/.claude"}),
    ("Glob", {"pattern": "**/.claude/settings*.json"}),
    ("WebFetch", {"url": "https://example.com/hooktray"}),
    (
        "mcp__github__create_issue",
        {"title": "hooktray off", "body": "`hooktray off` does nothing\nsee .claude/settings.json"},
    ),
    ("mcp__fs__read_file", {"path": "/home/u/.claude/settings.json"}),
    ("mcp__fs__list_directory", {"path": "/home/u/.claude/hooks"}),
    ("mcp__fs__write_file", {"path": "/home/u/p/src/hooks/x.py", "content": "tray"}),
    ("mcp__db__query", {"sql": "select * from hooks"}),
    ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/hooks.json\n@@\n-a\n+b\n*** End Patch"}),
    ("mcp__slack__send_message", {"text": "hooktray is great"}),
    ("TodoWrite", {"todos": [{"content": "test hooktray off"}]}),
    ("NotebookEdit", {"notebook_path": "/home/u/p/hooks.ipynb"}),
]


class Confirmed(NamedTuple):
    """The exceptions that a person confirmed."""

    exceptions: tuple[str, ...]


@functools.cache
def _tables() -> dict[str, list[str]]:
    text = Path(__file__).with_name("lines.txt").read_text(encoding="utf-8")
    tables = [part.split("\n") for part in text.replace("\n| ", "\v").split("\n== ")[1:]]
    return {name: [one.replace("\v", "\n") for one in rest if one] for name, *rest in tables}


def lines(name: str) -> list[str]:
    """A table of lines.txt."""
    return _tables()[name]


def pairs(first: Iterable[Any], second: Iterable[Any], few: int = 4) -> list[tuple[Any, Any]]:
    """Pairs each item of one list with some of the other, for lists that are independent of each other."""
    one, two = list(first), list(second)
    some_of_one, some_of_two = (each[:: -(-len(each) // few)] for each in (one, two))
    return list(dict.fromkeys([*product(one, some_of_two), *product(some_of_one, two)]))


def event(tool: str, input: dict[str, Any], agent: str = "claude-code") -> Event:
    return Event(
        id="1", agent=agent, name="x", kind=EventKind.TOOL_BEFORE, cwd="/home/u/p", tool=Tool(name=tool, input=input)
    )


def verdict(
    found: Event, *allow: str, places: ProtectedPaths = PLACES, approved: LedgerState = NOT_APPROVED
) -> Verdict:
    said = Protection(protected_paths=places, settings=Confirmed(allow), approved=approved).judge(found)
    return said.output.verdict if said else Verdict.ABSTAIN


def shell(line: str, *allow: str, places: ProtectedPaths = PLACES) -> Verdict:
    return verdict(event("Bash", {"command": line}), *allow, places=places)
