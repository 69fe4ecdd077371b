"""The hooks of a Claude Code settings file as text: groups join and handlers leave, the rest stays byte for byte."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tray.connect import relay_command
from tray.dialects.claude_events import AGENT
from tray.edit.json_edit import JsonEntry, JsonSpan, JsonText, RawJson, TextEdit

Groups = Mapping[str, Sequence[Any]]  # by event; a group may be Raw


@dataclass(frozen=True, slots=True)
class HandlerSpan:
    """One handler, and where it stands."""

    event: JsonSpan
    group: JsonSpan
    handler: JsonSpan
    value: Mapping[str, Any]

    @property
    def relay(self) -> relay_command.RelayCommand | None:
        """What it says, when it is one of ours."""
        return parse_handler(self.value)


def parse_handler(handler: Mapping[str, Any]) -> relay_command.RelayCommand | None:
    """What a handler says when it is ours."""
    command, args = handler.get("command"), handler.get("args")
    if not isinstance(command, str):
        return None
    found = relay_command.parse([command, *map(str, args)] if isinstance(args, list) else command)
    return found if found and found.agent == AGENT else None


def handlers(sheet: JsonText) -> Iterator[HandlerSpan]:
    """Every handler of the file. Raises ConfigError where `hooks` is not built as Claude Code reads it."""
    hooks = _hooks(sheet)
    for event in sheet.children(hooks.value) if hooks else ():
        for group in _list(sheet, event, f'"{event.key}"'):
            inner = sheet.member(group.value, "hooks") if sheet.is_at(group.value, "{") else None
            if inner is None:
                raise sheet.error(group.begin, 'expected a group with "hooks"', "mend it; nothing was written")
            for handler in _list(sheet, inner, '"hooks" of a group'):
                value = JsonText(sheet.source(handler).encode(), sheet.path).value
                yield HandlerSpan(event, group, handler, value if isinstance(value, dict) else {})


def add_groups(sheet: JsonText, groups: Groups) -> bytes:
    """The text with these groups behind those that are there."""
    if not sheet.is_at(sheet.root, "{"):
        raise sheet.error(sheet.root, "expected an object of settings", "nothing was written")
    hooks = _hooks(sheet)
    if hooks is None:
        edits = sheet.add(sheet.root, [("hooks", groups)]) if groups else []
    else:
        events = {event: sheet.member(hooks.value, event) for event in groups}
        new: list[JsonEntry] = [(event, groups[event]) for event, span in events.items() if span is None]
        edits = sheet.add(hooks.value, new)
        for event, span in events.items():
            edits += sheet.add(span.value, [(None, group) for group in groups[event]]) if span else []
    expected = _handlers_by_event(sheet)
    for event, added in groups.items():
        expected.setdefault(event, []).extend(one for group in added for one in _value(group)["hooks"])
    return _checked(sheet, edits, expected)


def remove_handlers(sheet: JsonText, removed: Collection[int]) -> bytes:
    """Handlers go by their number; a group, an event and `hooks` that are left empty go with them.

    Not where a comment stands in them: that is somebody's.
    """
    taken: set[JsonSpan] = set()
    expected: dict[str, list[Any]] = {}
    for place, one in enumerate(handlers(sheet)):
        if place in removed:
            taken.add(one.handler)
        else:
            expected.setdefault(one.event.key, []).append(one.value)
    if not taken:
        return sheet.apply([])
    return _checked(sheet, _cuts(sheet, taken), expected)


def _cuts(sheet: JsonText, taken: Collection[JsonSpan]) -> list[TextEdit]:
    """From the outside in: `hooks`, an event, a group, a handler; what goes as a whole needs no cut inside."""
    hooks = _hooks(sheet)
    edits: list[TextEdit] = []
    empty: list[JsonSpan] = []
    for event in sheet.children(hooks.value) if hooks else ():
        groups = sheet.children(event.value)
        bare, inside = _emptied(sheet, groups, taken)
        edits += inside
        if bare and len(bare) == len(groups) and not sheet.is_commented(event, bare):
            empty.append(event)
        elif bare:
            edits += sheet.remove(event.value, bare)
    if hooks and len(empty) == len(sheet.children(hooks.value)) and not sheet.is_commented(hooks, empty):
        return sheet.remove(sheet.root, [hooks])
    return edits + sheet.remove(hooks.value, empty) if hooks and empty else edits


def _emptied(
    sheet: JsonText, groups: Sequence[JsonSpan], taken: Collection[JsonSpan]
) -> tuple[list[JsonSpan], list[TextEdit]]:
    """The groups that are left empty, and the cuts in those that are not."""
    bare: list[JsonSpan] = []
    edits: list[TextEdit] = []
    for group in groups:
        inner = sheet.member(group.value, "hooks")
        children = sheet.children(inner.value) if inner else []
        ours = [one for one in children if one in taken]
        if ours and len(ours) == len(children) and not sheet.is_commented(group, ours):
            bare.append(group)
        elif inner and ours:
            edits += sheet.remove(inner.value, ours)
    return bare, edits


def _checked(sheet: JsonText, edits: list[TextEdit], expected: Mapping[str, list[Any]]) -> bytes:
    """The edited text, once it is sure that it says what it shall and nothing else was touched."""
    new = JsonText(text := sheet.apply(edits), sheet.path)
    others = [{key: value for key, value in one.value.items() if key != "hooks"} for one in (sheet, new)]
    if others[0] != others[1] or _handlers_by_event(new) != {
        event: values for event, values in expected.items() if values
    }:
        raise sheet.error(sheet.root, "cannot be edited without touching the rest", "nothing was written")
    return text


def _handlers_by_event(sheet: JsonText) -> dict[str, list[Any]]:
    said: dict[str, list[Any]] = {}
    for one in handlers(sheet):
        said.setdefault(one.event.key, []).append(one.value)
    return said


def _value(group: Any) -> Any:
    return JsonText(group.text.encode(), "group").value if isinstance(group, RawJson) else group


def _hooks(sheet: JsonText) -> JsonSpan | None:
    if not sheet.is_at(sheet.root, "{"):
        return None
    hooks = sheet.member(sheet.root, "hooks")
    if hooks and not sheet.is_at(hooks.value, "{"):
        raise sheet.error(hooks.value, '"hooks" is not an object', "mend it; nothing was written")
    if hooks:
        for event in sheet.children(hooks.value):
            sheet.member(hooks.value, event.key)  # refuses an event that is given twice
    return hooks


def _list(sheet: JsonText, span: JsonSpan, what: str) -> list[JsonSpan]:
    if not sheet.is_at(span.value, "["):
        raise sheet.error(span.value, f"{what} is not a list", "mend it; nothing was written")
    return sheet.children(span.value)
