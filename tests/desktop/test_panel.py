"""The icon and the menu on the real panel, used with the real pointer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from desk import Desk
from desk.menus import LEFT
from PIL import ImageChops, ImageColor

from desktop import panel_app
from desktop.ink import ink
from tray.approvals.user_action import UserAction
from tray.desktop.artwork import IconState, colour
from tray.desktop.icon import NO_TRAY
from tray.desktop.pystray_icon import NO_MENU

WATCHER = "org.kde.StatusNotifierWatcher"
pytestmark = pytest.mark.desktop


class Tray:
    """The program on the desk: what it is told to show, and what it says was clicked."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.process = start(desk)
        self.item = desk.wait_item(self.process.pid)

    def show(self, **words: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        self.process.stdin.flush()

    def said(self) -> list[str]:
        return [line for line in self.desk.log(self.process).splitlines() if line != "opened"]

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(60) == 0, self.desk.log(self.process)


def start(desk: Desk, **environment: str) -> subprocess.Popen[bytes]:
    return desk.start([sys.executable, panel_app.__file__], environment, stdin=subprocess.PIPE)


@pytest.fixture
def tray(desk: Desk) -> Iterator[Tray]:
    tray = Tray(desk)
    yield tray
    tray.close()


def test_the_icon_appears_on_the_panel_and_changes_its_shape(desk: Desk, tray: Tray) -> None:
    on = desk.wait(lambda: ink(desk, tray.item, IconState.ON), what="the hook is drawn")

    tray.show(look="off")
    off = desk.wait(lambda: ink(desk, tray.item, IconState.OFF), what="the ring is drawn")

    assert len(on ^ off) > 30


def test_the_left_button_opens_the_menu_too(desk: Desk, tray: Tray) -> None:
    with desk.menus.open([], tray.item, LEFT):
        desk.wait(lambda: "opened" in desk.log(tray.process), what="the tray hears of it")


def test_a_click_approves_the_bytes_that_the_row_named(desk: Desk, tray: Tray) -> None:
    approve = UserAction(action="approve", key="k1", digest="1a2b3c4d5e6f")

    desk.click(["Approvals", "block_secrets", "Approve 1a2b3c4d"], tray.item)

    desk.wait(lambda: tray.said()[1:] == [repr(approve)], what="the click is acted on")


def test_an_open_menu_is_repainted_in_place_and_stays_open(desk: Desk, tray: Tray) -> None:
    with desk.open_menu([], tray.item) as spots:
        (popup,) = desk.screen.popups()
        before = desk.screen.image(popup)

        tray.show(enabled=False)

        desk.wait(
            lambda: _rows_changed(desk, popup, before) == [0, 1, 2], what="these rows are painted anew, no other"
        )
        assert desk.screen.popups() == [popup]
        assert spots[0].row.label.startswith("2 approvals wait")


def _rows_changed(desk: Desk, popup: Any, before: Any) -> list[int]:
    """Which of the menu's eleven rows look different now."""
    difference = ImageChops.difference(desk.screen.image(popup), before).convert("L")
    height = popup.height / 11
    rows = [
        difference.crop((4, int(row * height) + 6, popup.width - 4, int((row + 1) * height) - 6)) for row in range(11)
    ]
    return [number for number, row in enumerate(rows) if max(row.tobytes()) > 32]


def test_a_menu_with_another_row_in_it_stays_open(desk: Desk, tray: Tray) -> None:
    with desk.open_menu(["Approvals"], tray.item) as spots:
        assert len(spots) == 3

        tray.show(requests=[])

        desk.wait(
            lambda: desk.screen.popups()[1:] and len(desk.row("Approvals", item=tray.item).children) == 2,
            what="it is gone",
        )
        assert len(desk.screen.popups()) == 2


def test_the_icon_comes_back_when_the_panels_tray_does_also_with_a_submenu_open(tmp_path: Path) -> None:
    """The tray is a process of its own, which the panel starts again when it has died."""
    with Desk(tmp_path, notifications=None, sound=False) as desk:
        tray = Tray(desk)
        old = desk.bus.pid(WATCHER)

        with desk.open_menu(["Approvals"], tray.item):
            os.kill(old, signal.SIGKILL)
            desk.wait(lambda: not desk.screen.popups(), what="the menus are gone with their panel")

        desk.wait(lambda: desk.bus.pid(WATCHER) not in {0, old}, what="the panel starts its tray again")
        desk.wait(lambda: tray.item.bus in {item.bus for item in desk.items()}, what="the icon registers anew")
        desk.click(["Hooks enabled"], tray.item)
        desk.wait(lambda: tray.said() == ["sni", "ToggleSwitch()"], what="a click is heard as before")
        tray.close()


NO_BUS = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}


def test_without_a_bus_pystray_draws_the_icon_in_the_old_tray_and_says_that_it_has_no_menu(desk: Desk) -> None:
    process = start(desk, **NO_BUS)
    ink = ImageColor.getrgb(colour(IconState.ON, dark=True))

    desk.wait(lambda: ink in colours(desk), what="it is drawn")

    assert desk.log(process) == f"pystray {NO_MENU}\n"
    desk.wait(lambda: asked(desk, process) == "visible: True", what="it knows that the icon is docked")
    end(desk, process)


def colours(desk: Desk) -> set[object]:
    """What is drawn in the panel's tray."""
    box = desk.screen.tray()
    return {shade for _, shade in desk.screen.image(box).getcolors(1 << 24) or ()} if box else set()


def asked(desk: Desk, process: subprocess.Popen[bytes]) -> str:
    """What it says of its icon when it is asked."""
    before = desk.log(process)
    assert process.stdin
    process.stdin.write(b'{"ask": true}\n')
    process.stdin.flush()
    return desk.wait(lambda: desk.log(process)[len(before) :], what="it answers").strip()


def end(desk: Desk, process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    assert process.wait(60) == 0, desk.log(process)
    assert process.stdin
    process.stdin.close()


def test_when_the_old_tray_dies_the_icon_is_not_said_to_be_visible(tmp_path: Path) -> None:
    with Desk(tmp_path, notifications=None, sound=False) as desk:
        process = start(desk, **NO_BUS)
        desk.wait(lambda: asked(desk, process) == "visible: True", what="the icon is docked")

        tray = desk.bus.pid(WATCHER)
        panel = psutil.Process(tray).parent()
        assert panel is not None
        for pid in (panel.pid, tray):  # the panel first, because it would start its tray again
            os.kill(pid, signal.SIGKILL)

        desk.wait(lambda: asked(desk, process) == "visible: False", what="it knows that the tray is gone")
        assert "Traceback" not in desk.log(process)
        end(desk, process)


def test_a_display_without_any_tray_and_without_a_bus_is_headless_and_says_so(tmp_path: Path) -> None:
    with Desk(tmp_path, panel=None, notifications=None, sound=False) as desk:
        process = start(desk, **NO_BUS)
        desk.wait(lambda: desk.log(process), what="it says what it is")

        assert asked(desk, process) == "visible: False"
        end(desk, process)
        assert desk.log(process) == f"headless {NO_TRAY}\nvisible: False\n"
