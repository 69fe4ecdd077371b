"""From a session to its tab of Konsole: real windows with real tabs, on openbox and on KDE's own window manager."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk, wait

from desktop.focus.konsoles import Konsole, Tab
from desktop.focus.terminals import LONG
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
        wait(lambda: manager(desk) == "KWin", LONG, "KWin manages the windows")
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


def wrong_turns(desk: Desk, windows: list[Konsole]) -> list[tuple[Tab, FocusResult]]:
    """Of twenty, those that did not end in the right tab of the right window."""
    dice = random.Random(20)
    wrong = []
    for _ in range(20):
        window = dice.choice(windows)
        tab = dice.choice(window.tabs)
        result = focus(tab.pane.place, "", desk.environment)
        wait(lambda window=window: front_pid(desk) == window.pid, LONG, "its window is in front")  # type: ignore[misc]
        wait(lambda tab=tab: tab.is_shown, LONG, "its tab is shown")  # type: ignore[misc]  # Konsole says so a little later
        if result != FocusResult(True):
            wrong.append((tab, result))
    return wrong


def test_twenty_times_of_twenty_the_right_tab_of_the_right_window(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrong_turns(desk, opened(desk, monkeypatch)) == []


def test_the_same_under_kdes_window_manager(kde: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong_turns(kde, opened(kde, monkeypatch)) == []


def test_only_the_tab_that_its_window_shows_is_watched(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = opened(desk, monkeypatch)
    first, second, *_ = windows[0].tabs
    focus(second.pane.place, "", desk.environment)
    wait(lambda: front_pid(desk) == windows[0].pid, LONG, "its window is in front")
    desk.run(["xdotool", "key", "shift"])

    assert has_keyboard(second.pane.place, desk.environment) is True
    assert has_keyboard(first.pane.place, desk.environment) is False
    assert not has_keyboard(windows[1].tabs[0].pane.place, desk.environment)
