"""The menu as a value: rows, order, words, and that nothing foreign can spoil it."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tray.desktop.menu import (
    Action,
    Approval,
    Approve,
    Deny,
    Dismiss,
    Grant,
    Item,
    Kind,
    MenuState,
    Mute,
    OpenPage,
    Pause,
    Problem,
    Quit,
    Reason,
    Request,
    Resume,
    Review,
    Revoke,
    Toggle,
    menu,
)
from tray.desktop.words import clock, mark
from tray.model.decision import Record, Verdict
from tray.model.hook import State

NOON = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
RECORD = Record(
    id="r1",
    at=NOON,
    agent="claude-code",
    session="s",
    project="shop",
    event="PreToolUse",
    kind="tool_before",
    verdict=Verdict.DENY,
    reason="no",
    ms=4.0,
)
PENDING = Approval(
    key="hooktray:/h.yaml#guard", name="guard", event="tool_before", state=State.PENDING, digest="1a2b3c4d5e"
)
CHANGED = replace(PENDING, state=State.CHANGED)
LABEL_LIMIT = 120  # characters that no row exceeds
OFF = Request(id="q1", what="Switch hooks off", who="claude-code, pid 812")


def every(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from every(item.children)


def find(state: MenuState, key: str) -> Item:
    return next(item for item in every(menu(state)) if item.id == key)


def labels(item: Item) -> list[str]:
    return [child.label for child in item.children if child.kind is not Kind.SEPARATOR]


def test_the_rows_stand_in_the_order_that_the_user_knows() -> None:
    rows = menu(MenuState(now=NOON, status="On, 3 hooks"))

    assert [row.label for row in rows if row.kind is not Kind.SEPARATOR] == [
        "On, 3 hooks",
        "Hooks enabled",
        "Pause",
        "Recent decisions",
        "Approvals",
        "Open page",
        "Mute sounds",
        "Quit",
    ]
    assert [row.action for row in rows if row.action] == [Toggle(), OpenPage(), Mute(), Quit()]


def test_a_broken_file_is_told_by_name_place_and_cause_and_a_click_tells_the_rest() -> None:
    problem = (
        "/home/me/.config/hooktray/hooktray.yaml:2:5: hooks[0].event: unknown event `tool_befor`\n  write one of …"
    )
    row = find(MenuState(now=NOON, enabled=False, status="On", problem=problem), "status")

    assert row.label == "hooktray.yaml:2:5: unknown event `tool_befor`"
    assert (row.action, row.enabled) == (Problem(), True)


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        ("hooktray.yaml:3:1: unknown key", "hooktray.yaml:3:1: unknown key"),
        ("/a: b/c.yaml:3:1: when_down: expected", "c.yaml:3:1: expected"),
        ("C:\\Users\\me\\hooktray.yaml:1:1: not a mapping", "hooktray.yaml:1:1: not a mapping"),
        ("/etc/hooktray.yaml: cannot be read: Permission denied", "hooktray.yaml: cannot be read: Permission denied"),
        ("/x/hooktray.yaml:1:1: " + "long " * 40, "hooktray.yaml:1:1: long long long long long long long long…"),
        ("/x/y/", "(no name)"),
    ],
)
def test_a_problem_is_shown_without_folders_and_key_paths(problem: str, shown: str) -> None:
    label = find(MenuState(now=NOON, problem=problem), "status").label

    assert label == shown
    assert len(label) <= 60


def test_the_first_row_says_what_is_not_as_usual() -> None:
    paused = MenuState(now=NOON, status="claude-code · Stop", paused_until=NOON + 600)

    assert find(paused, "status").label == "Hooks are paused until 12:10"
    assert find(replace(paused, enabled=False), "status").label == "Hooks are off"
    assert find(replace(paused, paused_until=None), "status").label == "claude-code · Stop"
    assert find(replace(paused, paused_until=None, running="Linting"), "status").label == "Linting"
    assert find(replace(paused, running="Linting"), "status").label == "Hooks are paused until 12:10"
    assert find(MenuState(now=NOON), "status").label == "Hooktray"
    assert find(paused, "status").action is None


def test_the_check_marks_say_what_is_so() -> None:
    state = MenuState(now=NOON, enabled=False, muted=True)

    assert not find(state, "enabled").checked
    assert find(state, "mute").checked
    assert not find(state, "pause").enabled


def test_a_pause_shows_its_end_and_can_be_ended() -> None:
    state = MenuState(now=NOON, paused_until=NOON + 2 * 3600 + 300)

    assert find(state, "pause").label == "Paused until 14:05"
    assert labels(find(state, "pause")) == ["Resume", "30 minutes", "1 hour", "Until tomorrow"]
    assert find(state, "pause/resume").action == Resume()
    assert find(state, "pause/tomorrow").action == Pause(None)
    assert find(state, "pause/30m").action == Pause(1800)


def test_a_pause_that_is_over_is_not_shown() -> None:
    pause = find(MenuState(now=NOON, paused_until=NOON), "pause")

    assert (pause.label, labels(pause)) == ("Pause", ["30 minutes", "1 hour", "Until tomorrow"])


def test_a_recent_row_says_verdict_agent_event_project_and_time() -> None:
    row = find(MenuState(now=NOON, recent=(RECORD,)), "recent/r1")

    assert row.label == "✕  claude-code · PreToolUse · shop · 12:00"
    assert row.action == Reason("r1")


def test_at_most_ten_recent_rows_are_shown_newest_first() -> None:
    records = tuple(replace(RECORD, id=f"r{number}") for number in range(30))

    shown = find(MenuState(now=NOON, recent=records), "recent").children

    assert [row.id for row in shown] == [f"recent/r{number}" for number in range(10)]


@pytest.mark.parametrize(
    ("record", "sign"),
    [
        (RECORD, "✕"),
        (replace(RECORD, verdict=Verdict.ASK), "?"),
        (replace(RECORD, verdict=Verdict.ALLOW), "✓"),
        (replace(RECORD, verdict=Verdict.ABSTAIN), "·"),
        (replace(RECORD, verdict=Verdict.ALLOW, rewrites=("input",)), "✎"),
        (replace(RECORD, verdict=Verdict.ABSTAIN, problem="not JSON"), "!"),
        (replace(RECORD, verdict=Verdict.ABSTAIN, hooks=({"name": "g", "status": "timed_out"},)), "!"),
    ],
)
def test_each_verdict_has_a_mark_of_its_own(record: Record, sign: str) -> None:
    assert mark(record) == sign


def test_an_approval_offers_review_approve_with_the_digest_and_deny() -> None:
    state = MenuState(now=NOON, approvals=(PENDING, replace(PENDING, key="b", name="lint", state=State.CHANGED)))

    new, changed = find(state, "approvals").children

    assert find(state, "approvals").label == "Approvals (2)"
    assert (new.label, changed.label) == ("guard · tool_before · new", "lint · tool_before · changed")
    assert labels(new) == ["Review", "Approve 1a2b3c4d", "Deny"]
    assert [child.action for child in new.children] == [
        Review(PENDING.key, PENDING.digest),
        Approve(PENDING.key, PENDING.digest),
        Deny(PENDING.key, PENDING.digest),
    ]


def approval(one: Approval) -> Item:
    (row,) = find(MenuState(now=NOON, approvals=(one,)), "approvals").children
    return row


def choices(one: Approval) -> list[tuple[str, Action | None]]:
    return [(child.label, child.action) for child in approval(one).children]


def test_a_changed_hook_offers_to_keep_the_approved_copy() -> None:
    assert choices(CHANGED) == [
        ("Review", Review(PENDING.key, PENDING.digest)),
        ("Approve 1a2b3c4d", Approve(PENDING.key, PENDING.digest)),
        ("Keep the approved copy", Deny(PENDING.key, PENDING.digest)),
    ]


def test_a_hook_that_was_taken_out_of_its_file_can_be_kept_or_revoked() -> None:
    removed = replace(CHANGED, digest="removed", removed=True)

    assert approval(removed).label == "guard · removed from its file"
    assert choices(removed) == [
        ("Review", Review(PENDING.key, "removed")),
        ("Keep it", Deny(PENDING.key, "removed")),
        ("Revoke it", Approve(PENDING.key, "removed")),
    ]


def test_an_approved_hook_whose_file_is_gone_can_be_revoked() -> None:
    gone = replace(CHANGED, digest="", missing=True)

    assert approval(gone).label == "guard · file is gone"
    assert choices(gone) == [("Review", Review(PENDING.key, "")), ("Revoke it", Revoke(PENDING.key))]
    assert approval(replace(gone, missing=False)).label == "guard · cannot be read"


def test_a_new_hook_without_its_file_is_shown_and_cannot_be_approved() -> None:
    row = approval(replace(PENDING, digest="", missing=True))

    assert (row.label, row.enabled, row.children) == ("guard · file is missing", False, ())


def test_a_setting_names_itself_and_has_no_bytes_to_review() -> None:
    setting = replace(PENDING, key="setting:when_down", name="when_down: allow", event="", kind="setting")

    assert approval(setting).label == "Setting: when_down: allow · new"
    assert [label for label, _ in choices(setting)] == ["Approve 1a2b3c4d", "Deny"]


def test_requests_stand_below_the_approvals_and_only_the_last_five_are_shown() -> None:
    requests = tuple(replace(OFF, id=f"q{turn}", what=f"Pause for {turn}m") for turn in range(20))

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


def test_a_request_from_the_command_line_can_be_allowed_or_dismissed() -> None:
    (row,) = find(MenuState(now=NOON, requests=(OFF,)), "approvals").children

    assert row.label == "Switch hooks off · asked by claude-code, pid 812"
    assert [child.action for child in row.children] == [Grant("q1"), Dismiss("q1")]


def test_empty_lists_say_so() -> None:
    state = MenuState(now=NOON)

    assert labels(find(state, "recent")) == ["No decisions yet"]
    assert labels(find(state, "approvals")) == ["Nothing waits for you"]
    assert find(state, "approvals").label == "Approvals"


def test_the_day_is_named_when_it_is_not_today() -> None:
    assert clock(NOON, NOON) == "12:00"
    assert clock(NOON + 86400, NOON) == "05 Mar 12:00"


def test_text_from_an_agent_cannot_break_a_row() -> None:
    hostile = replace(RECORD, agent="a\nb\x1b[31m", project="\u202egpj.exe")

    assert find(MenuState(now=NOON, recent=(hostile,)), "recent/r1").label == "✕  a b · PreToolUse · gpj.exe · 12:00"


texts = st.text(max_size=20) | st.text(min_size=1, max_size=8).map(lambda text: text * 150)
moments = st.floats(allow_nan=True, allow_infinity=True) | st.none()
records = st.builds(
    replace,
    st.just(RECORD),
    id=texts,
    at=st.floats(),
    agent=texts,
    event=texts,
    project=texts,
    verdict=st.sampled_from(Verdict),
    problem=texts,
)
approvals = st.builds(
    Approval,
    key=texts,
    name=texts,
    event=texts,
    state=st.sampled_from(State),
    digest=texts,
    kind=texts,
    removed=st.booleans(),
    missing=st.booleans(),
)
states = st.builds(
    MenuState,
    now=st.floats(),
    enabled=st.booleans(),
    paused_until=moments,
    muted=st.booleans(),
    status=texts,
    problem=texts,
    recent=st.lists(records, max_size=12).map(tuple),
    approvals=st.lists(approvals, max_size=22).map(tuple),
    requests=st.lists(st.builds(Request, id=texts, what=texts, who=texts), max_size=8).map(tuple),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(states)
def test_any_state_gives_a_sound_menu(state: MenuState) -> None:
    rows = menu(state)
    everything = list(every(rows))

    assert rows == menu(state)
    assert len(rows) <= 10
    assert len({item.id for item in everything}) == len(everything)
    for item in everything:
        assert bool(item.label) is (item.kind is not Kind.SEPARATOR)
        assert len(item.label) <= LABEL_LIMIT
        assert not any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in item.label)
        assert bool(item.children) is (item.kind is Kind.SUBMENU)
        assert bool(item.action) is (item.kind in {Kind.ACTION, Kind.CHECK})
