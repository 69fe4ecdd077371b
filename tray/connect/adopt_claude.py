"""Claude Code's hooks go below us and come back by whole groups, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.connect.claude_code import LEFT_OUT
from tray.connect.claude_sheet import handlers, put, without
from tray.connect.json_text import JsonText, Raw
from tray.connect.plan import Site
from tray.dialects.claude_events import EVENTS
from tray.engine.approval.checks import cannot_work
from tray.errors import HooktrayError
from tray.model.hook import Aside, Hook
from tray.sources.claude_code import parse

CANNOT = "Hooktray cannot run them there"


def take(_site: Site, text: bytes, path: Path, aside: Path) -> tuple[bytes, bytes, int, list[str]]:
    """What stays, what goes, how many handlers go, and for each that stays why."""
    sheet = JsonText(text, str(path))
    if sheet.comment or sheet.value.get("disableAllHooks") is True:
        hint = "`hooktray connections` says why"
        raise HooktrayError(f"{path}: Claude Code runs none of its hooks as it stands", hint=hint)
    groups, gone, why = _sorted(sheet, aside)
    return without(sheet, gone), put(JsonText(b"{\n}\n", str(aside)), groups), len(gone), why


def give(text: bytes, path: Path, own: bytes, aside: Path) -> bytes:
    """The settings with every group that was put aside behind what is there."""
    sheet = JsonText(own, str(aside))
    groups = {(one.event.key, one.group): Raw(sheet.source(one.group)) for one in handlers(sheet)}
    return put(JsonText(text, str(path)), _by_event(groups))


def _sorted(sheet: JsonText, aside: Path) -> tuple[dict[str, list[Raw]], set[int], list[str]]:
    """Groups that move as a whole, their handlers' numbers, and for each handler that stays why."""
    found = [(place, one) for place, one in enumerate(handlers(sheet)) if not one.line]
    mixed = {one.group for one in handlers(sheet) if one.line}
    groups = {(one.event.key, one.group): Raw(sheet.source(one.group)) for _, one in found}
    why = {group: CANNOT if group[1] in mixed else _kept(group[0], raw, aside) for group, raw in groups.items()}
    gone = {place for place, one in found if not why[one.event.key, one.group]}
    stay = [why[one.event.key, one.group] for place, one in found if place not in gone]
    return _by_event({group: raw for group, raw in groups.items() if not why[group]}), gone, stay


def _kept(event: str, group: Raw, aside: Path) -> str:
    """Why a group stays; "" when all of its hooks would do below us what they do now, without a word of warning."""
    if event in LEFT_OUT:
        return f"{event} takes the agent's place, so `connect` writes no line of ours there"
    text = f"{{{json.dumps(event)}: [{group.text}]}}"
    found = parse(f'{{"hooks": {text}}}'.encode(), aside)
    if found.warnings or any(hook.inert for hook in found.hooks):
        return CANNOT
    if event == "FileChanged" and any(hook.match.tool for hook in found.hooks):
        return "from their matcher Claude Code knows which files to watch"
    patience = EVENTS[event].timeout
    if any(_outlasts(hook, event) for hook in found.hooks):
        return f"their `timeout` is longer than the {patience:g} s that our line has on {event}"
    return next(filter(None, map(cannot_work, found.hooks)), "")


def _outlasts(hook: Hook, event: str) -> bool:
    """Whether the answer would leave before the hook's own time is over; where none waits for it, it runs on."""
    spec = EVENTS[event]
    return hook.timeout > spec.timeout and hook.aside is Aside.NO and not spec.observe_only


def _by_event(groups: Mapping[tuple[str, Any], Raw]) -> dict[str, list[Raw]]:
    events: dict[str, list[Raw]] = {}
    for (event, _), raw in groups.items():
        events.setdefault(event, []).append(raw)
    return events
