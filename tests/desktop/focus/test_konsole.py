"""From a session to its tab of Konsole: real windows with real tabs, on openbox and on KDE's own window manager."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk, wait

from desktop.focus.konsoles import Konsole
from tray.desktop.focus import FocusResult, focus, x11
from tray.desktop.presence import has_keyboard

pytestmark = pytest.mark.skipif(shutil.which("konsole") is None, reason="Konsole is not installed")


@pytest.fixture
def kde() -> Iterator[Desk]:
    """A desk of its own, as KDE's window manager takes the place of openbox."""
    with (
        tempfile.TemporaryDirectory(prefix="kde") as folder,  # short: it has sockets in it
        Desk(Path(folder), panel=None, notifications=None, sound=False) as desk,
    ):
        desk.start(["kwin_x11", "--replace"], {"KDE_FULL_SESSION": "true", "XDG_CURRENT_DESKTOP": "KDE"})
        wait(lambda: manager(desk) == "KWin", what="KWin manages the windows")
        yield desk


def opened(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[Konsole]:
    """Two windows, with three tabs and with two."""
    for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY"):
        monkeypatch.setenv(name, desk.environment[name])
    return [Konsole(desk, 3), Konsole(desk, 2)]


def front_pid(desk: Desk) -> int:
    """The process whose window has the keyboard."""
    found = x11.focused_window(desk.environment)
    return found[1] if found else 0


def manager(desk: Desk) -> str:
    """The name of the window manager."""
    root = desk.run(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"]).stdout.decode().rpartition(" ")[2].strip()
    return desk.run(["xprop", "-id", root, "_NET_WM_NAME"]).stdout.decode().partition('"')[2].rpartition('"')[0]


def goes_to_each_tab(desk: Desk, windows: list[Konsole]) -> None:
    for number in range(3):
        for window in windows:
            tab = window.tabs[number % len(window.tabs)]
            assert focus(tab.pane.place, "", desk.environment) == FocusResult(True)
            wait(lambda window=window: front_pid(desk) == window.pid, what="its window is in front")  # type: ignore[misc]
            wait(lambda tab=tab: tab.is_shown, what="its tab is shown")  # type: ignore[misc]  # Konsole says so later


def test_focus_selects_window_and_tab_under_kdes_window_manager(kde: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_to_each_tab(kde, opened(kde, monkeypatch))


def test_only_the_tab_that_its_window_shows_is_watched(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each time the right tab is found, as under KDE's window manager."""
    windows = opened(desk, monkeypatch)
    goes_to_each_tab(desk, windows)
    first, second, *_ = windows[0].tabs
    focus(second.pane.place, "", desk.environment)
    wait(lambda: front_pid(desk) == windows[0].pid, what="its window is in front")
    desk.run(["xdotool", "key", "shift"])

    assert has_keyboard(second.pane.place, desk.environment) is True
    assert has_keyboard(first.pane.place, desk.environment) is False
    assert not has_keyboard(windows[1].tabs[0].pane.place, desk.environment)
