"""The icon on other hosts than Xfce's panel, and in old trays through pystray, with the real pointer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from desk import Desk, Overdue
from desk.menus import PATIENCE, PRESSES, text_bands
from desk.screen import Box
from PIL import ImageColor

from desktop import panel_app
from tray.desktop.artwork import IconState, colour
from tray.desktop.pystray_icon import NO_MENU

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("desk")]
LEFT, MIDDLE, RIGHT = 1, 2, 3
QT = {"QT_QPA_PLATFORMTHEME": "", "QT_STYLE_OVERRIDE": "fusion"}
SLOW = 60.0  # seconds that a host may take on a loaded machine
Program = subprocess.Popen[bytes]


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Desk]:
    """A desk without any tray."""
    with Desk(tmp_path, panel=None, notifications=None, sound=False, size=(800, 420)) as desk:
        yield desk


def lxqt(desk: Desk) -> Program:
    host = desk.start(["lxqt-panel"], QT)
    desk.wait(lambda: desk.bus.has_name("org.kde.StatusNotifierWatcher"), what="LXQt's panel watches")
    return host


def tint2(desk: Desk) -> Program:
    host = desk.start(["tint2"])
    desk.wait(lambda: "systray started" in desk.log(host), what="tint2 has a tray")
    return host


def start(desk: Desk, **environment: str) -> Program:
    return desk.start([sys.executable, panel_app.__file__], environment, stdin=subprocess.PIPE)


def end(desk: Desk, process: Program) -> None:
    assert process.stdin
    process.stdin.close()
    assert process.wait(SLOW) == 0, desk.log(process)
    assert "Traceback" not in desk.log(process)


def icon_at(desk: Desk, *, dark: bool | None = None) -> tuple[int, int]:
    """The middle of the icon's ink."""
    ink = ImageColor.getrgb(colour(IconState.ON, dark))

    def found() -> list[tuple[int, int]]:
        picture = desk.screenshot().convert("RGB")
        bar = range(picture.height - 40, picture.height)
        seen = ((x, y, picture.getpixel((x, y))) for x in range(picture.width) for y in bar)
        spots = [(x, y) for x, y, at in seen if all(abs(a - b) < 24 for a, b in zip(at, ink, strict=True))]  # type: ignore[arg-type]
        return spots if len(spots) > 40 else []

    spots = desk.wait(found, what="the icon is drawn")
    return sum(x for x, _ in spots) // len(spots), sum(y for _, y in spots) // len(spots)


def press(desk: Desk, button: int, at: tuple[int, int]) -> None:
    desk.screen.point(*at)
    desk.screen.press(button)


def opened(desk: Desk, at: tuple[int, int]) -> Box:
    """The menu, once its eleven rows are drawn; a press that comes before the host has loaded it is made again."""
    for _ in range(PRESSES - 1):
        press(desk, RIGHT, at)
        with suppress(Overdue):
            return drawn(desk, PATIENCE)
        desk.menus.close()
    press(desk, RIGHT, at)
    return drawn(desk, SLOW)


def drawn(desk: Desk, deadline: float) -> Box:
    (popup,) = desk.wait(desk.screen.popups, deadline, "the menu opens")
    desk.wait(lambda: len(rows(desk, popup)) == 11, deadline, "eleven rows are drawn")
    return popup


def rows(desk: Desk, popup: Box) -> list[int]:
    return [popup.y + y for y in text_bands(desk.screen.image(popup))]


def click_row(desk: Desk, popup: Box, number: int) -> None:
    y = rows(desk, popup)[number]
    desk.screen.point(popup.x + popup.width // 2, y)
    desk.screen.press(LEFT)
    desk.wait(lambda: not desk.screen.popups(), what="the menu closes")


def acted(desk: Desk, process: Program, *words: str) -> None:
    def said() -> bool:
        lines = desk.log(process).splitlines()[1:]
        return [line for line in lines if line != "opened"] == list(words)

    desk.wait(said, what=f"the clicks arrive: {words}")


def test_on_lxqts_panel_each_button_does_what_it_shall(bare: Desk) -> None:
    lxqt(bare)
    process = start(bare)
    at = icon_at(bare)

    click_row(bare, opened(bare, at), 1)
    acted(bare, process, "ToggleSwitch()")
    press(bare, LEFT, at)
    acted(bare, process, "ToggleSwitch()", "OpenPage(place='')")
    press(bare, MIDDLE, at)
    acted(bare, process, "ToggleSwitch()", "OpenPage(place='')", "OpenPage(place='')")
    bare.screen.do("click", "4", "click", "5")  # the wheel
    click_row(bare, opened(bare, at), 10)

    assert process.wait(SLOW) == 0
    assert bare.log(process).splitlines()[-1] == "QuitTray()"


def test_the_icon_leaves_the_old_tray_when_a_host_comes_and_goes_back_when_that_dies(bare: Desk) -> None:
    tint2(bare)
    process = start(bare)
    icon_at(bare, dark=True)  # on a tile of its own, because this tray knows no transparency
    assert bare.log(process) == f"pystray {NO_MENU}\n"

    host = lxqt(bare)
    bare.wait(lambda: [item for item in bare.items() if bare.bus.pid(item.bus) == process.pid], what="it registers")
    bare.wait(lambda: dark_ink(bare) == 0, what="it is gone from the old tray")
    os.kill(host.pid, 9)

    icon_at(bare, dark=True)
    end(bare, process)


def dark_ink(desk: Desk) -> int:
    picture = desk.screenshot().convert("RGB")
    counts = {shade: number for number, shade in picture.getcolors(1 << 24) or ()}
    return counts.get(ImageColor.getrgb(colour(IconState.ON, dark=True)), 0)


@pytest.mark.parametrize(("host", "toolkit"), [(lxqt, "appindicator"), (tint2, "gtk")])
def test_pystray_with_a_toolkit_has_the_whole_menu(bare: Desk, host: object, toolkit: str) -> None:
    assert callable(host)
    host(bare)
    process = start(bare, PYSTRAY_BACKEND=toolkit)

    click_row(bare, opened(bare, icon_at(bare)), 1)
    acted(bare, process, "ToggleSwitch()")

    end(bare, process)
