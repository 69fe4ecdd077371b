"""GNOME Shell 43 on X11."""

from __future__ import annotations

from desk.wait import wait
from desktops.contract import SLOW, Contract
from desktops.gnome import Gnome
from desktops.shell import Shell
from live import Live


class TestGnome(Contract):
    shell = Gnome

    def test_a_row_deep_in_the_menu_can_be_clicked_and_a_snooze_survives_a_restart(
        self, desktop: Shell, live: Live
    ) -> None:
        self.appear(desktop, live)

        live.click("Alerts", "Snooze", "1 hour")

        wait(lambda: live.switch().snoozed_until, SLOW, "the snooze is kept")
        assert live.quit() == 0
        self.appear(desktop, live)
        assert any(row.label.startswith("Snoozed until") for row in live.menu("Alerts"))
