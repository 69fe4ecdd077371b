"""MATE 1.26: the panel's applet *notification area* is the tray's host; menus and notifications are windows."""

from __future__ import annotations

from collections.abc import Sequence

from desk.bus import TrayItem
from desk.menus import LEFT, Menus
from desk.screen import Box
from desk.wait import wait
from desktops.shell import SIZE, START, Shell
from PIL import Image

from tray.desktop.artwork import IconState

WATCHER, SERVER = "org.kde.StatusNotifierWatcher", "org.freedesktop.Notifications"
BUBBLE = "Mate-notification-daemon"  # the class of its windows
SETTINGS = "org.mate.NotificationDaemon"
TRAY = (1127, 0, 1155, 27)  # where an icon stands, beside the clock
COLOURED = (IconState.ON, IconState.PAUSED, IconState.ATTENTION)  # OFF is as grey as what is written on the panel
FOOT = 16  # pixels from a bubble's lower edge: inside its buttons
GREY, SHORT = 12, 20  # how far a button's colours are apart, and pixels of them that are no button


class Mate(Shell):
    """Started without MATE's session manager, as each of its programs allows."""

    services = (
        "ca.desrt.dconf",
        "org.freedesktop.mate.Notifications",
        "org.mate.panel.applet.ClockAppletFactory",
        "org.mate.panel.applet.NotificationAreaAppletFactory",
        "org.mate.panel.applet.WnckletFactory",
    )
    variables = {"GSETTINGS_BACKEND": "keyfile", "XDG_CURRENT_DESKTOP": "MATE"}
    picture = (SIZE[0] - 640, 0, SIZE[0], 180)

    def icons(self) -> int:
        return int(self.ink_at(TRAY, *COLOURED) is not None)

    def is_announced(self, words: str) -> bool:
        return words in self.sent() and bool(self._bubbles())

    def press_button(self, label: str, labels: Sequence[str]) -> None:
        def found() -> tuple[int, int] | None:
            for box in self._bubbles():
                middles = buttons(self.screen.image(box))
                if len(middles) == len(labels):
                    return box.x + middles[labels.index(label)], box.y + box.height - FOOT
            return None

        self.screen.point(*wait(found, what=f"a bubble with the buttons {labels}"))
        self.screen.press(LEFT)

    def do_not_disturb(self, on: bool) -> None:
        self.set_key(SETTINGS, "do-not-disturb", "true" if on else "false")

    def restart(self) -> None:
        host = self.bus.pid(WATCHER)
        self.end_shell(self._panel_program)
        wait(lambda: self.bus.pid(WATCHER) != host, what="the panel's applets have ended")
        self._start_panel()

    def clear(self) -> None:
        self.menus.close()
        for number in range(1, 200):
            self.bus.call(SERVER, "/org/freedesktop/Notifications", SERVER, "CloseNotification", "u", [number])
        wait(lambda: not self._bubbles(), what="no bubble is left")

    def start_all(self) -> None:
        self.menus = InkMenus(self)
        self.start(["openbox", "--sm-disable"])
        self._start_panel()

    def _start_panel(self) -> None:
        self._panel_program = self.start(["mate-panel"])
        wait(lambda: self.bus.has_name(WATCHER), START, "the panel's tray")

    def _bubbles(self) -> list[Box]:
        return self.screen.named(BUBBLE)


class InkMenus(Menus):
    """The icon is where its colour is on the panel."""

    def __init__(self, shell: Mate) -> None:
        super().__init__(shell.bus, shell.screen)
        self._shell = shell

    def icon_at(self, item: TrayItem) -> tuple[int, int]:
        return wait(lambda: self._shell.ink_at(TRAY, *COLOURED, IconState.OFF), what="the icon is drawn")


def buttons(image: Image.Image) -> list[int]:
    """The middles of what is grey in a bubble's last row: its ground is not."""
    row = [image.convert("RGB").getpixel((x, image.height - FOOT)) for x in range(image.width)]
    found, first = [], None
    for x, colour in enumerate([*row, (0, 0, 255)]):
        is_grey = max(colour) - min(colour) < GREY  # type: ignore[arg-type]
        if is_grey and first is None:
            first = x
        if not is_grey and first is not None:
            if x - first > SHORT:
                found.append((first + x) // 2)
            first = None
    return found


DESKTOP = Mate
