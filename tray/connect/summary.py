"""What a plan does to an agent's settings, in one line for people, and the question whether to do it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from tray.agents.agent import Connector
from tray.agents.connection import EntryContent, Plan
from tray.connect import connectors
from tray.edit.file_changes import FileChange, FileState
from tray.errors import HooktrayError
from tray.language import count, say

YES, NO, DIFFERENCE = ("y", "yes"), ("", "n", "no"), ("d", "diff", "difference")


class _Effect(msgspec.Struct, frozen=True, kw_only=True):
    """What one change does to our entries in one place: how many are added, altered and removed."""

    place: Path
    deleted: bool = False
    added: int = 0
    altered: int = 0
    removed: int = 0


def summary(agent: str, plan: Plan, home: Path) -> str:
    """`adds 1 entry for each of 14 events to ~/.pine/settings.json`; "" for a plan without changes."""
    effects = _by_folder([_effect(connectors()[agent], change) for change in plan.changes])
    return " · ".join(_text(one, home) for one in effects)


def is_confirmed(what: str, read: Callable[[str], str], show: Callable[[], None]) -> bool:
    """Ask at a terminal until the answer is yes or no; nothing means no. `show` prints the exact difference."""
    while (answer := read(f"{what}? [y/N, d shows the difference]: ").strip().lower()) not in (*YES, *NO):
        if answer in DIFFERENCE:
            show()
    return answer in YES


def _effect(connector: Connector, change: FileChange) -> _Effect:
    place = change.display_path or change.path
    before, after = (_entries(connector, change.path, state) for state in (change.before, change.after))
    if any(one.event == "" for one in (*before, *after)):  # it registers all events, or none
        return _Effect(place=place, deleted=change.after is None)
    events = Counter(one.event for one in before), Counter(one.event for one in after)
    added, removed = (events[1] - events[0]).total(), (events[0] - events[1]).total()
    altered = sum(one not in before for one in after) - added
    deleted = change.after is None
    return _Effect(place=place, deleted=deleted, added=added, altered=max(altered, 0), removed=removed)


def _entries(connector: Connector, path: Path, state: FileState) -> tuple[EntryContent, ...]:
    """None in a file that is not one of the agent's settings."""
    try:
        return connector.contents(path, state)
    except HooktrayError:
        return ()


def _by_folder(effects: Iterable[_Effect]) -> Iterator[_Effect]:
    """An agent that has one file for each event: its files in one folder are named together."""
    found = list(effects)
    number = Counter(one.place.parent for one in found if one.added or one.altered or one.removed)
    done: set[Path] = set()
    for one in found:
        folder = one.place.parent
        if number[folder] < 3 or not (one.added or one.altered or one.removed):
            yield one
        elif folder not in done:
            done.add(folder)
            same = [each for each in found if each.place.parent == folder]
            yield _Effect(
                place=folder,
                added=sum(each.added for each in same),
                altered=sum(each.altered for each in same),
                removed=sum(each.removed for each in same),
            )


def _text(one: _Effect, home: Path) -> str:
    file = f"~/{one.place.relative_to(home)}" if one.place.is_relative_to(home) else str(one.place)
    parts = []
    if one.added:
        parts.append(
            count("adds 1 entry to {file}", "adds 1 entry for each of {n} events to {file}", one.added, file=file)
        )
    if one.altered:
        parts.append(count("renews {n} entry in {file}", "renews {n} entries in {file}", one.altered, file=file))
    if one.removed:
        parts.append(
            count("takes {n} entry out of {file}", "takes {n} entries out of {file}", one.removed, file=file)
        )
    otherwise = say("removes {file}", file=file) if one.deleted else say("writes {file}", file=file)
    return " · ".join(parts) or otherwise
