"""GNOME Shell 43 on X11."""

from __future__ import annotations

from desk.wait import wait
from desktops.contract import ASKS, SOUNDING, Contract, answer_question, ask
from desktops.gnome import APP_INDICATOR, Gnome
from desktops.shell import Shell
from live import Live

from tray.notify.server import GNOME_LIMIT


def questions(desktop: Shell) -> list[int]:
    """The ids of those that are open."""
    return [number for number, sent in desktop.open_notifications().items() if '"Allow"' in sent]


class TestGnome(Contract):
    shell = Gnome

    def test_a_row_deep_in_the_menu_can_be_clicked_and_a_snooze_survives_a_restart(
        self, desktop: Shell, live: Live
    ) -> None:
        self.appear(desktop, live)

        live.click("Alerts", "Snooze", "1 hour")

        wait(lambda: live.switch().snoozed_until, what="the snooze is kept")
        assert live.quit() == 0
        self.appear(desktop, live)
        assert any(row.label.startswith("Snoozed until") for row in live.menu("Alerts"))

    def test_the_icon_comes_when_the_extension_is_turned_on_later(self, running: Gnome, live: Live) -> None:
        try:
            running.enable()
            wait(lambda: not running.bus.has_name("org.kde.StatusNotifierWatcher"), what="there is no tray")
            live.start()
            assert running.icons() == 0
        finally:
            running.enable(APP_INDICATOR)

        wait(lambda: running.icons() == 1, what="the icon is drawn")
        live.click("Hooks enabled")
        wait(lambda: not live.switch().enabled, what="the click counts")

    def test_a_question_that_the_shell_drops_is_shown_again_and_answered(self, desktop: Shell, live: Live) -> None:
        live.configure(ASKS)
        self.appear(desktop, live)
        relay = ask(desktop, live)
        (dropped,) = questions(desktop)
        for number in range(GNOME_LIMIT):
            live.relay("claude-code", "Notification", SOUNDING | {"session_id": f"s-{number}"})

        wait(lambda: questions(desktop) not in ([], [dropped]), what="the question is sent again under another id")

        assert answer_question(desktop, relay, "Allow") == "allow"
