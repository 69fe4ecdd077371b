"""Finding things by how they are drawn, on desktops whose menus and notifications are windows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from desk.bus import TrayItem
from desk.menus import Menus
from desk.screen import Box
from desk.wait import wait
from desktops.shell import Shell
from PIL import Image

from tray.desktop import artwork
from tray.desktop.artwork import IconState

SERVER = "org.freedesktop.Notifications"
WIDEST = 30  # pixels of one icon
ASIDE = (200, 600)  # where no desktop has anything
COLOURED = (IconState.ON, IconState.PAUSED, IconState.ATTENTION)  # OFF is as grey as what is written on a panel


class InkShell(Shell):
    """Its icon is found by its colour."""

    tray: ClassVar[tuple[int, int, int, int]]  # the part of the panel where icons stand

    def icons(self) -> int:
        """Counted by width: icons side by side are wider than one."""
        found = list(self.bounds(self.tray, *(artwork.colour(state) for state in COLOURED)))
        return 1 + (max(one[2] for one in found) - min(one[0] for one in found)) // WIDEST if found else 0


class BubbleShell(InkShell):
    """Its notifications are windows, with a row of buttons at their lower edge."""

    foot: ClassVar[int]  # pixels from that edge: inside the buttons
    short: ClassVar[int]  # pixels of a button's colour that are no button

    @abstractmethod
    def bubbles(self) -> list[Box]:
        """The windows that are notifications."""

    @abstractmethod
    def is_button(self, colour: tuple[int, ...]) -> bool:
        """Whether a button has this colour there, and what is beside it has not."""

    def is_announced(self, words: str) -> bool:
        found = self.open_notifications().values()
        return any(words in one for one in found) and len(self.bubbles()) >= len(found)

    def is_clear(self) -> bool:
        return not self.bubbles()

    def clear(self) -> None:
        self.menus.close()
        for number in range(1, 200):
            self.bus.call(SERVER, "/org/freedesktop/Notifications", SERVER, "CloseNotification", "u", [number])
        wait(self.is_clear, what="no notification is left")

    def button_at(self, label: str, labels: Sequence[str]) -> tuple[int, int] | None:
        """The middle of this button of the notification that has these buttons."""
        for box in self.bubbles():
            image = self.screen.image(box)
            middles = blocks(image, image.height - self.foot, self.is_button, self.short)
            if len(middles) == len(labels):
                return box.x + middles[labels.index(label)], box.y + box.height - self.foot
        return None


class InkMenus(Menus):
    """The icon is where its colour is, in the part of the panel where icons stand."""

    def __init__(self, shell: InkShell) -> None:
        super().__init__(shell.bus, shell.screen)
        self._shell = shell

    def icon_at(self, item: TrayItem) -> tuple[int, int]:
        """The pointer leaves it first: Plasma draws what is under it brighter."""
        self._screen.point(*ASIDE)
        return wait(lambda: self._shell.ink_at(self._shell.tray, *COLOURED, IconState.OFF), what="the icon is drawn")


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
