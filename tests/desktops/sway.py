"""sway 1.7 with waybar and mako: a compositor without a graphics card, a virtual pointer in the place of a mouse."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from desk.menus import LEFT
from desk.screen import Box
from desk.wait import wait
from desktops import wayland
from desktops.inked import ASIDE, InkMenus, InkShell
from desktops.shell import SIZE, START
from PIL import Image

WATCHER, SERVER = "org.kde.StatusNotifierWatcher", "org.freedesktop.Notifications"
BAR = 30  # pixels of waybar's height
EDGE = "#c792ea"  # of a notification, a colour that nothing else has
CORNER = (SIZE[0] // 2, BAR, *SIZE)  # where notifications are
BAR_SETTINGS: dict[str, Any] = {
    "position": "top",
    "height": BAR,
    "modules-left": ["sway/workspaces"],
    "modules-center": ["clock"],
    "modules-right": ["tray"],
    "tray": {"icon-size": 20, "spacing": 8},
}
BAR_STYLE = """
* { font-family: Cantarell, sans-serif; font-size: 14px; min-height: 0; border-radius: 0; }
window#waybar { background: #20242c; color: #e6e9ef; }
#workspaces button { color: #e6e9ef; padding: 0 10px; }
#tray { background: none; padding: 0 10px; }
"""
# mako draws no buttons. Its manual has a click open a menu of them, here one that takes what the test wants. It can
# crash when it draws a notification under the pointer, so they are where the menu is not.
MAKO = f"""
anchor=@ANCHOR@
default-timeout=0
background-color=#20242c
border-color={EDGE}
border-size=2
width=360
on-button-left=exec makoctl menu -n "$id" grep -Fx -f @FOLDER@/wanted
[mode=do-not-disturb]
invisible=1
"""
SWAY = f"""
xwayland disable
output HEADLESS-1 resolution {SIZE[0]}x{SIZE[1]}
output HEADLESS-1 bg #3a5a72 solid_color
"""


class Screen:
    """What a desk asks of its screen: pictures by grim, windows by swaymsg, menus by waybar's own log."""

    def __init__(self, desktop: Sway, path: Path) -> None:
        self._desktop = desktop
        self._pointer = wayland.Pointer(path, SIZE)
        self.point, self.press, self.close = self._pointer.point, self._pointer.press, self._pointer.close

    def image(self, box: Box | None = None) -> Image.Image:
        done = self._desktop.run(["grim", "-t", "ppm", "-"])
        assert done.returncode == 0, done.stderr.decode()
        picture = Image.open(io.BytesIO(done.stdout))
        return picture.crop(box.edges) if box else picture

    def popups(self) -> list[Box]:
        return wayland.popups(self._desktop.log(self._desktop.bar))

    def titles(self) -> list[str]:
        done = self._desktop.run(["swaymsg", "-r", "-t", "get_tree"])
        return [str(one["name"]) for one in _nodes(json.loads(done.stdout)) if one.get("pid")]


class Menus(InkMenus):
    """There is no keyboard: a press beside it closes a menu."""

    def close(self) -> None:
        if self._screen.popups():
            self._screen.point(*ASIDE)
            self._screen.press(LEFT)
            wait(lambda: not self._screen.popups(), what="a press beside the menu closes it")


class Sway(InkShell):
    """The compositor stays when waybar, the tray's host, is started again."""

    variables = {
        "WLR_BACKENDS": "headless",
        "WLR_LIBINPUT_NO_DEVICES": "1",
        "WLR_RENDERER": "pixman",
        "XDG_CURRENT_DESKTOP": "sway",
        "XDG_SESSION_TYPE": "wayland",
    }
    display = "WAYLAND_DISPLAY"
    tray = (1000, 0, SIZE[0], BAR)
    picture = (SIZE[0] - 600, 0, SIZE[0], 150)
    anchor = "bottom-right"  # of notifications

    def is_announced(self, words: str) -> bool:
        return any(words in one for one in self.open_notifications().values()) and not self.is_clear()

    def is_clear(self) -> bool:
        return self.drawn_at(CORNER, EDGE) is None

    def press_button(self, label: str) -> None:
        (self.folder / "wanted").write_text(f"{label}\n")
        self.screen.point(*wait(lambda: self.drawn_at(CORNER, EDGE), what="a notification"))
        self.screen.press(LEFT)
        self.screen.point(*ASIDE)

    def do_not_disturb(self, on: bool) -> None:
        self._mako("mode", "-a" if on else "-r", "do-not-disturb")

    def restart(self) -> None:
        self.end_shell(self.bar)
        wait(lambda: not self.bus.has_name(WATCHER), what="the bus knows that waybar has ended")
        self._start_bar()

    def clear(self) -> None:
        self.menus.close()
        self._mako("dismiss", "--all")
        wait(self.is_clear, what="no notification is left")

    def start_all(self) -> None:
        for name, text in {
            "mako/config": MAKO.replace("@FOLDER@", str(self.folder)).replace("@ANCHOR@", self.anchor),
            "waybar/config": json.dumps(BAR_SETTINGS),
            "waybar/style.css": BAR_STYLE,
        }.items():
            path = self.folder / "config" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.start_server()
        self._start_bar()

    def start_server(self) -> None:
        self.mako = self.start(["mako"])
        wait(lambda: self.bus.has_name(SERVER), START, "mako is there")

    def _start_bar(self) -> None:
        self.bar = self.start(["waybar"], {"WAYLAND_DEBUG": "1"})
        wait(lambda: self.bus.has_name(WATCHER), START, "waybar's tray")

    def _light(self) -> None:
        """sway does not run as root; in a namespace of its own its files still belong to whoever runs the tests."""
        (self.folder / "sway.conf").write_text(SWAY)
        other = () if os.getuid() else ("unshare", "--user", "--map-user=1000", "--map-group=1000")
        self.start([*other, "sway", "-c", self.folder / "sway.conf"])
        run = self.folder / "run"
        for variable, pattern in (("SWAYSOCK", "sway-ipc.*.sock"), (self.display, "wayland-?")):
            found = wait(lambda pattern=pattern: next(run.glob(pattern), None), START, variable)  # type: ignore[misc]
            self.environment[variable] = str(found)
        self.screen = Screen(self, Path(self.environment[self.display]))  # type: ignore[assignment]
        self._parts.callback(self.screen.close)
        self.menus = Menus(self)

    def _mako(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        done = self.run(["makoctl", *words])
        assert done.returncode == 0, done.stderr.decode()
        return done


def _nodes(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield tree
    for kind in ("nodes", "floating_nodes"):
        for node in tree[kind]:
            yield from _nodes(node)


class Usual(Sway):
    """With notifications where mako has them by itself, for the picture."""

    anchor = "top-right"


DESKTOP = Usual
