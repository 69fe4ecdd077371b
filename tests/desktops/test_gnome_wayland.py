"""GNOME Shell 43 with AppIndicator 46, on Wayland."""

from __future__ import annotations

import pytest
from desk.wait import wait
from desktops.contract import Contract
from desktops.gnome_wayland import GnomeWayland

from tray.desktop.presence import idle_seconds


class TestGnomeWayland(Contract):
    shell = GnomeWayland

    def test_how_long_the_user_was_away_is_known_from_the_shell(
        self, running: GnomeWayland, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", running.environment["DBUS_SESSION_BUS_ADDRESS"])

        def idle() -> float:
            found = idle_seconds(running.environment)
            assert found is not None
            return found

        wait(lambda: idle() > 2, what="nobody is there")

        def is_back() -> bool:
            running.screen.point(40, 40)
            return idle() < 2

        wait(is_back, what="somebody is there")
