"""Claude Code's hooks go below us and come back by whole groups, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.connect.claude_code import EXCLUDED_EVENTS
from tray.connect.claude_edit import add_groups, handlers, remove_handlers
from tray.connect.plan import Extracted, FindProblem, Site
from tray.dialects.claude_events import EVENTS
from tray.edit.json_edit import JsonText, RawJson
from tray.errors import HooktrayError
from tray.model.hook import AsyncMode, Hook
from tray.sources.claude_code import parse

UNSUPPORTED = "Hooktray cannot run them there"


def extract(_site: Site, text: bytes, path: Path, import_path: Path, problem: FindProblem) -> Extracted:
    """What stays, what goes, how many handlers go, and for each that stays why."""
    sheet = JsonText(text, str(path))
    if sheet.first_comment_line or sheet.value.get("disableAllHooks") is True:
        hint = "`hooktray agents` says why"
        raise HooktrayError(f"{path}: Claude Code runs none of its hooks as it stands", hint=hint)
    groups, gone, why = _sorted(sheet, import_path, problem)
    return remove_handlers(sheet, gone), add_groups(JsonText(b"{\n}\n", str(import_path)), groups), len(gone), why


def restore(text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
    """The settings with every group that was put aside behind what is there."""
    sheet = JsonText(imported, str(import_path))
    groups = {(one.event.key, one.group): RawJson(sheet.source(one.group)) for one in handlers(sheet)}
    return add_groups(JsonText(text, str(path)), _by_event(groups))


def _sorted(
    sheet: JsonText, aside: Path, problem: FindProblem
) -> tuple[dict[str, list[RawJson]], set[int], list[str]]:
    """Groups that move as a whole, their handlers' numbers, and for each handler that stays why."""
    found = [(place, one) for place, one in enumerate(handlers(sheet)) if not one.relay]
    mixed = {one.group for one in handlers(sheet) if one.relay}
    groups = {(one.event.key, one.group): RawJson(sheet.source(one.group)) for _, one in found}
    why = {
        group: UNSUPPORTED if group[1] in mixed else _stay_reason(group[0], raw, aside, problem)
        for group, raw in groups.items()
    }
    gone = {place for place, one in found if not why[one.event.key, one.group]}
    stay = [why[one.event.key, one.group] for place, one in found if place not in gone]
    return _by_event({group: raw for group, raw in groups.items() if not why[group]}), gone, stay


def _stay_reason(event: str, group: RawJson, aside: Path, problem: FindProblem) -> str:
    """Why a group stays; "" when all of its hooks would do below us what they do now, without a word of warning."""
    if event in EXCLUDED_EVENTS:
        return f"{event} takes the agent's place, so `connect` writes no line of ours there"
    text = f"{{{json.dumps(event)}: [{group.text}]}}"
    found = parse(f'{{"hooks": {text}}}'.encode(), aside)
    if found.warnings or any(hook.inactive for hook in found.hooks):
        return UNSUPPORTED
    if event == "FileChanged" and any(hook.match.tool for hook in found.hooks):
        return "from their matcher Claude Code knows which files to watch"
    patience = EVENTS[event].timeout
    if any(_outlasts(hook, event) for hook in found.hooks):
        return f"their `timeout` is longer than the {patience:g} s that our line has on {event}"
    return next(filter(None, map(problem, found.hooks)), "")


def _outlasts(hook: Hook, event: str) -> bool:
    """Whether the answer would leave before the hook's own time is over; where none waits for it, it runs on."""
    spec = EVENTS[event]
    return hook.timeout > spec.timeout and hook.async_mode is AsyncMode.NO and not spec.observe_only


def _by_event(groups: Mapping[tuple[str, Any], RawJson]) -> dict[str, list[RawJson]]:
    events: dict[str, list[RawJson]] = {}
    for (event, _), raw in groups.items():
        events.setdefault(event, []).append(raw)
    return events
