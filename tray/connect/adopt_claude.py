"""Claude Code's hooks go below us and come back by whole groups, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.connect.claude_sheet import handlers, put, without
from tray.connect.json_text import JsonText, Raw
from tray.connect.plan import Site
from tray.errors import HooktrayError
from tray.sources.claude_code import parse


def take(_site: Site, text: bytes, path: Path, aside: Path) -> tuple[bytes, bytes, int, int]:
    """What stays, what goes, and how many handlers of each."""
    sheet = JsonText(text, str(path))
    if sheet.comment or sheet.value.get("disableAllHooks") is True:
        hint = "`hooktray connections` says why"
        raise HooktrayError(f"{path}: Claude Code runs none of its hooks as it stands", hint=hint)
    groups, gone, left = _sorted(sheet, aside)
    return without(sheet, gone), put(JsonText(b"{\n}\n", str(aside)), groups), len(gone), left


def give(text: bytes, path: Path, own: bytes, aside: Path) -> bytes:
    """The settings with every group that was put aside behind what is there."""
    sheet = JsonText(own, str(aside))
    groups = {(one.event.key, one.group): Raw(sheet.source(one.group)) for one in handlers(sheet)}
    return put(JsonText(text, str(path)), _by_event(groups))


def _sorted(sheet: JsonText, aside: Path) -> tuple[dict[str, list[Raw]], set[int], int]:
    """Groups that move as a whole, their handlers' numbers, and how many handlers stay."""
    found = [(place, one) for place, one in enumerate(handlers(sheet)) if not one.line]
    mixed = {one.group for one in handlers(sheet) if one.line}
    groups = {(one.event.key, one.group): Raw(sheet.source(one.group)) for _, one in found if one.group not in mixed}
    moved = {group: raw for group, raw in groups.items() if _runs(group[0], raw, aside)}
    gone = {place for place, one in found if (one.event.key, one.group) in moved}
    return _by_event(moved), gone, len(found) - len(gone)


def _runs(event: str, group: Raw, aside: Path) -> bool:
    """Whether all of a group's hooks would run below us, without a word of warning."""
    text = f"{{{json.dumps(event)}: [{group.text}]}}"
    found = parse(f'{{"hooks": {text}}}'.encode(), aside)
    return not found.warnings and not any(hook.inert for hook in found.hooks)


def _by_event(groups: Mapping[tuple[str, Any], Raw]) -> dict[str, list[Raw]]:
    events: dict[str, list[Raw]] = {}
    for (event, _), raw in groups.items():
        events.setdefault(event, []).append(raw)
    return events
