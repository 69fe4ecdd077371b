"""What waits for a person in the menu: approvals, and requests from a terminal."""

from __future__ import annotations

from msgspec.structs import replace

from desktop.menu_parts import CHANGED, NOON, OFF, PENDING, find, labels
from tray.approvals.user_action import UserAction
from tray.desktop.menu.actions import Action, Review, ReviewBatch, ShowIncident
from tray.desktop.menu.items import Item
from tray.desktop.menu.state import Approval, MenuBatch, MenuState
from tray.model.hook import ApprovalState


def test_an_approval_offers_review_approve_with_the_digest_and_deny() -> None:
    state = MenuState(
        now=NOON, approvals=(PENDING, replace(PENDING, key="b", name="lint", state=ApprovalState.CHANGED))
    )

    new, changed = find(state, "approvals").children

    assert find(state, "approvals").label == "Approvals (2)"
    assert (new.label, changed.label) == ("guard · tool_before · new", "lint · tool_before · changed")
    assert labels(new) == ["Review", "Approve 1a2b3c4d", "Deny"]
    assert [child.action for child in new.children] == [
        Review(PENDING.key, PENDING.digest),
        UserAction(action="approve", key=PENDING.key, digest=PENDING.digest),
        UserAction(action="deny", key=PENDING.key, digest=PENDING.digest),
    ]


def approval(one: Approval) -> Item:
    (row,) = find(MenuState(now=NOON, approvals=(one,)), "approvals").children
    return row


def choices(one: Approval) -> list[tuple[str, Action | None]]:
    return [(child.label, child.action) for child in approval(one).children]


def test_imported_hooks_and_those_of_one_file_are_reviewed_and_approved_in_one_row_above_their_own() -> None:
    batch = MenuBatch(number=2, digest="9f8e7d6c5b", label="Approve all 2 (9f8e7d6c)")
    other = replace(PENDING, key="hooktray:/h.yaml#new", name="new")
    state = MenuState(now=NOON, approvals=(replace(PENDING, imported=True), other), batches=(batch,))

    assert labels(find(state, "approvals")) == [
        "2 imported hooks, unchanged",
        "guard · tool_before · imported",
        "new · tool_before · new",
    ]
    assert [row.action for row in find(state, "approvals/batch").children] == [
        ReviewBatch("9f8e7d6c5b"),
        UserAction(action="batch", digest="9f8e7d6c5b"),
    ]
    other_batch = find(replace(state, batches=(replace(batch, digest="1a"),)), "approvals/batch")
    assert find(state, "approvals/batch").children[1].id != other_batch.children[1].id, (
        "no old click approves another"
    )
    of_file = replace(batch, source="/h/hooktray.yaml")
    assert labels(find(replace(state, batches=(of_file,)), "approvals"))[0] == "2 hooks of hooktray.yaml"


def test_damage_of_the_database_is_the_first_row_and_opens_what_happened() -> None:
    row = find(MenuState(now=NOON, problem="h.yaml:1:1: bad", incident="The database was damaged"), "status")

    assert (row.label, row.action) == ("The database was damaged", ShowIncident())


def test_a_changed_hook_offers_to_keep_the_approved_copy() -> None:
    assert choices(CHANGED) == [
        ("Review", Review(PENDING.key, PENDING.digest)),
        ("Approve 1a2b3c4d", UserAction(action="approve", key=PENDING.key, digest=PENDING.digest)),
        ("Keep the approved copy", UserAction(action="deny", key=PENDING.key, digest=PENDING.digest)),
    ]


def test_a_hook_that_was_taken_out_of_its_file_can_be_kept_or_revoked() -> None:
    removed = replace(CHANGED, digest="removed", removed=True)

    assert approval(removed).label == "guard · removed from its file"
    assert choices(removed) == [
        ("Review", Review(PENDING.key, "removed")),
        ("Keep it", UserAction(action="deny", key=PENDING.key, digest="removed")),
        ("Revoke it", UserAction(action="approve", key=PENDING.key, digest="removed")),
    ]


def test_an_approved_hook_whose_file_is_gone_can_be_revoked() -> None:
    gone = replace(CHANGED, digest="", missing=True)

    assert approval(gone).label == "guard · file is gone"
    assert choices(gone) == [
        ("Review", Review(PENDING.key, "")),
        ("Revoke it", UserAction(action="revoke", key=PENDING.key)),
    ]
    assert approval(replace(gone, missing=False)).label == "guard · cannot be read"


def test_a_new_hook_without_its_file_is_shown_and_cannot_be_approved() -> None:
    row = approval(replace(PENDING, digest="", missing=True))

    assert (row.label, row.enabled, row.children) == ("guard · file is missing", False, ())


def test_a_setting_names_itself_and_has_no_bytes_to_review() -> None:
    setting = replace(PENDING, key="setting:without_tray", name="without_tray: allow", event="", kind="setting")

    assert approval(setting).label == "Setting: without_tray: allow · new"
    assert [label for label, _ in choices(setting)] == ["Approve 1a2b3c4d", "Deny"]


def test_requests_stand_below_the_approvals_and_only_the_last_five_are_shown() -> None:
    requests = tuple(replace(OFF, id=f"q{turn}", summary=f"Pause for {turn}m") for turn in range(20))

    rows = find(MenuState(now=NOON, approvals=(PENDING,), requests=requests), "approvals")

    assert rows.label == "Approvals (21)"
    assert [row.id.split("/")[1] for row in rows.children] == ["ledger", *["request"] * 5, "earlier"]
    assert labels(rows)[5:] == ["Pause for 19m · asked by claude-code, pid 812", "And 15 earlier requests"]


def test_more_approvals_than_fit_do_not_hide_the_requests() -> None:
    approvals = tuple(replace(PENDING, key=f"k{turn}") for turn in range(25))

    rows = find(MenuState(now=NOON, approvals=approvals, requests=(OFF,)), "approvals")

    assert labels(rows)[20:] == [
        "And 5 more: see `hooktray list`",
        "Switch hooks off · asked by claude-code, pid 812",
    ]


def test_other_bytes_are_another_row_so_that_an_old_click_cannot_approve_them() -> None:
    before, after = (
        find(MenuState(now=NOON, approvals=(one,)), "approvals").children[0]
        for one in (PENDING, replace(PENDING, digest="ffff0000"))
    )

    assert before.id == after.id
    assert not {child.id for child in before.children} & {child.id for child in after.children}


def test_a_request_is_allowed_or_dismissed_and_what_was_done_at_a_terminal_undone_or_kept() -> None:
    done = replace(OFF, summary="Hooks are off", requester="a terminal", is_undo=True)

    rows = find(MenuState(now=NOON, requests=(OFF, done)), "approvals").children

    assert {row.label: labels(row) for row in rows} == {
        "Switch hooks off · asked by claude-code, pid 812": ["Allow", "Dismiss"],
        "Hooks are off · done in a terminal": ["Undo", "Keep"],
    }
    assert [child.action for row in rows for child in row.children] == [
        UserAction(action="allow", key="q1"),
        UserAction(action="dismiss", key="q1"),
    ] * 2
