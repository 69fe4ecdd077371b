"""The menu's settings for the page: the same rows, and a click on one does the same."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tray.desktop.menu import ApplyConnection, ConnectAll, Item, ItemKind, OpenPage, SetVariable, SwitchHook, menu
from tray.desktop.menu_controller import MenuController
from tray.desktop.presenter import Presenter
from tray.web.services import ConnectOffer, PageSetting

SUBMENUS = ("alerts", "settings")  # submenus; for all else that the menu has, the page has pages
EXCLUDED = (SwitchHook, SetVariable, OpenPage)  # a hook is switched on its own page, and asks first


def choices(presenter: Presenter) -> tuple[PageSetting, ...]:
    """As they are now. On the presenter's thread."""
    return tuple(filter(None, map(_choice, _submenus(presenter))))


def offers(presenter: Presenter) -> tuple[ConnectOffer, ...]:
    """What connecting each agent that was found would write, with the row that does it. On the presenter's thread."""
    state = presenter.state(time.time())
    rows = {row.action: row for row in _rows(_submenus(presenter)) if row.action}
    found = []
    for one in state.agents:
        if one.connect and (row := rows.get(ApplyConnection(one.agent, one.connect.digest))):
            preview = one.connect
            found.append(
                ConnectOffer(id=row.id, text=row.label, summary=preview.summary, difference=preview.difference)
            )
    every = next((row for action, row in rows.items() if isinstance(action, ConnectAll)), None)
    return (*([ConnectOffer(id=every.id, text=every.label)] if every else []), *found)


def choose(presenter: Presenter, controller: MenuController, id: str, on: bool | None) -> bool:
    """Click a row, unless its tick is as it should be already; False without such a row. On their thread."""
    row = next(
        (row for row in _rows(_submenus(presenter)) if row.id == id and not isinstance(row.action, EXCLUDED)), None
    )
    if row is None or row.action is None:
        return False
    if row.kind is not ItemKind.CHECK or row.checked != on:
        controller.act(row.action)
    return True


def _submenus(presenter: Presenter) -> tuple[Item, ...]:
    return tuple(row for row in menu(presenter.state(time.time())) if row.id in SUBMENUS)


def _choice(row: Item) -> PageSetting | None:
    """None for what is only there to look at, or is elsewhere on the page."""
    below = tuple(filter(None, map(_choice, row.children)))
    if isinstance(row.action, EXCLUDED) or not (row.action or below):
        return None
    return PageSetting(
        id=row.id, text=row.label, is_on=row.checked if row.kind is ItemKind.CHECK else None, settings=below
    )


def _rows(rows: tuple[Item, ...]) -> Iterator[Item]:
    for row in rows:
        yield row
        yield from _rows(row.children)
