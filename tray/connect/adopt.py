"""Adopting: the user's own hooks leave Claude Code's settings and go on below us, as a source; `release` undoes it.

Each group is kept byte for byte in <config>/adopted/claude-code/settings.json, which hooktray.yaml then names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tray.connect.book import Book
from tray.connect.claude_code import settings
from tray.connect.claude_sheet import handlers, put, without
from tray.connect.edit import Change, File, look, settled
from tray.connect.json_text import JsonText, Raw
from tray.connect.plan import Plan, Site, sourced
from tray.dialects.claude_events import AGENT
from tray.errors import HooktrayError
from tray.sources.claude_code import parse

ELSEWHERE = {
    "shelley": "`hooktray connect shelley` does it: your own executables become hooks below Hooktray",
    "starchild": "name its config/shell_hooks.yaml under `sources:` and switch it off there with `/hooks off`",
    "x-code": "name the plugin's folder under `sources:` and switch the plugin off with `/plugin disable`",
}


def notes(site: Site) -> Book:
    """What the settings said before, apart from what `connect` wrote there."""
    return Book(site.paths.state / "adoptions")


def adopted(site: Site) -> Path:
    return site.paths.config.parent / "adopted" / AGENT / "settings.json"


def adopt(site: Site, agent: str) -> Plan:
    """Move what can run below us; the rest stays where it is, and is told."""
    path = _own(site, agent)
    now, kept = look(path), look(adopted(site))
    if kept is not None:
        raise HooktrayError(
            f"{adopted(site)}: holds hooks that were adopted before",
            hint=f"`hooktray release {agent}` puts them back first",
        )
    if not isinstance(now, File) or not now.text.strip():
        raise HooktrayError(f"{path}: there is no hook in it", hint="nothing was written")
    sheet = JsonText(now.text, str(path))
    if sheet.comment or sheet.value.get("disableAllHooks") is True:
        raise HooktrayError(
            f"{path}: Claude Code runs none of its hooks as it stands", hint="`hooktray connections` says why"
        )
    groups, gone, left = _sorted(site, sheet)
    if not groups:
        raise HooktrayError(
            f"{path}: no hook in it can be adopted", hint="`hooktray list` says of a source what each hook lacks"
        )
    after = File(text=without(sheet, gone), mode=now.mode)
    own = put(JsonText(b"{\n}\n", str(adopted(site))), groups)
    changes = [
        Change(path=adopted(site), before=None, after=File(text=own)),
        Change(path=path, before=now, after=after, origin=now, shown=settings(site)),
        sourced(site, _entry(site), there=True),
    ]
    said = [f"{left} of your hooks stay: Hooktray cannot run them."] if left else []
    return Plan(
        changes=tuple(filter(None, changes)),
        notes=(*said, f"{len(gone)} hooks moved; they run again once you have approved them in the tray's menu."),
    )


def release(site: Site, agent: str) -> Plan:
    """Put them back: the old bytes if nobody edited since, else each group behind what is there now."""
    path, own = _own(site, agent), look(adopted(site))
    now, note = look(path), notes(site).get(path)
    if not isinstance(own, File):
        raise HooktrayError(
            f"{adopted(site)}: there is nothing to put back", hint=f"`hooktray adopt {agent}` comes first"
        )
    moved = notes(site).get(adopted(site))
    if note and note.after == now and moved and moved.after == own:
        after = note.before
    else:
        there = now if isinstance(now, File) and now.text.strip() else File(text=b"{}\n")
        groups = _all(JsonText(own.text, str(adopted(site))))
        after = replace(there, text=put(JsonText(there.text, str(path)), groups))
    changes = [
        Change(path=path, before=now, after=after, shown=settings(site)),
        Change(path=adopted(site), before=own, after=None),
        sourced(site, _entry(site), there=False),
    ]
    return Plan(changes=tuple(filter(None, changes)))


def _own(site: Site, agent: str) -> Path:
    if agent in ELSEWHERE:
        raise HooktrayError(f"hooks of {agent} are not moved by this command", hint=ELSEWHERE[agent])
    if site.scope != "user":
        raise HooktrayError("a project's hooks stay with their project", hint="leave out --scope")
    return settled(settings(site))


def _entry(site: Site) -> Mapping[str, Any]:
    return {AGENT: str(adopted(site)), "agent": AGENT}


def _sorted(site: Site, sheet: JsonText) -> tuple[dict[str, list[Raw]], set[int], int]:
    """Groups that move as a whole, their handlers' numbers, and how many handlers stay."""
    found = [(place, one) for place, one in enumerate(handlers(sheet)) if not one.line]
    mixed = {one.group for one in handlers(sheet) if one.line}
    groups = {(one.event.key, one.group): Raw(sheet.source(one.group)) for _, one in found if one.group not in mixed}
    moved = {group: raw for group, raw in groups.items() if _runs(site, group[0], raw)}
    gone = {place for place, one in found if (one.event.key, one.group) in moved}
    return _by_event(moved), gone, len(found) - len(gone)


def _runs(site: Site, event: str, group: Raw) -> bool:
    """Whether all of a group's hooks would run below us, without a word of warning."""
    text = f"{{{json.dumps(event)}: [{group.text}]}}"
    found = parse(f'{{"hooks": {text}}}'.encode(), adopted(site))
    return not found.warnings and not any(hook.inert for hook in found.hooks)


def _by_event(groups: Mapping[tuple[str, Any], Raw]) -> dict[str, list[Raw]]:
    events: dict[str, list[Raw]] = {}
    for (event, _), raw in groups.items():
        events.setdefault(event, []).append(raw)
    return events


def _all(sheet: JsonText) -> dict[str, list[Raw]]:
    return _by_event({(one.event.key, one.group): Raw(sheet.source(one.group)) for one in handlers(sheet)})
