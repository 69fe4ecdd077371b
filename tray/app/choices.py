"""The menu's settings for the page: the same rows, and a click on one does the same."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tray.desktop.face import Face
from tray.desktop.hand import Hand
from tray.desktop.menu import Hooking, Item, Kind, OpenPage, menu
from tray.page.parts import Choice

SHOWN = ("alerts", "settings")  # submenus; for all else that the menu has, the page has pages
ELSEWHERE = (Hooking, OpenPage)  # a hook is switched on its own page, and asks first


def choices(face: Face) -> tuple[Choice, ...]:
    """As things stand now. On the face's thread."""
    return tuple(filter(None, map(_choice, _submenus(face))))


def choose(face: Face, hand: Hand, id: str, on: bool | None) -> bool:
    """Click a row, unless its tick is as it should be already; False when there is no such row. On their thread."""
    row = next(
        (row for row in _rows(_submenus(face)) if row.id == id and not isinstance(row.action, ELSEWHERE)), None
    )
    if row is None or row.action is None:
        return False
    if row.kind is not Kind.CHECK or row.checked != on:
        hand.act(row.action)
    return True


def _submenus(face: Face) -> tuple[Item, ...]:
    return tuple(row for row in menu(face.state(time.time())) if row.id in SHOWN)


def _choice(row: Item) -> Choice | None:
    """None for what is only there to look at, or stands elsewhere on the page."""
    below = tuple(filter(None, map(_choice, row.children)))
    if isinstance(row.action, ELSEWHERE) or not (row.action or below):
        return None
    return Choice(id=row.id, text=row.label, on=row.checked if row.kind is Kind.CHECK else None, choices=below)


def _rows(rows: tuple[Item, ...]) -> Iterator[Item]:
    for row in rows:
        yield row
        yield from _rows(row.children)
