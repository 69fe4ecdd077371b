"""Claude Code: a matcher group of our own for each event, in the user's, the project's or its local settings.

"PreToolUse": [{"hooks": [{"type": "command", "command": "[ -x … ] && exec … || …", "timeout": 600}]}]
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tray.connect import line
from tray.connect.json_text import Edit, Entry, JsonText, Span, fresh
from tray.connect.plan import Plan, Site, Wire, edited, reading, restored
from tray.dialects.claude_events import AGENT, EVENTS
from tray.errors import HooktrayError

# A hook there takes the agent's place and has to make the worktree itself: without an opinion there is no answer.
LEFT_OUT = ("WorktreeCreate",)
SCOPES = {"user": "settings.json", "project": "settings.json", "local": "settings.local.json"}
TRUST = "Running sessions take it up. In a folder that is new to Claude Code it first asks whether you trust that."


@dataclass(frozen=True, slots=True)
class Found:
    """One handler, and where it stands."""

    event: Span
    group: Span
    handler: Span
    value: Mapping[str, Any]

    @property
    def line(self) -> line.Line | None:
        """What it says, when it is one of ours."""
        return parsed(self.value)


def settings(site: Site) -> Path:
    if site.scope not in SCOPES:
        raise HooktrayError(f"unknown scope `{site.scope}`", hint=f"write one of: {', '.join(SCOPES)}")
    folder = site.folder("CLAUDE_CONFIG_DIR", ".claude") if site.scope == "user" else site.cwd / ".claude"
    return folder / SCOPES[site.scope]


def is_installed(site: Site) -> bool:
    return site.folder("CLAUDE_CONFIG_DIR", ".claude").is_dir()


def connect(site: Site) -> Plan:
    path, groups = settings(site), wanted(site.relay)
    change = edited(
        site,
        path,
        lambda: fresh({"hooks": groups}),
        lambda text: add(upgrade(text, str(path), groups), str(path), groups),
        lambda text: strip(text, str(path)),
    )
    mute = _comment(path)
    return Plan(changes=(change,) if change else (), notes=(mute or TRUST,))


def disconnect(site: Site) -> Plan:
    path = settings(site)
    change = restored(site, AGENT, path, lambda text: strip(text, str(path)))
    return Plan(changes=(change,) if change else ())


def wires(site: Site) -> tuple[Wire, ...]:
    path = settings(site)
    text = reading(path)
    if not text.strip():
        return ()
    sheet = JsonText(text, str(path))
    found = [(one, said) for one in handlers(sheet) if (said := one.line)]
    return tuple(
        Wire(event=one.event.key, argv=_argv(one.value), place=str(path), home=said.home) for one, said in found
    )


def trust(site: Site) -> str:
    """What stands in the way of our lines, or that nothing does, as far as the agent's files say."""
    text = reading(settings(site))
    if mute := _comment(settings(site)):
        return f"off: {mute}"
    if text.strip() and JsonText(text, "settings").value.get("disableAllHooks") is True:
        return f"off: `disableAllHooks: true` in {settings(site)}"
    state = reading(site.folder("CLAUDE_CONFIG_DIR") / ".claude.json")
    projects = JsonText(state, ".claude.json").value.get("projects") if state.strip() else None
    here = projects.get(str(site.cwd)) if isinstance(projects, dict) else None
    return "trusted here" if isinstance(here, dict) and here.get("hasTrustDialogAccepted") is True else ""


def _comment(path: Path) -> str:
    """Claude Code takes a file with comments for none at all."""
    text = reading(path)
    at = JsonText(text, str(path)).comment if text.strip(b"\xef\xbb\xbf \t\r\n") else 0
    return f"Claude Code reads no settings with comments: remove the one in {path}:{at}" if at else ""


def wanted(relay: tuple[str, ...]) -> dict[str, Any]:
    """Our group for each event; time-outs are the agent's own limits, which our deadlines are made from."""
    groups = {}
    for event, spec in EVENTS.items():
        if event not in LEFT_OUT:
            seconds = int(spec.timeout) if spec.timeout == int(spec.timeout) else spec.timeout
            command = _handler((*relay, AGENT, event))
            groups[event] = [{"hooks": [{"type": "command", **command, "timeout": seconds}]}]
    return groups


def parsed(handler: Mapping[str, Any]) -> line.Line | None:
    """What a handler says when it is ours."""
    command, args = handler.get("command"), handler.get("args")
    if not isinstance(command, str):
        return None
    found = line.parse([command, *map(str, args)] if isinstance(args, list) else command)
    return found if found and found.agent == AGENT else None


def handlers(sheet: JsonText) -> Iterator[Found]:
    """Every handler of the file. Raises ConfigError where `hooks` is not built as Claude Code reads it."""
    hooks = _hooks(sheet)
    for event in sheet.children(hooks.value) if hooks else ():
        for group in _list(sheet, event, f'"{event.key}"'):
            inner = sheet.member(group.value, "hooks") if sheet.is_at(group.value, "{") else None
            if inner is None:
                raise sheet.wrong(group.begin, 'expected a group with "hooks"', "mend it; nothing was written")
            for handler in _list(sheet, inner, '"hooks" of a group'):
                value = JsonText(sheet.source(handler).encode(), sheet.path).value
                yield Found(event, group, handler, value if isinstance(value, dict) else {})


def add(text: bytes, path: str, groups: Mapping[str, Any]) -> bytes:
    """The text with our groups for the events that have none of ours yet."""
    sheet = JsonText(text, path)
    if not sheet.is_at(sheet.root, "{"):
        raise sheet.wrong(sheet.root, "expected an object of settings", "nothing was written")
    there = {one.event.key for one in handlers(sheet) if one.line}
    missing = {event: group for event, group in groups.items() if event not in there}
    hooks = _hooks(sheet)
    if not missing:
        return text
    if hooks is None:
        edits = sheet.add(sheet.root, [("hooks", missing)])
    else:
        events = {event: sheet.member(hooks.value, event) for event in missing}
        new: list[Entry] = [(event, missing[event]) for event, span in events.items() if span is None]
        edits = sheet.add(hooks.value, new)
        for event, span in events.items():
            edits += sheet.add(span.value, [(None, group) for group in missing[event]]) if span else []
    return _checked(sheet, edits)


def upgrade(text: bytes, path: str, groups: Mapping[str, Any]) -> bytes:
    """Our entries as they are written today, in their place; what is there twice or no longer wanted goes."""
    sheet, seen, gone = JsonText(text, path), set[str](), set[int]()
    edits: list[Edit] = []
    for place, one in enumerate(handlers(sheet)):
        event = one.event.key
        if not one.line:
            continue
        if event in seen or event not in groups:
            gone.add(place)
            continue
        seen.add(event)
        today = groups[event][0]["hooks"][0]
        edits += [] if one.value == today else [sheet.replace(one.handler, today)]
    return _without(JsonText(sheet.edited(edits), path), gone)


def strip(text: bytes, path: str) -> bytes:
    """The text without any entry of ours."""
    sheet = JsonText(text, path)
    return _without(sheet, {place for place, one in enumerate(handlers(sheet)) if one.line})


def _without(sheet: JsonText, gone: Collection[int]) -> bytes:
    """Handlers go by their number; a group, an event and `hooks` that are left empty go with them."""
    taken = {one.handler for place, one in enumerate(handlers(sheet)) if place in gone}
    if not taken:
        return sheet.edited([])
    hooks = _hooks(sheet)
    edits: list[Edit] = []
    empty: list[Span] = []
    for event in sheet.children(hooks.value) if hooks else ():
        groups = sheet.children(event.value)
        bare: list[Span] = []
        for group in groups:
            inner = sheet.member(group.value, "hooks")
            ours = [one for one in sheet.children(inner.value) if one in taken] if inner else []
            if inner and ours and len(ours) == len(sheet.children(inner.value)):
                bare.append(group)
            elif inner and ours:
                edits += sheet.remove(inner.value, ours)
        if bare and len(bare) == len(groups):
            empty.append(event)
        elif bare:
            edits += sheet.remove(event.value, bare)
    if hooks and len(empty) == len(sheet.children(hooks.value)):
        edits = sheet.remove(sheet.root, [hooks])
    elif hooks and empty:
        edits += sheet.remove(hooks.value, empty)
    return _checked(sheet, edits)


def _checked(sheet: JsonText, edits: list[Edit]) -> bytes:
    """The edited text, once it is sure that whatever is not ours still says the same."""
    new = sheet.edited(edits)
    if _foreign(sheet) != _foreign(JsonText(new, sheet.path)):
        raise sheet.wrong(sheet.root, "cannot be edited without touching what is not ours", "nothing was written")
    return new


def _foreign(sheet: JsonText) -> tuple[Any, ...]:
    others = {key: value for key, value in sheet.value.items() if key != "hooks"}
    return others, [(one.event.key, one.value) for one in handlers(sheet) if not one.line]


def _hooks(sheet: JsonText) -> Span | None:
    if not sheet.is_at(sheet.root, "{"):
        return None
    hooks = sheet.member(sheet.root, "hooks")
    if hooks and not sheet.is_at(hooks.value, "{"):
        raise sheet.wrong(hooks.value, '"hooks" is not an object', "mend it; nothing was written")
    if hooks:
        for event in sheet.children(hooks.value):
            sheet.member(hooks.value, event.key)  # refuses an event that is given twice
    return hooks


def _list(sheet: JsonText, span: Span, what: str) -> list[Span]:
    if not sheet.is_at(span.value, "["):
        raise sheet.wrong(span.value, f"{what} is not a list", "mend it; nothing was written")
    return sheet.children(span.value)


def _handler(words: tuple[str, ...]) -> dict[str, Any]:
    if sys.platform == "win32":  # no shell that is sure to be there: the program itself
        return {"command": words[0], "args": list(words[1:])}
    return {"command": line.shell(words)}


def _argv(handler: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(handler.get("args"), list):
        return (handler["command"], *handler["args"])
    return ("/bin/sh", "-c", handler["command"])
