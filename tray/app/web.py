"""What the page needs of the parts above it: the menu, and the agents' connections."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tray.app.core import TrayCore
from tray.app.source_refresh import SourceRefresh
from tray.approvals.user_action import UserAction
from tray.desktop.menu import menu
from tray.desktop.menu.actions import ApplyConnection, ConnectAll, OpenPage
from tray.desktop.menu.items import Item, ItemKind
from tray.desktop.menu.state import MenuState
from tray.desktop.menu_controller import MenuController
from tray.desktop.presenter import Presenter
from tray.doctor.agent_sites import agent_states, hooks_in_question
from tray.doctor.finding import Cause
from tray.web.parts import AgentConnection, ConnectOffer, PageSetting

REFRESH_TIMEOUT = 2.0  # seconds that a page waits for a fresh look at the sources or the menu

SUBMENUS = (
    "alerts",
    "settings",
)  # of the menu, whose rows are the settings of the page; for all else that the menu has, the page has pages
NOTES = frozenset({"alerts/pack"})  # rows without a click that the page has, too: a sound pack and its licence
EXCLUDED = (UserAction, OpenPage)  # a hook is switched on its own page, and asks first


class LiveMenu:
    """Reads and clicks the menu for the page, and reads the sources again, on the menu's thread.

    `presenter` and `controller` are set before the page is opened.
    """

    presenter: Presenter
    controller: MenuController

    def __init__(self, core: TrayCore, refresh: SourceRefresh) -> None:
        self._core = core
        self._refresh = refresh

    def refresh(self) -> None:
        self._core.work.run(self._refresh.now, REFRESH_TIMEOUT)

    def connections(self) -> dict[str, AgentConnection]:
        """The state of each agent's connection; nothing is sent."""
        core = self._core
        return {
            one.agent: AgentConnection(
                installed=one.installed,
                connected=one.connected,
                advice=one.advice,
                changed=tuple(finding.message for finding in one.changed),
                is_wanted=bool(one.changed) and all(finding.cause is Cause.ENTRY_WANTED for finding in one.changed),
            )
            for one in agent_states(core.paths, core.stores.journal, hooks_in_question(core.catalog))
        }

    def settings(self) -> tuple[PageSetting, ...]:
        state = self._state()
        return choices(state) if state else ()

    def offers(self) -> tuple[ConnectOffer, ...]:
        state = self._state()
        return offers(state) if state else ()

    def change_setting(self, id: str, on: bool | None) -> bool:
        done: list[bool] = []
        self._core.work.run(lambda: done.append(choose(self.presenter, self.controller, id, on)), REFRESH_TIMEOUT)
        return any(done)

    def _state(self) -> MenuState | None:
        """Returns what the menu shows now; None if that takes too long."""
        found: list[MenuState] = []
        self._core.work.run(lambda: found.append(self.presenter.state(time.time())), REFRESH_TIMEOUT)
        return found[0] if found else None


def choices(state: MenuState) -> tuple[PageSetting, ...]:
    return tuple(filter(None, map(_choice, _submenus(state))))


def offers(state: MenuState) -> tuple[ConnectOffer, ...]:
    """What connecting each agent that was found would write, with the row that does it."""
    rows = {row.action: row for row in _rows(_submenus(state)) if row.action}
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
    rows = _rows(_submenus(presenter.state(time.time())))
    row = next((row for row in rows if row.id == id and not isinstance(row.action, EXCLUDED)), None)
    if row is None or row.action is None:
        return False
    if row.kind is not ItemKind.CHECK or row.checked != on:
        controller.act(row.action)
    return True


def _submenus(state: MenuState) -> tuple[Item, ...]:
    return tuple(row for row in menu(state) if row.id in SUBMENUS)


def _choice(row: Item) -> PageSetting | None:
    """None for what is only there to look at, or is elsewhere on the page."""
    if row.id in NOTES:
        return PageSetting(id=row.id, text=row.label, is_note=True)
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
