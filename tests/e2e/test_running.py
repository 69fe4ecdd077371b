"""What a hook wants shown while it runs, on a real tray: there while it runs, gone when it ends."""

from __future__ import annotations

import json
from pathlib import Path

from desk import Desk
from desk.screen import TOOLTIP
from house import PRE_TOOL_USE, House
from live import Live

from tray.desktop.menu.status import STATUS_LIMIT

WORDS = "Linting\u202e your code" + " and more" * 1000
WIDE = 700  # pixels: no tooltip is as wide as that


def test_the_menu_says_what_a_hook_does_just_now(desk: Desk, house: House, tmp_path: Path) -> None:
    script = house.script("lint.sh", f"cat >/dev/null; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done")
    hook = {"type": "command", "command": str(script), "statusMessage": WORDS, "timeout": 60}
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    house.configure({"sources": [{"claude-code": str(settings)}]})
    standing = house.state("lint")
    house.consent.approve(standing.key, standing.digest, "test")
    live = Live(desk, tmp_path / "home")  # the house's own home, where the hook is approved already
    live.start()
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps(PRE_TOOL_USE))
    relay = " ".join(live.relay_argv("claude-code", "PreToolUse"))

    desk.start(["sh", "-c", f"exec {relay} <{payload} >/dev/null"])

    desk.wait(lambda: live.menu()[0].label.startswith("Linting your code and"), what="the menu says what runs")
    tooltip_is_short(desk, live)
    with desk.open_menu([], live.item) as spots:
        assert len(spots[0].row.label) <= STATUS_LIMIT
        (popup,) = desk.screen.popups()
        before = desk.screen.image(popup)
        (tmp_path / "go").touch()
        desk.wait(
            lambda: "last: claude-code wanted a tool" in live.menu()[0].label, what="the menu says what happened"
        )
        desk.wait(lambda: desk.screen.popups() and desk.screen.image(popup) != before, what="it is painted anew")


def tooltip_is_short(desk: Desk, live: Live) -> None:
    """Whatever a hook wants said, it fits beside the pointer."""
    desk.screen.point(*desk.icon_at(live.item))
    (box,) = desk.wait(lambda: desk.screen.popups(TOOLTIP), what="the tooltip is shown")
    assert 20 < box.width < WIDE
    desk.screen.point(10, 200)
    desk.wait(lambda: not desk.screen.popups(TOOLTIP), what="it goes")
