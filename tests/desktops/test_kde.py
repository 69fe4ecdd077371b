"""KDE Plasma 5.27 on X11."""

from __future__ import annotations

from desktops.contract import Contract
from desktops.kde import Kde
from desktops.shell import SIZE
from live import Live


class TestKde(Contract):
    shell = Kde

    def test_each_submenu_is_on_the_screen_the_first_time_it_opens(self, running: Kde, live: Live) -> None:
        self.appear(running, live)

        for label in [row.label for row in live.menu() if row.children]:
            with running.menus.open([label], live.item):
                edges = [box.x + box.width for box in running.screen.popups()]
            assert len(edges) == 2, label
            assert max(edges) <= SIZE[0], label
