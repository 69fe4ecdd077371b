"""From a session to its tab of Konsole on KDE's Wayland: a real KWin without a graphics card, and its own scripts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from desk import wait

from desktop.focus.compositors import Kwin, running_kwin
from desktop.focus.konsoles import Konsole, Tab
from tray.desktop import presence
from tray.desktop.focus import FocusResult, focus, kwin
from tray.desktop.wayland_idle import IdleWatch
from tray.notify.alert_gate import Attention

pytestmark = pytest.mark.skipif(
    None in (shutil.which("kwin_wayland"), shutil.which("konsole")), reason="KWin or Konsole is not installed"
)


class FixedIdle(IdleWatch):
    """Stand-in for the watch of the compositor: nobody has pressed a key for so long."""

    def __init__(self, idle: float | None) -> None:
        self._idle = idle

    def seconds(self) -> float | None:
        return self._idle


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kwin]:
    with running_kwin() as started:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", started.environment["DBUS_SESSION_BUS_ADDRESS"])
        yield started


def test_focus_selects_window_and_tab(desktop: Kwin) -> None:
    windows = [Konsole(desktop, 2), Konsole(desktop, 1)]

    for window, number in ((0, 0), (1, 0), (0, 1)):
        tab = windows[window].tabs[number]
        assert focus(tab.pane.place, "", desktop.environment) == FocusResult(True)
        wait(lambda tab=tab: tab.is_shown, what="the tab")  # type: ignore[misc]  # Konsole says so a little later
        assert kwin.focused_pid(desktop.environment) == windows[window].pid


def test_only_the_shown_tab_of_the_window_in_front_is_watched_and_only_while_somebody_is_there(desktop: Kwin) -> None:
    windows = [Konsole(desktop, 2), Konsole(desktop, 1)]
    first, second = windows[0].tabs
    focus(second.pane.place, "", desktop.environment)
    wait(lambda: kwin.focused_pid(desktop.environment) == windows[0].pid, what="its window is in front")

    def look(tab: Tab, idle: float | None) -> Attention:
        return presence.attention(tab.pane.place, 300.0, desktop.environment, FixedIdle(idle))

    assert look(second, 5.0) == Attention(is_looking=True)
    assert [look(tab, 5.0) for tab in (first, windows[1].tabs[0])] == [Attention()] * 2
    assert [look(second, idle) for idle in (None, 61.0, 301.0)] == [Attention(), Attention(), Attention(is_away=True)]
