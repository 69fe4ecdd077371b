"""KDE Plasma 5.27 on X11: kded keeps the watcher, plasmashell is tray host and notification server."""

from __future__ import annotations

from desk.menus import LEFT
from desk.screen import Box
from desk.wait import wait
from desktops.inked import ASIDE, SERVER, BubbleShell, InkMenus
from desktops.shell import SIZE, START

WATCHER = "org.kde.StatusNotifierWatcher"
WIDTHS = range(300, 400)  # of a notification
STILL = 4  # looks that find a button in the same place, when it stands still
WHITE = 246  # of 255: how light a button is at least


class Kde(BubbleShell):
    """Started without Plasma's session manager, as each of its programs allows."""

    services = ("org.kde.ActivityManager", "org.kde.kglobalaccel", "org.kde.kscreen")
    variables = {
        "KDE_FULL_SESSION": "true",
        "KDE_SESSION_VERSION": "5",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "QT_QPA_PLATFORM": "xcb",
        "QT_QUICK_BACKEND": "software",
        "XDG_CURRENT_DESKTOP": "KDE",
    }
    tray = (1000, 760, 1110, 796)  # the clock beside it has pixels of the icon's grey
    foot = 8  # below the labels of the buttons
    short = 20
    picture = (SIZE[0] - 640, SIZE[1] - 240, *SIZE)
    position = "TopRight"  # of notifications: where Plasma has them by itself, they cover the menu
    _cookie = 0

    def press_button(self, label: str) -> None:
        labels = self.buttons(label)
        seen: list[tuple[int, int] | None] = [None]

        def still() -> tuple[int, int] | None:
            """It slides in."""
            seen.append(self.button_at(label, labels))
            return seen[-1] if len(seen) > STILL and len(set(seen[-STILL:])) == 1 else None

        self.screen.point(*wait(still, what=f"a notification with the buttons {labels}"))
        self.screen.press(LEFT)

    def do_not_disturb(self, on: bool) -> None:
        path = "/org/freedesktop/Notifications"
        if on:
            self._cookie = self.bus.call(SERVER, path, SERVER, "Inhibit", "ssa{sv}", ["tests", "a talk", {}])[0]
        else:
            self.bus.call(SERVER, path, SERVER, "UnInhibit", "u", [self._cookie])

    def restart(self) -> None:
        self.screen.point(*ASIDE)
        self.end_shell(self._shell)
        wait(lambda: not self.bus.has_name(SERVER), what="the bus knows that plasmashell has ended")
        self._start_shell()

    def clear(self) -> None:
        super().clear()
        self.screen.point(*ASIDE)

    def start_all(self) -> None:
        self.menus = InkMenus(self)
        settings = self.folder / "config" / "plasmanotifyrc"
        settings.write_text(f"[Notifications]\nPopupPosition={self.position}\n")
        self.start(["kwin_x11"])
        self.start(["kded5"])
        wait(lambda: self.bus.has_name(WATCHER), START, "kded's watcher")
        self._start_shell()

    def _start_shell(self) -> None:
        self._shell = self.start(["plasmashell", "--no-respawn"])
        host = f"org.kde.StatusNotifierHost-{self._shell.pid}"
        wait(lambda: self.bus.has_name(host) and self.bus.has_name(SERVER), START, "plasmashell is there")

    def is_button(self, colour: tuple[int, ...]) -> bool:
        return min(colour) >= WHITE

    def bubbles(self) -> list[Box]:
        menus = {box.id for box in self.screen.popups()}
        return [
            box for box in self.screen.boxes()
            if box.width in WIDTHS and box.x > SIZE[0] // 2 and box.id not in menus
        ]  # fmt: skip


class Usual(Kde):
    """With notifications where Plasma has them by itself, for the picture."""

    position = "CloseToWidget"


DESKTOP = Usual
