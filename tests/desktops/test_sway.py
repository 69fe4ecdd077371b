"""sway 1.7 with waybar 0.9.17 and mako 1.7, on Wayland; of swaync 0.7, whether it says that it may not disturb."""

from __future__ import annotations

import asyncio

import pytest
from desk.wait import wait
from desktops.contract import Contract
from desktops.sway import SERVER, Sway
from notify.parts import states


class TestSway(Contract):
    shell = Sway

    def test_do_not_disturb_of_swaync_is_known_at_once(self, running: Sway, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", running.environment["DBUS_SESSION_BUS_ADDRESS"])

        running.stop(running.mako)
        wait(lambda: not running.bus.has_name(SERVER), what="the bus knows that mako has ended")
        swaync = running.start(["swaync"])
        wait(lambda: running.bus.has_name(SERVER), what="swaync is there")
        try:
            switch = [["swaync-client", option] for option in ("--dnd-on", "--dnd-off")]
            assert asyncio.run(states(running, switch)) == [True, False, True]
        finally:
            running.stop(swaync)
            wait(lambda: not running.bus.has_name(SERVER), what="the bus knows that swaync has ended")
            running.start_server()
