"""What waits for a person in the menu: approvals, and requests from a terminal."""

from __future__ import annotations

from every import every
from msgspec.structs import replace

from desktop.menu_parts import CHANGED, NOON, OFF, PENDING, find, labels
from tray.approvals.user_action import UserAction
from tray.desktop.menu.actions import Review, ReviewBatch, ShowIncident
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


REMOVED = replace(CHANGED, digest="removed", removed=True)
GONE = replace(CHANGED, digest="", missing=True)
SETTING = replace(PENDING, key="setting:without_tray", name="without_tray: allow", event="", kind="setting")


@every(
    ("one", "label", "choices"),
    [
        (
            CHANGED,
            "guard · tool_before · changed",
            {"Review": "", "Approve 1a2b3c4d": "approve", "Keep the approved copy": "deny"},
        ),
        (REMOVED, "guard · removed from its file", {"Review": "", "Keep it": "deny", "Revoke it": "approve"}),
        (GONE, "guard · file is gone", {"Review": "", "Revoke it": "revoke"}),
        (replace(GONE, missing=False), "guard · cannot be read", {"Review": "", "Revoke it": "revoke"}),
        (replace(PENDING, digest="", missing=True), "guard · file is missing", {}),
        (SETTING, "Setting: without_tray: allow · new", {"Approve 1a2b3c4d": "approve", "Deny": "deny"}),
    ],
)
def test_each_state_of_an_approval_has_its_own_choices(one: Approval, label: str, choices: dict[str, str]) -> None:
    (row,) = find(MenuState(now=NOON, approvals=(one,)), "approvals").children

    assert (row.label, row.enabled) == (label, bool(choices))
    assert labels(row) == list(choices)
    for child, act in zip(row.children, choices.values(), strict=True):
        digest = "" if act == "revoke" else one.digest
        wanted = UserAction(action=act, key=one.key, digest=digest) if act else Review(one.key, one.digest)
        assert child.action == wanted


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
