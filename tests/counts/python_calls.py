"""Counts the calls of Python functions in a tray for one event."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from counts.scene import COMMANDS, EVENTS, Tray


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What one event passes through in the modules of `tray`; the standard library and packages are left out."""

    calls: int
    functions: int
    files: int


def measure(started: Tray) -> dict[str, Calls]:
    """For each kind of event the one with the fewest: whatever else a busy machine causes comes on top."""
    found = {kind: [_event(started, kind) for _ in range(EVENTS)] for kind in COMMANDS}
    return {kind: min(each, key=lambda one: one.calls) for kind, each in found.items()}


def _event(started: Tray, kind: str) -> Calls:
    _taken(started)
    started.ask(kind)
    started.settle()
    ours = [(file, count) for file, _, count in _taken(started) if not Path(file).is_absolute() and file[0] != "<"]
    return Calls(calls=sum(count for _, count in ours), functions=len(ours), files=len({file for file, _ in ours}))


def _taken(started: Tray) -> list[tuple[str, str, int]]:
    """All calls since this was asked last."""
    asked, answers = started.process.stdin, started.process.stdout
    assert asked is not None
    assert answers is not None
    print(file=asked, flush=True)
    return [(file, function, count) for file, function, count in json.loads(answers.readline())]
