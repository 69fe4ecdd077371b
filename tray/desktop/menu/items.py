"""The rows that a menu is made of, and a function for each kind."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from tray.desktop.labels import id_part
from tray.desktop.menu.actions import Action
from tray.language import count, say
from tray.text import sanitise

ROW_LIMIT = 20  # of a submenu
NAME_LIMIT = 50  # characters of a submenu's name before a row


class ItemKind(enum.Enum):
    ACTION = enum.auto()
    CHECK = enum.auto()
    SUBMENU = enum.auto()
    SEPARATOR = enum.auto()
    LABEL = enum.auto()


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `id` is a path that stays the same as long as the row means the same."""

    id: str
    kind: ItemKind
    label: str = ""
    checked: bool = False
    enabled: bool = True
    children: tuple[Item, ...] = ()
    action: Action | None = None


Items = tuple[Item, ...]


def label(key: str, text: str) -> Item:
    return Item(id=key, kind=ItemKind.LABEL, label=text, enabled=False)


def separator(key: str) -> Item:
    return Item(id=key, kind=ItemKind.SEPARATOR)


def click(key: str, text: str, action: Action) -> Item:
    return Item(id=key, kind=ItemKind.ACTION, label=text, action=action)


def check(key: str, text: str, checked: bool, action: Action) -> Item:
    return Item(id=key, kind=ItemKind.CHECK, label=text, checked=checked, action=action)


def submenu(key: str, text: str, children: Items, *, enabled: bool = True) -> Item:
    return Item(id=key, kind=ItemKind.SUBMENU, label=text, children=children, enabled=enabled)


def child_id(key: str, *names: str) -> str:
    """The id of a row below another one; a slash in a foreign name cannot lengthen the path."""
    return "/".join((key, *(id_part(name) for name in names)))


def deduplicate(rows: Iterable[Item]) -> list[Item]:
    """Of rows that mean the same, the last."""
    return list({row.id: row for row in rows}.values())


def truncated(rows: list[Item], key: str, *, is_in_list: bool = False) -> Items:
    """Returns the first rows, and a row with the number of the others. `is_in_list`: `hooktray list` shows all."""
    more = len(rows) - ROW_LIMIT
    if more <= 0:
        return tuple(rows)
    text = count("And {n} more", "And {n} more", more)
    if is_in_list:
        text = count("And {n} more: see `hooktray list`", "And {n} more: see `hooktray list`", more)
    return (*rows[:ROW_LIMIT], label(key, text))


def with_count(word: str, number: int) -> str:
    """A label with its count, without one for 0."""
    return say("{word} ({number})", word=word, number=number) if number else word


def flatten(item: Item) -> Item:
    """A submenu without submenus: what can be clicked in those begins with their name."""
    return replace(item, children=tuple(_without_submenus(item.children)))


def _without_submenus(rows: Items, name: str = "") -> Iterator[Item]:
    for row in rows:
        if row.kind is ItemKind.SUBMENU:
            yield from _without_submenus(row.children, row.label)
        elif row.action and name not in ("", row.label):
            yield replace(row, label=f"{sanitise(name, NAME_LIMIT)} · {row.label}")
        else:
            yield row
