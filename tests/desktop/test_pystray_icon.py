"""pystray's icon on macOS and Windows, against a stand-in that records who is called, where and with what."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from every import every

from desktop.recorded_clicks import NoClicks, RecordedClicks
from tray.desktop.artwork import IconState
from tray.desktop.icon import show_balloon
from tray.desktop.mainloop import HeadlessIcon, MainLoop
from tray.desktop.menu import menu
from tray.desktop.menu.actions import OpenPage, QuitTray, ToggleSwitch
from tray.desktop.menu.state import MenuState
from tray.desktop.pystray_icon import TOOLTIP_LIMIT, PystrayIcon, truncate

DEADLINE = 60.0
PRESS = 11  # the message of a press on the icon


class Image:
    template = False

    def setTemplate_(self, on: bool) -> None:  # noqa: N802 - AppKit's name
        self.template = on


class Menu(tuple[Any, ...]):
    SEPARATOR = "---"

    def __new__(cls, *rows: Any) -> Menu:
        return super().__new__(cls, rows)


class Row:
    def __init__(self, text: str, action: Any, default: bool = False, visible: bool = True, **more: Any) -> None:
        self.text, self.action, self.default, self.visible = text, action, default, visible


class Icon:
    """Has a setup thread and a loop like pystray's; every property that is set is kept with its thread."""

    HAS_MENU = True

    def __init__(self, name: str, icon: Any, title: str) -> None:
        self._calls: list[tuple[str, Any, int]] = []
        self._ended = threading.Event()
        self._icon_image = Image()

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            self._calls.append((name, value, threading.get_ident()))
            if name == "icon":
                self._icon_image = Image()
        self.__dict__[name] = value

    def notify(self, message: str, title: str) -> None:
        self._calls.append(("notify", (title, message), threading.get_ident()))

    def run(self, setup: Callable[[Any], None]) -> None:
        thread = threading.Thread(target=setup, args=(self,))
        thread.start()
        self._run_loop()
        thread.join(DEADLINE)

    def _run_loop(self) -> None:
        assert self._ended.wait(DEADLINE)

    def stop(self) -> None:
        self._ended.set()


class Library(ModuleType):
    """Stand-in for the module."""

    Menu: Any = Menu
    MenuItem: Any = Row
    Icon: Any = Icon

    def __init__(self) -> None:
        super().__init__("pystray")


class WindowsIcon(Icon):
    """With the messages that pystray gets from Windows; `_menus` are the menus that it has made."""

    def __init__(self, name: str, icon: Any, title: str) -> None:
        super().__init__(name, icon, title)
        self._menus: list[Any] = []
        self._message_handlers = {PRESS: self._on_notify}
        self._while_open: Callable[[], None] = lambda: None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "menu":
            self._update_menu()

    def _update_menu(self) -> None:
        self._menus.append(self.__dict__["menu"])

    def _on_notify(self, wparam: int, lparam: int) -> int:
        self._while_open()
        return 7


class Windows(Library):
    Icon: Any = WindowsIcon


class Mac(Library):
    """With the run loop of macOS: what is posted is run on the thread that has called `run`."""

    def __init__(self) -> None:
        super().__init__()
        self.main = MainLoop()
        loop = self.main

        class MacIcon(Icon):
            def _run_loop(self) -> None:
                loop.run()

            def stop(self) -> None:
                loop.stop()

        self.Icon = MacIcon


@pytest.fixture
def clicks() -> RecordedClicks:
    return RecordedClicks()


@pytest.fixture
def windows(clicks: RecordedClicks) -> Iterator[PystrayIcon]:
    icon = PystrayIcon(Windows(), clicks, "win32")
    main = threading.Thread(target=icon.run)
    main.start()
    yield icon
    icon.stop()
    main.join(DEADLINE)


def drawn(icon: PystrayIcon) -> Any:
    """pystray's own icon, once all that was asked for has been done."""
    done = threading.Event()
    icon._calls.post(done.set)
    assert done.wait(DEADLINE)
    return icon._icon


def test_on_macos_whatever_touches_the_screen_is_on_the_main_thread_and_pictures_are_templates(
    clicks: RecordedClicks,
) -> None:
    library = Mac()
    icon = PystrayIcon(library, clicks, "darwin", library.main)
    library_icon: Any = icon._icon
    elsewhere = threading.Thread(target=lambda: icon.show(IconState.OFF, "off", menu(MenuState(now=0.0))))

    def then() -> None:
        assert icon._ready.wait(DEADLINE)
        elsewhere.start()
        elsewhere.join(DEADLINE)
        icon.main.post(lambda: library_icon.menu[2].action(library_icon, None))
        icon.main.post(icon.stop)

    threading.Thread(target=then).start()
    icon.run()

    assert {name for name, _, _ in library_icon._calls} == {"visible", "icon", "title", "menu"}
    assert {thread for _, _, thread in library_icon._calls} == {threading.get_ident()}
    assert (clicks.acted, clicks.threads) == ([ToggleSwitch()], [threading.get_ident()])
    assert library_icon._icon_image.template


def test_on_windows_clicks_come_to_the_main_thread_and_ampersands_are_shown(
    windows: PystrayIcon, clicks: RecordedClicks
) -> None:
    """The left button activates a hidden row that opens the page."""
    windows.show(IconState.ON, "R&D", menu(MenuState(now=0.0, running="R&D")))

    icon = drawn(windows)
    rows = [row for row in icon.menu if row != Menu.SEPARATOR]
    for row in (*(row for row in rows if row.default), [row for row in rows if row.visible][-1]):
        row.action(icon, None)
    done = threading.Event()
    windows.main.post(done.set)

    assert done.wait(DEADLINE)
    assert (icon.menu[0].text, icon.title) == ("R&&D", "R&D")
    assert clicks.acted == [OpenPage(), QuitTray()]
    assert clicks.threads[0] not in {thread for _, _, thread in icon._calls}
    assert [row.visible for row in rows if row.default] == [False]


def test_a_menu_that_is_open_on_windows_is_replaced_once_it_is_closed(windows: PystrayIcon) -> None:
    pystray = drawn(windows)
    seen: list[int] = []

    def change() -> None:
        pystray._while_open = lambda: None
        pystray._message_handlers[PRESS](0, 0)  # the pointer moves over the icon meanwhile
        for text in ("first", "second"):
            windows.show(IconState.ON, "", menu(MenuState(now=0.0, running=text)))
        seen.append(len(drawn(windows)._menus))

    pystray._while_open = change

    assert pystray._message_handlers[PRESS](0, 0) == 7

    assert seen == [0]
    assert [rows[0].text for rows in pystray._menus] == ["second"]


def test_on_windows_the_icon_appears_with_its_menu_and_then_the_balloons_that_came_before(
    windows: PystrayIcon,
) -> None:
    assert show_balloon(windows, "claude-code · shop", "Turn ended")
    assert "visible" not in {name for name, _, _ in drawn(windows)._calls}
    assert not windows.visible

    windows.show(IconState.ATTENTION, "", menu(MenuState(now=0.0)))

    calls = drawn(windows)._calls
    assert [name for name, _, _ in calls] == ["icon", "title", "menu", "visible", "notify"]
    assert calls[-1][1] == ("claude-code · shop", "Turn ended")
    assert windows.visible
    assert show_balloon(windows, "api", "later")
    assert drawn(windows)._calls[-1][:2] == ("notify", ("api", "later"))
    assert not show_balloon(HeadlessIcon("no tray"), "title", "text")


@every("text", ["x" * 500, "🪝" * 500, "a" + "🪝" * 500, "\0\x1b[31m" * 90, ""])
def test_a_tooltip_is_clean_and_as_long_as_windows_takes_it(text: str) -> None:
    fitted = truncate(text, TOOLTIP_LIMIT)

    assert len(fitted.encode("utf-16-le")) <= 2 * TOOLTIP_LIMIT
    assert not {"\x1b", "\0"} & set(fitted)


class Broken(Library):
    """Its loop ends as that of a GTK icon without a notification server, or in a way that nobody knows."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()

        class BrokenIcon(Icon):
            def _run_loop(self) -> None:
                super()._run_loop()
                raise problem

        self.Icon = BrokenIcon


@pytest.mark.parametrize("problem", [RuntimeError("GLib"), OSError("Windows"), KeyError("of no known kind")])
def test_an_icon_that_fails_at_its_end_ends_all_the_same(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    icon = PystrayIcon(Broken(problem), NoClicks(), "linux")
    main = threading.Thread(target=icon.run)
    main.start()
    icon.stop()
    main.join(DEADLINE)

    assert not main.is_alive()
    assert problem.args[0] in caplog.text
