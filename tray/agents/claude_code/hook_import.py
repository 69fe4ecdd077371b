"""Claude Code's hooks go below us and come back by whole groups, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.agents.claude_code.connector import relay_entries, settings_path
from tray.agents.claude_code.events import AGENT, EVENTS, UNCONNECTED_EVENTS
from tray.agents.claude_code.settings_edit import add_groups, handlers, remove_handlers
from tray.agents.claude_code.settings_hooks import parse
from tray.agents.connection import Extracted, FindProblem, Site
from tray.agents.settings_import import SettingsImporter
from tray.edit.json_edit import JsonText, RawJson
from tray.errors import HooktrayError
from tray.model.hook import AsyncMode, Hook

UNSUPPORTED = "Hooktray cannot run them there"


def extract(_site: Site, text: bytes, path: Path, import_path: Path, problem: FindProblem) -> Extracted:
    """What stays, what goes, how many handlers go, and why each other stays."""
    document = JsonText(text, str(path))
    if document.first_comment_line or document.value.get("disableAllHooks") is True:
        hint = "`hooktray agents` says why"
        raise HooktrayError(f"{path}: Claude Code runs none of its hooks as it stands", hint=hint)
    groups, removed, reasons = _movable(document, import_path, problem)
    goes = add_groups(JsonText(b"{\n}\n", str(import_path)), groups)
    return remove_handlers(document, removed), goes, len(removed), reasons


def restore(text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
    """The settings with every imported group behind what is there."""
    document = JsonText(imported, str(import_path))
    groups = {(each.event.key, each.group): RawJson(document.source(each.group)) for each in handlers(document)}
    return add_groups(JsonText(text, str(path)), _by_event(groups))


def _movable(
    document: JsonText, import_path: Path, problem: FindProblem
) -> tuple[dict[str, list[RawJson]], set[int], list[str]]:
    """Groups that move as a whole, their handlers' numbers, and why each other handler stays."""
    own = [(index, handler) for index, handler in enumerate(handlers(document)) if not handler.relay]
    mixed = {handler.group for handler in handlers(document) if handler.relay}
    groups = {(handler.event.key, handler.group): RawJson(document.source(handler.group)) for _, handler in own}
    reasons = {
        group: UNSUPPORTED if group[1] in mixed else _stay_reason(group[0], raw, import_path, problem)
        for group, raw in groups.items()
    }
    removed = {index for index, handler in own if not reasons[handler.event.key, handler.group]}
    staying = [reasons[handler.event.key, handler.group] for index, handler in own if index not in removed]
    return _by_event({group: raw for group, raw in groups.items() if not reasons[group]}), removed, staying


def _stay_reason(event: str, group: RawJson, import_path: Path, problem: FindProblem) -> str:
    """Why a group stays; "" when all of its hooks would do below us what they do now, without a word of warning."""
    if event in UNCONNECTED_EVENTS:
        return f"{event} takes the agent's place, so `connect` writes no line of ours there"
    text = f"{{{json.dumps(event)}: [{group.text}]}}"
    source = parse(f'{{"hooks": {text}}}'.encode(), import_path)
    if source.warnings or any(hook.inactive for hook in source.hooks):
        return UNSUPPORTED
    if event == "FileChanged" and any(hook.match.tool for hook in source.hooks):
        return "from their matcher Claude Code knows which files to watch"
    timeout = EVENTS[event].timeout
    if any(_outlasts(hook, event) for hook in source.hooks):
        return f"their `timeout` is longer than the {timeout:g} s that our line has on {event}"
    return next(filter(None, map(problem, source.hooks)), "")


def _outlasts(hook: Hook, event: str) -> bool:
    """Whether the answer would leave before the hook's own time is over; where none waits for it, it runs on."""
    spec = EVENTS[event]
    return hook.timeout > spec.timeout and hook.async_mode is AsyncMode.NO and not spec.observe_only


def _by_event(groups: Mapping[tuple[str, Any], RawJson]) -> dict[str, list[RawJson]]:
    events: dict[str, list[RawJson]] = {}
    for (event, _), raw in groups.items():
        events.setdefault(event, []).append(raw)
    return events


IMPORTER = SettingsImporter(
    agent=AGENT,
    file_name="settings.json",
    settings=settings_path,
    relay_entries=relay_entries,
    extract=extract,
    restore=restore,
    empty=b"{}\n",
)
