"""Which icon is chosen where, and that the plain ones run what is posted until they are stopped."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from every import every

from desktop.recorded_clicks import NoClicks
from tray.desktop.artwork import IconState
from tray.desktop.icon import FallbackIcon, Icon, choose_icon
from tray.desktop.linux import XScreen, collapses_submenus, query_screen, session_bus
from tray.desktop.mainloop import HeadlessIcon
from tray.desktop.menu.items import Items

DEADLINE = 60.0
NO_SCREEN, SCREEN, OLD_TRAY = XScreen(), XScreen(display=True), XScreen(display=True, xembed=True)


class Bus(HeadlessIcon):
    def __init__(self) -> None:
        super().__init__("no host")
        self.present = False


class Old:
    """Stand-in for pystray's icon in the XEmbed tray."""

    name, reason, visible = "pystray", "no menu", True

    def __init__(self) -> None:
        self.life: list[str] = []
        self.shown: list[tuple[IconState, str]] = []

    def begin(self) -> None:
        self.life.append("begin")

    def show(self, state: IconState, tooltip: str, items: Items) -> None:
        self.shown.append((state, tooltip))

    def end(self) -> None:
        self.life.append("end")

    stop = end


class BusAndOldTray(FallbackIcon):
    """With a stand-in for the XEmbed tray of the screen."""

    def __init__(self, bus: Bus, old: Old | None) -> None:
        super().__init__(bus, NoClicks(), {})
        self.bus, self.old = bus, old

    def make_legacy(self) -> Old | None:
        return self.old

    def turn(self, present: bool) -> None:
        """A host comes or goes."""
        self.bus.present = present
        self.host_changed()


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="loop")
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(DEADLINE)
    loop.close()


@pytest.fixture
def bus() -> Iterator[str]:
    argv = ["dbus-daemon", "--session", "--print-address", "--nofork", "--nopidfile"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
        assert daemon.stdout
        yield daemon.stdout.readline().strip()
        daemon.terminate()


def chosen(loop: asyncio.AbstractEventLoop | None, **environment: str) -> Icon:
    return choose_icon(loop, NoClicks(), environment=environment)


def test_without_display_and_bus_it_is_headless_and_says_why(loop: asyncio.AbstractEventLoop) -> None:
    icon = chosen(loop)

    assert (icon.name, icon.reason) == ("headless", "no display and no D-Bus session: running headless")
    assert not icon.visible
    assert choose_icon(None, NoClicks(), headless=True).reason == "headless, as asked for"


# Xlib leaves its sockets open when nobody answers.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@every(
    "address",
    ["nonsense", "tcp:host=127.0.0.1", "unix:", "unix:path=/dev/null;nonsense:a=b", "unix:path=/nonexistent/bus"],
)
def test_without_a_working_bus_and_display_the_icon_is_headless(
    loop: asyncio.AbstractEventLoop, address: str
) -> None:
    assert chosen(loop, DBUS_SESSION_BUS_ADDRESS=address, DISPLAY=":4711").name == "headless"


@every(
    ("has_bus", "screen", "name"),
    [
        (True, NO_SCREEN, "sni"),
        (True, SCREEN, "sni"),
        (True, OLD_TRAY, "pystray"),
        (False, OLD_TRAY, "pystray"),
        (False, SCREEN, "headless"),
        (False, NO_SCREEN, "headless"),
    ],
)
def test_the_choice_on_linux_without_a_tray_host(
    loop: asyncio.AbstractEventLoop,
    bus: str,
    monkeypatch: pytest.MonkeyPatch,
    has_bus: bool,
    screen: XScreen,
    name: str,
) -> None:
    monkeypatch.setattr("tray.desktop.icon.query_screen", lambda environment: screen)
    monkeypatch.setattr("tray.desktop.icon.pystray_icon", lambda clicks: Old())

    icon = chosen(loop, DBUS_SESSION_BUS_ADDRESS=bus) if has_bus else chosen(loop)

    assert icon.name == name
    icon.stop()


def test_what_is_posted_from_any_thread_runs_on_the_main_thread_in_order() -> None:
    icon, order, ran = HeadlessIcon(""), list[int](), set[int]()

    def note(turn: int) -> None:
        order.append(turn)
        ran.add(threading.get_ident())

    def post() -> None:
        for turn in range(50):
            icon.post(partial(note, turn))

    thread = threading.Thread(target=post)
    thread.start()
    thread.join()
    icon.stop()
    icon.run()

    assert order == list(range(50))
    assert ran == {threading.get_ident()}


def test_the_session_bus_is_found_in_the_run_folder_too(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "bus"))

        assert session_bus({"XDG_RUNTIME_DIR": str(tmp_path)}) == f"unix:path={tmp_path}/bus"
    assert session_bus({"XDG_RUNTIME_DIR": str(tmp_path / "none")}) == ""
    assert session_bus({"DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x"}) == "unix:abstract=x"


def test_no_display_is_no_screen() -> None:
    assert query_screen({}) == NO_SCREEN
    assert query_screen({"DISPLAY": "no display"}) == NO_SCREEN


def test_an_icon_that_a_tray_host_shows_needs_neither_pystray_nor_what_draws_pictures(bus: str) -> None:
    code = """if True:
        import asyncio, sys, threading
        from desktop.recorded_clicks import NoClicks
        from desktop.watcher import Watcher
        from tray.desktop.artwork import IconState, pixmaps
        from tray.desktop.icon import choose_icon

        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        asyncio.run_coroutine_threadsafe(Watcher.start(sys.argv[1]), loop).result(30)
        environment = {"DBUS_SESSION_BUS_ADDRESS": sys.argv[1], "DISPLAY": ":4711"}
        icon = choose_icon(loop, NoClicks(), environment=environment)
        pixmaps(IconState.ON)
        print(icon.name, icon.reason, *sys.modules.keys() & {"PIL", "Xlib", "pystray"})
    """
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code, bus], env={**os.environ, "PYTHONPATH": tests}, capture_output=True, text=True,
        timeout=DEADLINE, check=False,
    )  # fmt: skip

    assert done.stdout == "sni \n", done.stderr


def test_gnome_shell_cannot_show_submenus_in_submenus() -> None:
    desktops = ("ubuntu:GNOME", "GNOME", "XFCE", "")

    assert [collapses_submenus({"XDG_CURRENT_DESKTOP": one}) for one in desktops] == [True, True, False, False]


def test_it_goes_to_the_old_tray_and_leaves_it_when_a_host_comes() -> None:
    old = Old()
    icon = BusAndOldTray(Bus(), old)
    icon.fall_back()
    icon.show(IconState.OFF, "off", ())
    before = icon.name, icon.reason, icon.visible

    icon.turn(True)

    assert before == ("pystray", "no menu", True)
    assert (icon.name, icon.reason, old.life) == ("sni", "no host", ["begin", "end"])


def test_when_the_host_goes_the_old_tray_shows_what_was_shown_last() -> None:
    old = Old()
    icon = BusAndOldTray(Bus(), old)
    icon.turn(True)
    icon.show(IconState.PAUSED, "paused", ())

    icon.turn(False)
    icon.turn(False)

    assert old.life == ["begin"]
    assert old.shown == [(IconState.PAUSED, "paused")]


def test_without_a_host_the_icon_uses_the_old_tray_or_waits_on_the_bus() -> None:
    alone, beside = BusAndOldTray(Bus(), None), BusAndOldTray(Bus(), Old())

    for icon in (alone, beside):
        icon.host_changed()

    assert [(icon.name, icon.visible) for icon in (alone, beside)] == [("sni", False), ("pystray", True)]


def test_a_tray_that_quits_does_not_go_to_the_old_tray() -> None:
    old = Old()
    icon = BusAndOldTray(Bus(), old)
    icon.turn(True)

    icon.stop()
    icon.turn(False)

    assert (icon.name, old.life) == ("sni", [])
