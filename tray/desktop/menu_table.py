"""The menu in the terms of dbusmenu: rows with stable numbers, and what changed from one menu to the next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import msgspec
from msgspec.structs import replace

from tray.desktop.menu.actions import Action
from tray.desktop.menu.items import Item, ItemKind

ROOT = 0
Property = str | bool | int


class MenuRow(msgspec.Struct, frozen=True):
    """One item on the wire."""

    properties: dict[str, Property]
    children: tuple[int, ...] = ()
    action: Action | None = None


class MenuChange(msgspec.Struct, frozen=True):
    """What a host must be signalled: rows with other properties, and parents with other children."""

    rows: tuple[tuple[int, dict[str, Property]], ...] = ()
    parents: tuple[int, ...] = ()


class MenuTable:
    """Numbers for item ids. An item keeps its number while it is shown; no number is ever given twice."""

    def __init__(self) -> None:
        self.rows = {ROOT: MenuRow({"children-display": "submenu"})}
        self._numbers: dict[str, int] = {}
        self._fresh = count(1)

    def update(self, items: Iterable[Item]) -> MenuChange:
        """Take over the new menu; returns what changed."""
        before, numbers = self.rows, dict[str, int]()
        after: dict[int, MenuRow] = {}
        children = tuple(self._add(item, after, numbers) for item in items)
        after[ROOT] = replace(before[ROOT], children=children)
        self.rows, self._numbers = after, numbers
        return _change(before, after)

    def _add(self, item: Item, rows: dict[int, MenuRow], numbers: dict[str, int]) -> int:
        number = numbers[item.id] = self._numbers.get(item.id) or next(self._fresh)
        children = tuple(self._add(child, rows, numbers) for child in item.children)
        rows[number] = MenuRow(_properties(item), children, item.action if item.enabled else None)
        return number


def _properties(item: Item) -> dict[str, Property]:
    if item.kind is ItemKind.SEPARATOR:
        return {"type": "separator"}
    # One underscore would mark the next letter as the row's shortcut.
    properties: dict[str, Property] = {"label": item.label.replace("_", "__"), "enabled": item.enabled}
    if item.kind is ItemKind.CHECK:
        properties |= {"toggle-type": "checkmark", "toggle-state": int(item.checked)}
    if item.kind is ItemKind.SUBMENU:
        properties["children-display"] = "submenu"
    return properties


def _change(before: dict[int, MenuRow], after: dict[int, MenuRow]) -> MenuChange:
    common = [number for number in after if number in before]
    rows = ((number, after[number].properties) for number in common if _differs(before, after, number))
    parents = (number for number in common if before[number].children != after[number].children)
    return MenuChange(tuple(rows), tuple(parents))


def _differs(before: dict[int, MenuRow], after: dict[int, MenuRow], number: int) -> bool:
    return before[number].properties != after[number].properties
