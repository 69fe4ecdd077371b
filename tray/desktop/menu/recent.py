"""Recent decisions: the verdict by its shape, who, where, what and when."""

from __future__ import annotations

from tray.desktop.labels import record_label
from tray.desktop.menu.actions import ShowReason
from tray.desktop.menu.items import Item, Items, child_id, click, label, submenu
from tray.desktop.menu.state import MenuState
from tray.language import say

RECORD_LIMIT = 10


def recent(state: MenuState) -> Item:
    return submenu("recent", say("Recent decisions"), _rows(state))


def _rows(state: MenuState) -> Items:
    records = {record.id: record for record in reversed(state.recent[:RECORD_LIMIT])}
    if not records:
        return (label("recent/none", say("No decisions yet")),)
    return tuple(
        click(child_id("recent", record.id), record_label(record, state.now), ShowReason(record.id))
        for record in reversed(records.values())
    )
