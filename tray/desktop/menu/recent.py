"""Recent decisions: the verdict by its shape, who, where, what and when."""

from __future__ import annotations

from tray.desktop.menu.actions import Reason
from tray.desktop.menu.items import Item, Items, below, click, label, submenu
from tray.desktop.menu.state import MenuState
from tray.desktop.words import row
from tray.language import say

SHOWN = 10


def recent(state: MenuState) -> Item:
    return submenu("recent", say("Recent decisions"), _rows(state))


def _rows(state: MenuState) -> Items:
    records = {record.id: record for record in reversed(state.recent[:SHOWN])}
    if not records:
        return (label("recent/none", say("No decisions yet")),)
    return tuple(
        click(below("recent", record.id), row(record, state.now), Reason(record.id))
        for record in reversed(records.values())
    )
