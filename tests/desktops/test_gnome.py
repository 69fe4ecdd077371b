"""GNOME Shell 43 on X11."""

from __future__ import annotations

import json

from desk.wait import wait
from desktops.contract import ASKS, SLOW, SOUNDING, Contract, ask
from desktops.gnome import APP_INDICATOR, Gnome
from desktops.shell import Shell
from live import Live

KEPT = 3  # notifications of one program that the shell keeps


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

    def test_the_icon_comes_when_the_extension_is_turned_on_later(self, running: Gnome, live: Live) -> None:
        running.enable()
        wait(lambda: not running.bus.has_name("org.kde.StatusNotifierWatcher"), SLOW, "there is no tray")
        try:
            live.start()
            assert running.icons() == 0
        finally:
            running.enable(APP_INDICATOR)

        wait(lambda: running.icons() == 1, SLOW, "the icon is drawn")
        live.click("Hooks enabled")
        wait(lambda: not live.switch().enabled, SLOW, "the click counts")

    def test_a_question_that_others_pushed_away_comes_back_and_is_answered(self, desktop: Shell, live: Live) -> None:
        live.configure(ASKS)
        self.appear(desktop, live)
        relay = ask(desktop, live)
        for number in range(KEPT):
            live.relay("claude-code", "Notification", SOUNDING | {"session_id": f"s-{number}"})

        wait(lambda: desktop.sent().count('"Allow"') > 1, SLOW, "the question is sent again")
        desktop.press_button("Allow")

        output, _ = relay.communicate(timeout=SLOW)
        assert json.loads(output)["hookSpecificOutput"]["decision"]["behavior"] == "allow"
