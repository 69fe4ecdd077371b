"""MATE 1.26: the panel's applet *notification area* is the tray's host; menus and notifications are windows."""

from __future__ import annotations

from desk.menus import LEFT
from desk.screen import Box
from desk.wait import wait
from desktops.inked import COLOURED, InkMenus, blocks
from desktops.shell import SIZE, START, Shell

WATCHER, SERVER = "org.kde.StatusNotifierWatcher", "org.freedesktop.Notifications"
BUBBLE = "Mate-notification-daemon"  # the class of its windows
SETTINGS = "org.mate.NotificationDaemon"
TRAY = (1127, 0, 1155, 27)  # where an icon stands, beside the clock
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
    still = 1  # its notifications draw how much time they have left
    picture = (SIZE[0] - 640, 0, SIZE[0], 180)

    def icons(self) -> int:
        return int(self.ink_at(TRAY, *COLOURED) is not None)

    def is_announced(self, words: str) -> bool:
        return words in self.sent() and bool(self._bubbles())

    def press_button(self, label: str) -> None:
        labels = self.buttons(label)

        def found() -> tuple[int, int] | None:
            for box in self._bubbles():
                image = self.screen.image(box)
                middles = blocks(image, image.height - FOOT, lambda colour: max(colour) - min(colour) < GREY, SHORT)
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
        self.menus = InkMenus(self, TRAY)
        self.start(["openbox", "--sm-disable"])
        self._start_panel()

    def _start_panel(self) -> None:
        self._panel_program = self.start(["mate-panel"])
        wait(lambda: self.bus.has_name(WATCHER), START, "the panel's tray")

    def _bubbles(self) -> list[Box]:
        return self.screen.named(BUBBLE)


DESKTOP = Mate
