"""A damaged database as the user meets it: a critical alert, the icon's attention, one review, one click."""

from __future__ import annotations

from pathlib import Path

from damage import damage_table
from desk import Desk
from desk.bubbles import DunstBubbles
from desktop.ink import ink
from guarded import approved
from live import Live, recorded

from tray.desktop.artwork import IconState
from tray.paths import locate
from tray.store.db import Database

DAMAGED = "The database was damaged"
NAMES = ("guard", "second", "edited")
DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"%s says no"}\''
PAYLOAD = recorded("claude-code", "PreToolUse-Bash")


def damaged(desk: Desk, folder: Path) -> Live:
    """A tray on a database whose journal cannot be read; its file shows no information."""
    hooks = [{"name": name, "event": "tool_before", "command": f"./{name}.sh"} for name in NAMES]
    settings = {"hooks": hooks, "alerts": {"information": {"notify": False}}}
    live = Live.fresh(desk, folder, configuration=settings, starts=False)
    for name in NAMES:
        live.script(f"{name}.sh", DENY % name)
    approved(live)
    live.script("edited.sh", "exit 0")
    damage_table(locate(str(live.home)).database, "journal")
    live.start()
    return live


def test_after_damage_one_review_of_the_source_approves_all_again(desk: Desk, folder: Path, opened: Path) -> None:
    live = damaged(desk, folder)
    shown = desk.wait_notification(lambda one: one.summary == DAMAGED)
    (aside,) = locate(str(live.home)).state.glob("hooktray.db.damaged-*[0-9]")
    assert shown.urgency == "critical"
    assert shown.body == (
        "All approvals are lost: each call that a hook guarded is asked about or denied · "
        f"Approve the hooks of each source again under Approvals · The file is kept: {aside.name}"
    )
    assert live.states() == dict.fromkeys(NAMES, "pending")
    assert [one.summary for one in desk.notifications() if "wait" in one.body] == [], "no alert for each hook"
    desk.wait(lambda: ink(desk, live.item, IconState.CUT_OFF), what="the icon asks for attention")

    DunstBubbles(desk.folder, desk.screen).press("Review")
    desk.wait(opened.exists, what="what happened is opened")
    text = Path(opened.read_text()).read_text()
    assert aside.name in text
    assert f"{len(NAMES)} hooks of {live.config} wait for you." in text
    desk.wait(lambda: live.menu()[0].label != DAMAGED, what="it was seen")

    live.click("Approvals", f"{len(NAMES)} hooks of", f"Approve all {len(NAMES)}")
    desk.wait(lambda: live.states() == dict.fromkeys(NAMES, "approved"), what="all are approved")
    assert b"guard says no" in live.relay("claude-code", "PreToolUse", PAYLOAD).stdout
    live.quit()
    live.start()
    assert live.states() == dict.fromkeys(NAMES, "approved")
    told = [one.summary for one in desk.notifications()]
    assert told.count(DAMAGED) == 1
    assert not any("not as Hooktray left it" in one for one in told)


def test_damage_that_another_process_finds_ends_in_an_empty_database_at_once(desk: Desk, folder: Path) -> None:
    hooks = [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]
    live = Live.fresh(desk, folder, configuration={"hooks": hooks})
    live.script("guard.sh", DENY % "guard")
    live.approve("guard")
    desk.clear_notifications()

    Database(locate(str(live.home)).database).mark_damaged()

    shown = desk.wait_notification(lambda one: one.summary == DAMAGED)
    assert shown.urgency == "critical"
    desk.wait(lambda: live.menu()[0].label == DAMAGED, what="the first row shows it")
    assert live.states() == {"guard": "pending"}
    assert b'"ask"' in live.relay("claude-code", "PreToolUse", PAYLOAD).stdout
    assert [one.summary for one in desk.notifications()].count(DAMAGED) == 1
