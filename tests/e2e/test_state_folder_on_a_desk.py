"""A state folder that is deleted under a running tray, as the user sees it."""

from __future__ import annotations

import shutil
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
    assert live.menu()[0].label.startswith(WHAT)

    live.click(WHAT)

    desk.wait(opened.exists, what="the whole of it is opened")
    assert str(live.home / "state") in Path(opened.read_text()).read_text()
    shows(desk, live, IconState.ATTENTION)  # the guard waits for its approval
    assert not live.menu()[0].label.startswith(WHAT)


def test_a_second_start_after_the_deletion_gives_no_second_icon(desk: Desk, folder: Path) -> None:
    live = Live.fresh(desk, folder, configuration=GUARD)
    shows(desk, live, IconState.ATTENTION)  # the guard waits for its approval
    (live.home / "state.lock").unlink()

    shutil.rmtree(live.home / "state", ignore_errors=True)
    second = desk.start(live.argv("run"))

    both = (live.process, second)
    desk.wait(lambda: sum(one.poll() is None for one in both) == 1 and live.is_running(), what="one of them lives")
    living = next(one for one in both if one.poll() is None)
    desk.wait(lambda: desk.items() == [desk.wait_item(living.pid)], what="one icon is there, of the one that lives")


def shows(desk: Desk, live: Live, state: IconState) -> None:
    desk.wait(lambda: ink(desk, live.item, state), what=f"the icon says {state}")
