"""The icon without a screen: it keeps the last view."""

from __future__ import annotations

import msgspec

from tray.desktop.artwork import IconState
from tray.desktop.mainloop import MainLoop
from tray.desktop.menu.items import Item


class IconView(msgspec.Struct, frozen=True):
    """One thing that would be on the screen."""

    state: IconState
    tooltip: str
    items: tuple[Item, ...]


class HeadlessIcon:
    name = "headless"
    visible = False

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.shown: list[IconView] = []
        self.main = MainLoop()

    def run(self) -> None:
        self.main.run()

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        """Only the last one is kept: a tray may be headless for months."""
        self.shown[:] = [IconView(state, tooltip, items)]

    def stop(self) -> None:
        self.main.stop()
