"""A state folder that is deleted under a running tray, as the user sees it."""

from __future__ import annotations

from pathlib import Path

from desk import Desk
from desktop.ink import ink
from guarded import DENY, GUARD, approved, at_once, delete
from live import Live

from tray.desktop.artwork import IconState

WHAT = "The state folder was deleted"


def test_the_icon_a_critical_notification_and_the_menu_say_that_the_folder_was_deleted(
    desk: Desk, folder: Path, opened: Path
) -> None:
    live = Live.fresh(desk, folder, configuration=GUARD, starts=False)
    live.script("guard.sh", DENY)
    approved(live)
    live.start()
    shows(desk, live, IconState.ON)

    at_once(live, delete)

    told = desk.wait_notification(lambda one: one.summary == WHAT, 30)
    assert told.urgency == "critical"
    assert "All approvals are lost" in told.body
    shows(desk, live, IconState.CUT_OFF)
    desk.wait(lambda: live.menu()[0].label.startswith(WHAT), what="the menu says it")

    live.click(WHAT)

    desk.wait(opened.exists, what="the whole of it is opened")
    assert str(live.home / "state") in Path(opened.read_text()).read_text()
    shows(desk, live, IconState.ATTENTION)  # the guard waits for its approval
    desk.wait(lambda: not live.menu()[0].label.startswith(WHAT), what="the menu no longer says it")


def shows(desk: Desk, live: Live, state: IconState) -> None:
    desk.wait(lambda: ink(desk, live.item, state), what=f"the icon says {state}")
