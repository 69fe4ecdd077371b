"""GNOME Shell 43 on X11 with the extension AppIndicator. Menus and notifications are drawn by the shell itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from desk import TrayItem
from desk.menus import LEFT, RIGHT
from desk.wait import DEADLINE, Overdue, wait
from desktops.shell import SIZE, START, Shell

WHERE = ("org.hooktray.tests.Where", "/org/hooktray/tests/Where", "org.hooktray.tests.Where")
SHELL = ("org.gnome.Shell", "/org/gnome/Shell")
EXTENSION, APP_INDICATOR = "where@hooktray.tests", "ubuntu-appindicators@ubuntu.com"
NOTIFICATIONS = "org.gnome.desktop.notifications"
BELOW = 400  # pixels from the top, where no banner is
TRIES, PATIENCE = 5, 6.0  # how often a menu or a notification is asked for, and the seconds for each


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A text or an icon, and where it is drawn."""

    text: str
    x: int
    y: int
    width: int
    height: int

    @property
    def middle(self) -> tuple[int, int]:
        return self.x + self.width // 2, self.y + self.height // 2


class Gnome(Shell):
    """An extension of our own says where things are drawn; all presses are those of the real pointer."""

    services = ("ca.desrt.dconf", "org.gnome.Shell.Notifications", "org.gnome.ScreenSaver")
    variables = {
        "GSETTINGS_BACKEND": "keyfile",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "XDG_CURRENT_DESKTOP": "GNOME",
        "XDG_SESSION_CLASS": "user",
    }
    argv: ClassVar[tuple[str, ...]] = ("gnome-shell", "--x11", "--sm-disable")
    picture = (380, 0, 1280, 180)

    def icons(self) -> int:
        return len(self._look()[1])

    def is_announced(self, words: str) -> bool:
        """Moves the pointer each time: while it rests, the shell keeps the banner of before, and others wait."""
        for y in (BELOW, BELOW + 1):
            self.screen.point(SIZE[0] // 2, y)
        return any(words in label.text for label in self._labels())

    def is_clear(self) -> bool:
        return not any("Hooktray" in label.text for label in self._labels())

    def click(self, path: Sequence[str], item: TrayItem | None = None) -> None:
        """Open the menu and its submenu, press the row. There, a deeper row begins with its submenu's name."""
        for left in reversed(range(TRIES)):
            self._close_menus()
            self._press(self._icon(), RIGHT)
            try:
                for label in path[:1]:
                    self._press(self._row(label), LEFT)
                if path[1:]:
                    self._press(self._row(*path[1:]), LEFT)
                wait(lambda: not self._find("Hooks enabled"), PATIENCE, "the menu closes")
            except Overdue:  # a press that comes before the shell has loaded the menu opens nothing
                if not left:
                    raise
            else:
                return

    def press_button(self, label: str) -> None:
        """The pointer on a banner has the shell draw its buttons; another goes once it has left it."""
        for left in reversed(range(TRIES)):
            try:
                wait(lambda: self._find(label), PATIENCE, f"the button {label}")
            except Overdue:
                if not left:
                    raise
                for y in (BELOW, 60):
                    self.screen.point(SIZE[0] // 2, y)
            else:
                break
        self._press(wait(lambda: self._find(label), what=f"the button {label}"), LEFT)

    def do_not_disturb(self, on: bool) -> None:
        self.set_key(NOTIFICATIONS, "show-banners", "false" if on else "true")

    def enable(self, *extensions: str) -> None:
        """Only these extensions and that of the tests."""
        self.set_key("org.gnome.shell", "enabled-extensions", str([EXTENSION, *extensions]))

    def restart(self) -> None:
        self.end_shell(self._shell)
        wait(lambda: not self.bus.has_name(WHERE[0]), what="the bus knows that the shell has ended")
        self._start_shell()

    def clear(self) -> None:
        self._close_menus()
        self.screen.point(SIZE[0] // 2, BELOW)  # off any banner, which stays while the pointer is on it
        wait(self.is_clear, 60, "no banner is left")

    def start_all(self) -> None:
        source = Path(__file__).with_name("gnome_extension")
        shutil.copytree(source, self.folder / "data" / "gnome-shell" / "extensions" / EXTENSION)
        self.enable(APP_INDICATOR)
        self.set_key("org.gnome.shell", "welcome-dialog-last-shown-version", "99")
        self.set_key("org.gnome.desktop.interface", "enable-animations", "false")
        self.set_key("org.gnome.desktop.background", "picture-uri", "")
        self._start_shell()

    def _start_shell(self) -> None:
        """It complains that it cannot lock the screen, and begins in its overview."""
        self.do_not_disturb(True)
        self._shell = self.start(self.argv)
        wait(lambda: self.bus.has_name(WHERE[0]), START, "GNOME Shell is there")

        def is_ready() -> bool:
            self.run(["busctl", "--user", "set-property", *SHELL, SHELL[0], "OverviewActive", "b", "false"])
            return bool(self._look()[2]) and self.bus.has_name("org.freedesktop.Notifications")

        wait(is_ready, START, "GNOME Shell shows the desktop")
        self.do_not_disturb(False)

    def _look(self) -> tuple[list[Spot], list[Spot], bool]:
        """The texts on the screen, the icons in the panel, and whether the desktop is shown.

        A new one that the shell has not laid out yet has no place, and is left out.
        """
        seen = json.loads(self.bus.call(*WHERE, "Look")[0])
        labels, icons = (
            [Spot(**one) for one in seen[name] if None not in one.values()] for name in ("labels", "icons")
        )
        return labels, icons, seen["ready"]

    def _labels(self) -> list[Spot]:
        return self._look()[0]

    def _find(self, label: str, last: str = "") -> Spot | None:
        """The row or button with this label, else the first that begins with it; `last` begins a part after it."""
        labels = [one for one in self._labels() if not last or f" · {last}" in one.text]
        exact = (one for one in labels if one.text == label)
        return next(exact, next((one for one in labels if one.text.startswith(label)), None))

    def _row(self, *words: str) -> Spot:
        """Once it stands still: a submenu moves the rows below it."""
        last: list[Spot | None] = [None]

        def still() -> Spot | None:
            last.append(self._find(words[0], *words[1:][-1:]))
            return last[-1] if last[-1] == last[-2] else None

        return wait(still, PATIENCE, f"the row {' · '.join(words)}")

    def _icon(self) -> Spot:
        return wait(lambda: next(iter(self._look()[1]), None), DEADLINE, "an icon in the panel")

    def _press(self, spot: Spot, button: int) -> None:
        self.screen.point(*spot.middle)
        self.screen.press(button)

    def _close_menus(self) -> None:
        if self._find("Hooks enabled"):
            self.screen.key("Escape")
            wait(lambda: not self._find("Hooks enabled"), what="Escape closes the menu")


DESKTOP = Gnome
