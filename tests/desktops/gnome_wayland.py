"""GNOME Shell 43 on Wayland without a monitor: pointer and keyboard are those that GNOME gives to remote desktops."""

from __future__ import annotations

from typing import Any

from desk.screen import Box
from desktops.gnome import WHERE, Gnome
from desktops.shell import SIZE
from PIL import Image

MUTTER = "org.gnome.Mutter.RemoteDesktop"
SESSION = f"{MUTTER}.Session"
BUTTONS = {1: 0x110, 2: 0x112, 3: 0x111}  # X's numbers -> Linux's codes
KEYS = {"Escape": 0xFF1B}


class Screen:
    """What a desk asks of its screen, as the shell and the tests' extension answer it."""

    def __init__(self, desktop: GnomeWayland) -> None:
        self._desktop = desktop
        self._path = self._desktop.bus.call(MUTTER, "/org/gnome/Mutter/RemoteDesktop", MUTTER, "CreateSession")[0]
        self._call("Start")
        # Without a stream of pictures there are only motions by some pixels: the first one ends in a known corner.
        self._at = -SIZE[0], -SIZE[1]
        self.point(SIZE[0], SIZE[1])
        self._at = SIZE[0] - 1, SIZE[1] - 1

    def image(self, box: Box | None = None) -> Image.Image:
        path = self._desktop.folder / "screen.png"
        self._desktop.bus.call(*WHERE, "Picture", "s", [str(path)])
        picture = Image.open(path)
        return picture.crop(box.edges) if box else picture

    def titles(self) -> list[str]:
        return [str(title) for title in self._desktop.bus.call(*WHERE, "Titles")[0]]

    def point(self, x: int, y: int) -> None:
        """Move there in two steps: toolkits ignore a first motion that is only an entry."""
        for step in (x - 1, x):
            self._call("NotifyPointerMotionRelative", "dd", (float(step - self._at[0]), float(y - self._at[1])))
            self._at = step, y

    def press(self, button: int) -> None:
        for down in (True, False):
            self._call("NotifyPointerButton", "ib", (BUTTONS[button], down))

    def key(self, name: str) -> None:
        for down in (True, False):
            self._call("NotifyKeyboardKeysym", "ub", (KEYS[name], down))

    def _call(self, member: str, signature: str = "", words: tuple[Any, ...] = ()) -> None:
        self._desktop.bus.call(MUTTER, self._path, SESSION, member, signature, words)


class GnomeWayland(Gnome):
    """The shell is the compositor, too, so a restart of it ends every window; Hooktray has none."""

    variables = Gnome.variables | {"WAYLAND_DISPLAY": "wayland-9", "XDG_SESSION_TYPE": "wayland"}
    display = "WAYLAND_DISPLAY"
    argv = (
        "gnome-shell", "--headless", "--no-x11", "--sm-disable",
        "--virtual-monitor", f"{SIZE[0]}x{SIZE[1]}", "--wayland-display", "wayland-9",
    )  # fmt: skip

    def _light(self) -> None:
        """The shell brings it."""

    def _start_shell(self) -> None:
        super()._start_shell()
        self.screen = Screen(self)  # type: ignore[assignment]


DESKTOP = GnomeWayland
