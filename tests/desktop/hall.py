"""A house with the tray's menu: its rows, and the effects of a click."""

from __future__ import annotations

import time

from house import House

from desktop.recorded_clicks import RecordedIcon
from desktop.recorded_parts import RecordedParts
from tray.desktop.menu import menu
from tray.desktop.menu.items import Item
from tray.desktop.menu_controller import MenuController
from tray.desktop.presenter import Presenter
from tray.model.decision import Record, Verdict
from tray.model.hook import ApprovalState

RECORD = Record(
    id="r1", at=0.0, agent="shelley", session="s", project="vm", event="end-of-turn", kind="turn_end",
    verdict=Verdict.ABSTAIN, reason="", ms=1.0,
)  # fmt: skip


class Hall:
    """A house whose menu can be read and clicked; keeps what it announces and opens."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.others = RecordedParts(house)
        self.told, self.opened = self.others.messages.told, self.others.opener.opened
        self.icon = RecordedIcon()
        controls = house.controls()
        self.presenter = Presenter(controls=controls, catalog=house.catalog, recent=(), parts=self.others.parts)
        self.controller = MenuController(
            presenter=self.presenter,
            controls=controls,
            catalog=house.catalog,
            copies=house.stores.copies,
            paths=house.paths,
            parts=self.others.parts,
        )
        self.presenter.attach(self.icon)

    def rows(self, *path: str) -> tuple[Item, ...]:
        """What stands in the menu, below rows that begin with these words."""
        self.house.catalog.refresh()
        rows = menu(self.presenter.state(time.time()))
        for word in path:
            rows = next(row for row in rows if row.label.startswith(word)).children
        return rows

    def click(self, *path: str) -> None:
        action = next(row.action for row in self.rows(*path[:-1]) if row.label.startswith(path[-1]))
        assert action is not None
        self.controller.act(action)

    def state_of(self, name: str) -> ApprovalState | None:
        self.house.catalog.refresh()
        return next((one.state for one in self.house.catalog.states if one.hook.name == name), None)


def labels(rows: tuple[Item, ...]) -> list[str]:
    return [row.label for row in rows]
