"""Finding things by how they are drawn, on desktops whose menus and notifications are windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from desk.bus import TrayItem
from desk.menus import Menus
from desk.wait import wait
from desktops.shell import Shell
from PIL import Image

from tray.desktop.artwork import IconState

ASIDE = (200, 600)  # where no desktop has anything
COLOURED = (IconState.ON, IconState.PAUSED, IconState.ATTENTION)  # OFF is as grey as what is written on a panel


class InkMenus(Menus):
    """The icon is where its colour is, in the part of the panel where icons stand."""

    def __init__(self, shell: Shell, tray: tuple[int, int, int, int]) -> None:
        super().__init__(shell.bus, shell.screen)
        self._shell, self._tray = shell, tray

    def icon_at(self, item: TrayItem) -> tuple[int, int]:
        """The pointer leaves it first: Plasma draws what is under it brighter."""
        self._screen.point(*ASIDE)
        return wait(lambda: self._shell.ink_at(self._tray, *COLOURED, IconState.OFF), what="the icon is drawn")


def blocks(image: Image.Image, y: int, is_button: Callable[[tuple[int, ...]], bool], short: int) -> list[int]:
    """The middles of the runs in this row that have a button's colour and are longer than `short` pixels."""
    row: list[Any] = [image.convert("RGB").getpixel((x, y)) for x in range(image.width)]
    found, first = [], None
    for x, colour in enumerate([*row, None]):
        inside = colour is not None and is_button(colour)
        if inside and first is None:
            first = x
        if not inside and first is not None:
            if x - first > short:
                found.append((first + x) // 2)
            first = None
    return found
