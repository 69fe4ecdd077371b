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
from desktop.stage import wait
from desktop.watcher import Watcher
from tray.desktop.artwork import IconState
from tray.desktop.headless import HeadlessIcon
from tray.desktop.icon import Icon, IconBackend, choose_backend, choose_icon
from tray.desktop.linux import XScreen, collapses_submenus, query_screen, session_bus
from tray.desktop.menu import menu
from tray.desktop.menu.state import MenuState

DEADLINE = 60.0
NO_SCREEN, SCREEN, OLD_TRAY = XScreen(), XScreen(display=True), XScreen(display=True, xembed=True)


@every(
    ("bus", "look", "choice"),
    [
        (True, NO_SCREEN, IconBackend.SNI),
        (True, SCREEN, IconBackend.SNI),
        (True, OLD_TRAY, IconBackend.PYSTRAY),
        (False, OLD_TRAY, IconBackend.PYSTRAY),
        (False, SCREEN, IconBackend.HEADLESS),
        (False, NO_SCREEN, IconBackend.HEADLESS),
    ],
)
def test_the_choice_on_linux_without_a_tray_host(bus: bool, look: XScreen, choice: IconBackend) -> None:
    assert choose_backend(bus=bus, screen=look) is choice


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


# Xlib leaves its sockets open when nobody answers.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_bus_and_a_display_that_do_not_answer_are_none(loop: asyncio.AbstractEventLoop, tmp_path: Path) -> None:
    icon = chosen(loop, DBUS_SESSION_BUS_ADDRESS=f"unix:path={tmp_path}/bus", DISPLAY=":4711")

    assert icon.name == "headless"


@pytest.mark.parametrize("address", ["nonsense", "tcp:host=127.0.0.1", "unix:", "unix:path=/dev/null;nonsense:a=b"])
def test_an_address_that_is_none_does_not_stop_the_tray(loop: asyncio.AbstractEventLoop, address: str) -> None:
    assert chosen(loop, DBUS_SESSION_BUS_ADDRESS=address).name == "headless"


def test_with_a_bus_the_icon_waits_there_for_a_host(loop: asyncio.AbstractEventLoop, bus: str) -> None:
    icon = chosen(loop, DBUS_SESSION_BUS_ADDRESS=bus)

    assert icon.name == "sni"
    assert icon.reason == "no tray host yet: the icon appears when one starts"
    icon.stop()


def test_with_a_host_the_icon_is_up_as_soon_as_it_has_something_to_show(
    loop: asyncio.AbstractEventLoop, bus: str
) -> None:
    watcher = asyncio.run_coroutine_threadsafe(Watcher.start(bus), loop).result(DEADLINE)

    icon = chosen(loop, DBUS_SESSION_BUS_ADDRESS=bus)

    assert (icon.name, icon.reason, icon.visible) == ("sni", "", False)
    icon.show(IconState.ON, "on", menu(MenuState(now=0.0)))
    wait(lambda: len(watcher.registered) == 1, "the icon registers")
    icon.stop()
    asyncio.run_coroutine_threadsafe(watcher.stop(), loop).result(DEADLINE)


def test_headless_is_what_one_gets_when_one_asks_for_it(bus: str) -> None:
    icon = choose_icon(None, NoClicks(), headless=True, environment={"DBUS_SESSION_BUS_ADDRESS": bus})

    assert (icon.name, icon.reason) == ("headless", "headless, as asked for")


def test_a_headless_icon_keeps_what_it_shows_last() -> None:
    icon = HeadlessIcon("no screen")
    rows = menu(MenuState(now=0.0))

    icon.show(IconState.ON, "on", rows)
    icon.show(IconState.OFF, "off", rows)

    assert [(shown.state, shown.tooltip) for shown in icon.shown] == [(IconState.OFF, "off")]


def test_what_is_posted_from_any_thread_runs_on_the_main_thread_in_order() -> None:
    icon, order, ran = HeadlessIcon(""), list[int](), set[int]()

    def note(turn: int) -> None:
        order.append(turn)
        ran.add(threading.get_ident())

    def post() -> None:
        for turn in range(50):
            icon.main.post(partial(note, turn))

    thread = threading.Thread(target=post)
    thread.start()
    thread.join()
    icon.stop()
    icon.run()

    assert order == list(range(50))
    assert ran == {threading.get_ident()}


def test_a_signal_ends_a_headless_tray_that_waits_for_nothing() -> None:
    code = (
        "import signal; from tray.desktop.headless import HeadlessIcon; icon = HeadlessIcon('');"
        "signal.signal(signal.SIGTERM, lambda *_: icon.stop()); print('up', flush=True); icon.run()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"

        process.terminate()

        assert process.wait(DEADLINE) == 0


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
        from tray.desktop.artwork import IconState
        from tray.desktop.icon import choose_icon
        from tray.desktop.pixmaps import pixmaps

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


@pytest.mark.parametrize(
    ("desktop", "collapses"), [("ubuntu:GNOME", True), ("GNOME", True), ("XFCE", False), ("", False)]
)
def test_gnome_shell_cannot_show_submenus_in_submenus(desktop: str, collapses: bool) -> None:
    assert collapses_submenus({"XDG_CURRENT_DESKTOP": desktop}) is collapses
