"""A damaged database as the user meets it: a critical alert, the icon's attention, one review, one click."""

from __future__ import annotations

from pathlib import Path

from damage import damage_table
from desk import Desk
from desk.bubbles import DunstBubbles
from desktop.ink import ink
from e2e.test_main_job import folder, opened
from live import Live, recorded

from tray.app import build_catalog, open_stores
from tray.approvals.consent import Consent
from tray.desktop.artwork import IconState
from tray.model.hook import ApprovalState
from tray.paths import Paths, locate
from tray.store.db import Database

__all__ = ["folder", "opened"]

DAMAGED = "The database was damaged"
SLOW = 60.0  # seconds on a loaded machine
NAMES = ("guard", "second", "edited", "denied", "revoked")
DENY = 'cat >/dev/null; echo \'{"decision":"block","reason":"%s says no"}\''
PAYLOAD = recorded("claude-code", "PreToolUse-Bash")


def decided(live: Live) -> Paths:
    """Every hook decided while no tray runs; then one of the approved scripts is edited."""
    paths = locate(str(live.home))
    paths.prepare()
    kept = open_stores(paths, create=True)
    proposals = build_catalog(paths, kept)
    proposals.refresh()
    consent = Consent(kept.ledger, proposals)
    for one in proposals.states:
        act = consent.deny if one.hook.name == "denied" else consent.approve
        act(one.key, one.digest, "test")
        if one.hook.name == "revoked":
            consent.revoke(one.key, "test")
    assert not any(one.state is ApprovalState.PENDING for one in proposals.states)
    live.script("edited.sh", "exit 0")
    return paths


def damaged(desk: Desk, folder: Path, names: tuple[str, ...] = NAMES, **settings: object) -> Live:
    """A tray on a database whose journal cannot be read."""
    hooks = [{"name": name, "event": "tool_before", "command": f"./{name}.sh"} for name in names]
    live = Live.fresh(desk, folder, configuration={"hooks": hooks, **settings}, starts=False)
    for name in names:
        live.script(f"{name}.sh", DENY % name)
    paths = decided(live)
    damage_table(paths.database, "journal")
    live.start()
    return live


def test_after_damage_one_review_and_one_click_approve_all_unchanged_hooks_again(
    desk: Desk, folder: Path, opened: Path
) -> None:
    live = damaged(desk, folder)
    shown = desk.wait_notification(lambda one: one.summary == DAMAGED, SLOW)
    (aside,) = locate(str(live.home)).state.glob("hooktray.db.damaged-*[0-9]")
    assert shown.urgency == "critical"
    assert shown.body == (
        "All approvals are gone, so no hook runs · 2 hooks are unchanged: one review approves all of them again · "
        f"The file is kept: {aside.name}"
    )
    assert live.states() == dict.fromkeys(NAMES, "pending")
    assert live.relay("claude-code", "PreToolUse", PAYLOAD).stdout == b"", "nothing runs before the click"
    desk.wait(lambda: ink(desk, live.item, IconState.CUT_OFF), SLOW, "the icon asks for attention")
    assert not any("not as Hooktray left it" in one.summary for one in desk.notifications())

    live.click(DAMAGED)
    desk.wait(opened.exists, SLOW, "the review is opened")
    text = Path(opened.read_text()).read_text()
    assert "guard says no" in text
    assert "second says no" in text
    assert not any(f"{name}.sh" in text for name in NAMES[2:])
    desk.wait(lambda: live.menu()[0].label != DAMAGED, SLOW, "the review was seen")

    live.click("Approvals", "2 hooks approved before", "Approve all 2")
    again = {"guard": "approved", "second": "approved"}
    desk.wait(
        lambda: live.states() == dict.fromkeys(NAMES, "pending") | again, SLOW, "both are approved, no other is"
    )
    assert b"guard says no" in live.relay("claude-code", "PreToolUse", PAYLOAD).stdout
    desk.wait(
        lambda: not any(row.label.startswith("2 hooks") for row in live.menu("Approvals")), SLOW, "the menu knows it"
    )
    live.quit()
    live.start()
    assert live.states() == dict.fromkeys(NAMES, "pending") | again
    assert [one.summary for one in desk.notifications()].count(DAMAGED) == 1


def test_the_button_of_the_alert_opens_the_review_whatever_the_file_turns_off(
    desk: Desk, folder: Path, opened: Path
) -> None:
    live = damaged(desk, folder, NAMES[:2], alerts={"information": {"notify": False}})
    shown = desk.wait_notification(lambda one: one.summary == DAMAGED, SLOW)
    assert shown.urgency == "critical"
    assert [one.summary for one in desk.notifications() if "wait" in one.body] == [], "no alert for each hook"

    DunstBubbles(desk.folder, desk.screen).press("Review")

    desk.wait(opened.exists, SLOW, "the review is opened")
    assert "second says no" in Path(opened.read_text()).read_text()
    desk.wait(lambda: live.menu()[0].label != DAMAGED, SLOW, "the review was seen")


def test_damage_that_is_found_in_use_is_critical_and_stays_in_the_first_row(desk: Desk, folder: Path) -> None:
    hooks = [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]
    live = Live.fresh(desk, folder, configuration={"hooks": hooks})
    live.script("guard.sh", DENY % "guard")
    live.approve("guard")

    Database(locate(str(live.home)).database).mark_damaged()
    live.relay("claude-code", "PreToolUse", PAYLOAD)

    shown = desk.wait_notification(lambda one: one.summary == "The database is damaged", SLOW)
    assert shown.urgency == "critical"
    headline = "The database is damaged: quit Hooktray and start it again"
    desk.wait(lambda: live.menu()[0].label == headline, SLOW, "the first row says it")
    assert b"guard says no" in live.relay("claude-code", "PreToolUse", PAYLOAD).stdout, "approved hooks go on"
    live.quit()
    live.start()
    desk.wait(lambda: live.menu()[0].label == DAMAGED, SLOW, "the file was set aside")
    again = "1 hook approved before, unchanged"
    desk.wait(lambda: live.menu("Approvals")[0].label == again, SLOW, "its approval is offered again")
