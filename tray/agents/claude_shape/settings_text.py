"""Adds groups to the text of a settings file and removes handlers; every other byte stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tray.agents import relay_command
from tray.edit.json_edit import OBJECT_HINT, JsonEntry, JsonSpan, JsonText, RawJson, TextEdit

Groups = Mapping[str, Sequence[Any]]  # by event; a group may be RawJson
EDIT_HINT = "nothing was written; write each event once, as a list of groups"
KEY = "hooks"  # the member that holds the events; with "" they are at the top


class HandlerSpan(msgspec.Struct, frozen=True):
    """One handler, and its place in the text; `conditions` are what its group has beside its handlers."""

    event: JsonSpan
    group: JsonSpan
    handler: JsonSpan
    value: Mapping[str, Any]
    conditions: Mapping[str, Any]
    is_shared: bool  # the group has other handlers, too


def parse_handler(handler: Mapping[str, Any], agent: str) -> relay_command.RelayCommand | None:
    """The relay command of a handler of ours for this agent."""
    command, args = handler.get("command"), handler.get("args")
    words = [command, *map(str, args)] if isinstance(command, str) and isinstance(args, list) else command
    return relay_command.parse_for(agent, words)


def handlers(document: JsonText, key: str = KEY, *, is_flat: bool = False) -> Iterator[HandlerSpan]:
    """Every handler of the file. Raises ConfigError if its hooks do not have the structure that agents read.

    With `is_flat`, each handler is a group of its own, without conditions.
    """
    for event in _events(document, _hooks(document, key), key):
        for group in _list(document, event, f'"{event.key}"'):
            if is_flat:
                yield HandlerSpan(event, group, group, _fields(document, group), {}, False)
                continue
            inner = document.member(group.value, "hooks") if document.is_at(group.value, "{") else None
            if inner is None:
                raise document.error(group.begin, 'expected a group with "hooks"', "mend it; nothing was written")
            inside = _list(document, inner, '"hooks" of a group')
            beside = [member for member in document.children(group.value) if member.key != "hooks"]
            conditions = {member.key: document.parsed(member) for member in beside}
            for handler in inside:
                yield HandlerSpan(event, group, handler, _fields(document, handler), conditions, len(inside) > 1)


def _fields(document: JsonText, span: JsonSpan) -> Mapping[str, Any]:
    value = document.parsed(span)
    return value if isinstance(value, dict) else {}


def add_groups(document: JsonText, groups: Groups, key: str = KEY, *, is_flat: bool = False) -> bytes:
    """The text with these groups appended."""
    if not document.is_at(document.root, "{"):
        raise document.error(document.root, "expected an object of settings", OBJECT_HINT)
    hooks = _hooks(document, key)
    if hooks is None:
        edits = document.add(document.root, [(key, groups)]) if groups else []
    else:
        events = {event: document.member(hooks.value, event) for event in groups}
        new: list[JsonEntry] = [(event, groups[event]) for event, span in events.items() if span is None]
        edits = document.add(hooks.value, new)
        for event, span in events.items():
            edits += document.add(span.value, [(None, group) for group in groups[event]]) if span else []
    expected = _handlers_by_event(document, key, is_flat)
    for event, added in groups.items():
        values = map(_value, added)
        expected.setdefault(event, []).extend(
            values if is_flat else (one for each in values for one in each["hooks"])
        )
    return _checked(document, edits, expected, key, is_flat)


def remove_handlers(document: JsonText, removed: Collection[int], key: str = KEY, *, is_flat: bool = False) -> bytes:
    """The text without the handlers of these numbers, and without groups, events and `hooks` that become empty.

    An empty one stays if it holds a comment.
    """
    taken: set[JsonSpan] = set()
    expected: dict[str, list[Any]] = {}
    for index, handler in enumerate(handlers(document, key, is_flat=is_flat)):
        if index in removed:
            taken.add(handler.handler)
        else:
            expected.setdefault(handler.event.key, []).append(handler.value)
    if not taken:
        return document.apply([])
    return _checked(document, _cuts(document, taken, key), expected, key, is_flat)


def _cuts(document: JsonText, taken: Collection[JsonSpan], key: str) -> list[TextEdit]:
    """The cuts, of whole parts where possible: `hooks`, an event, a group, a handler."""
    hooks = _hooks(document, key)
    edits: list[TextEdit] = []
    empty: list[JsonSpan] = []
    for event in _events(document, hooks, key):
        groups = document.children(event.value)
        emptied, inside = _emptied(document, groups, taken)
        edits += inside
        if emptied and len(emptied) == len(groups) and not document.is_commented(event, emptied):
            empty.append(event)
        elif emptied:
            edits += document.remove(event.value, emptied)
    if (
        key
        and hooks
        and len(empty) == len(document.children(hooks.value))
        and not document.is_commented(hooks, empty)
    ):
        return document.remove(document.root, [hooks])
    return edits + document.remove(hooks.value, empty) if hooks and empty else edits


def _emptied(
    document: JsonText, groups: Sequence[JsonSpan], taken: Collection[JsonSpan]
) -> tuple[list[JsonSpan], list[TextEdit]]:
    """The groups that are left empty, and the cuts in those that are not."""
    emptied: list[JsonSpan] = []
    edits: list[TextEdit] = []
    for group in groups:
        if group in taken:  # without groups, it is the handler
            emptied.append(group)
            continue
        inner = document.member(group.value, "hooks") if document.is_at(group.value, "{") else None
        children = document.children(inner.value) if inner else []
        ours = [one for one in children if one in taken]
        if ours and len(ours) == len(children) and not document.is_commented(group, ours):
            emptied.append(group)
        elif inner and ours:
            edits += document.remove(inner.value, ours)
    return emptied, edits


def _checked(
    document: JsonText, edits: list[TextEdit], expected: Mapping[str, list[Any]], key: str, is_flat: bool
) -> bytes:
    """The edited text, after checking that it holds the expected handlers and nothing else changed."""
    new = JsonText(text := document.apply(edits), document.path)
    others = [_others(one, key) for one in (document, new)]
    non_empty = {event: values for event, values in expected.items() if values}
    if others[0] != others[1] or _handlers_by_event(new, key, is_flat) != non_empty:
        raise document.error(document.root, "cannot be edited without touching the rest", EDIT_HINT)
    return text


def _others(document: JsonText, key: str) -> dict[str, Any]:
    """The members that hold no hooks."""
    members: Any = document.value
    return {name: value for name, value in members.items() if (name != key if key else not isinstance(value, list))}


def _handlers_by_event(document: JsonText, key: str, is_flat: bool) -> dict[str, list[Any]]:
    by_event: dict[str, list[Any]] = {}
    for handler in handlers(document, key, is_flat=is_flat):
        by_event.setdefault(handler.event.key, []).append(handler.value)
    return by_event


def _value(group: Any) -> Any:
    return JsonText(group.text.encode(), "group").value if isinstance(group, RawJson) else group


def _hooks(document: JsonText, key: str) -> JsonSpan | None:
    """The object that holds the events."""
    if not document.is_at(document.root, "{"):
        return None
    hooks = document.member(document.root, key) if key else JsonSpan(document.root, document.root, document.root)
    if hooks and not document.is_at(hooks.value, "{"):
        raise document.error(hooks.value, f'"{key}" is not an object', "mend it; nothing was written")
    if hooks:
        for event in document.children(hooks.value):
            document.member(hooks.value, event.key)  # refuses an event that is given twice
    return hooks


def _events(document: JsonText, hooks: JsonSpan | None, key: str) -> list[JsonSpan]:
    """Returns the events of the file, without the switches beside them and, without `key`, without other settings."""
    events = document.children(hooks.value) if hooks else []
    return [one for one in events if document.is_at(one.value, "[") or (key and not _is_switch(document, one))]


def _is_switch(document: JsonText, span: JsonSpan) -> bool:
    return document.is_at(span.value, "t") or document.is_at(span.value, "f")


def _list(document: JsonText, span: JsonSpan, what: str) -> list[JsonSpan]:
    if not document.is_at(span.value, "["):
        raise document.error(span.value, f"{what} is not a list", "mend it; nothing was written")
    return document.children(span.value)
