"""MATE 1.26: the panel's applet *notification area* is the tray's host; menus and notifications are windows."""

from __future__ import annotations

from desk.menus import LEFT
from desk.screen import Box
from desk.wait import wait
from desktops.inked import BubbleShell, InkMenus
from desktops.shell import SIZE, START

WATCHER = "org.kde.StatusNotifierWatcher"
BUBBLE = "Mate-notification-daemon"  # the class of its windows
SETTINGS = "org.mate.NotificationDaemon"
GREY = 12  # how far a button's colours are apart


class Mate(BubbleShell):
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
    tray = (1080, 0, 1155, 27)  # beside the clock
    foot, short = 16, 20
    picture = (SIZE[0] - 640, 0, SIZE[0], 180)

    def press_button(self, label: str) -> None:
        labels = self.buttons(label)

        self.screen.point(*wait(lambda: self.button_at(label, labels), what=f"a bubble with the buttons {labels}"))
        self.screen.press(LEFT)

    def do_not_disturb(self, on: bool) -> None:
        self.set_key(SETTINGS, "do-not-disturb", "true" if on else "false")

    def restart(self) -> None:
        host = self.bus.pid(WATCHER)
        self.end_shell(self._panel_program)
        wait(lambda: self.bus.pid(WATCHER) != host, what="the panel's applets have ended")
        self._start_panel()

    def start_all(self) -> None:
        self.menus = InkMenus(self)
        self.start(["openbox", "--sm-disable"])
        self._start_panel()

    def _start_panel(self) -> None:
        self._panel_program = self.start(["mate-panel"])
        wait(lambda: self.bus.has_name(WATCHER), START, "the panel's tray")

    def is_button(self, colour: tuple[int, ...]) -> bool:
        return max(colour) - min(colour) < GREY

    def bubbles(self) -> list[Box]:
        return self.screen.named(BUBBLE)


DESKTOP = Mate
