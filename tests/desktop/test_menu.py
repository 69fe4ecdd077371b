"""The menu as a value: rows, order, words, and that nothing foreign can spoil it."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tray.desktop.labels import SIGNS, clock
from tray.desktop.menu import (
    Action,
    AlertsState,
    AnswerQuestion,
    ApplyConnection,
    Approval,
    Approve,
    ApproveBatch,
    Deny,
    DismissRequest,
    GrantRequest,
    Item,
    ItemKind,
    MenuAgent,
    MenuBatch,
    MenuHook,
    MenuOptions,
    MenuQuestion,
    MenuRequest,
    MenuState,
    PartialPause,
    PauseHooks,
    ProbeAgent,
    QuitTray,
    ResumeHooks,
    Review,
    ReviewBatch,
    ReviewConnection,
    Revoke,
    SetAlertClass,
    ShowProblem,
    ShowReason,
    StartAtLogin,
    SwitchHook,
    ToggleSwitch,
    menu,
)
from tray.model.decision import Record, Verdict
from tray.model.hook import ApprovalState
from tray.settings import CLASSES

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
    key="hooktray:/h.yaml#guard", name="guard", event="tool_before", state=ApprovalState.PENDING, digest="1a2b3c4d5e"
)
CHANGED = replace(PENDING, state=ApprovalState.CHANGED)
LABEL_LIMIT = 120  # characters that no row exceeds
CLAUDE = MenuAgent(agent="claude-code", name="Claude Code", installed=True, connected=True)
OFF = MenuRequest(id="q1", summary="Switch hooks off", requester="claude-code, pid 812")


def every(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from every(item.children)


def find(state: MenuState, key: str) -> Item:
    return next(item for item in every(menu(state)) if item.id == key)


def labels(item: Item) -> list[str]:
    return [child.label for child in item.children if child.kind is not ItemKind.SEPARATOR]


def test_the_rows_stand_in_the_order_that_the_user_knows() -> None:
    rows = menu(MenuState(now=NOON))

    assert [row.label for row in rows if row.kind is not ItemKind.SEPARATOR] == [
        "No event yet",
        "Hooks enabled",
        "Pause",
        "Recent decisions",
        "Needs you",
        "Approvals",
        "Alerts",
        "Settings",
        "Quit",
    ]
    assert [row.action for row in rows if row.action] == [ToggleSwitch(), QuitTray()]


def test_a_broken_file_is_told_by_name_place_and_cause_and_a_click_tells_the_rest() -> None:
    problem = (
        "/home/me/.config/hooktray/hooktray.yaml:2:5: hooks[0].event: unknown event `tool_befor`\n  write one of …"
    )
    row = find(MenuState(now=NOON, enabled=False, problem=problem), "status")

    assert row.label == "hooktray.yaml:2:5: unknown event `tool_befor`"
    assert (row.action, row.enabled) == (ShowProblem(), True)


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        ("hooktray.yaml:3:1: unknown key", "hooktray.yaml:3:1: unknown key"),
        ("/a: b/c.yaml:3:1: without_tray: expected", "c.yaml:3:1: expected"),
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
    paused = MenuState(now=NOON, paused_until=NOON + 600, recent=(RECORD,), active_agents=1)

    assert find(paused, "status").label == "Hooks are paused until 12:10"
    assert find(replace(paused, enabled=False), "status").label == "Hooks are off"
    assert find(replace(paused, paused_until=None, running="Linting"), "status").label == "Linting"
    assert find(replace(paused, running="Linting"), "status").label == "Hooks are paused until 12:10"
    assert find(MenuState(now=NOON), "status").label == "No event yet"
    assert find(paused, "status").action is None


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (replace(RECORD, kind="turn_end", at=NOON - 12), "3 agents · last: claude-code ended a turn 12 s ago"),
        (replace(RECORD, kind="tool_before", at=NOON - 90), "3 agents · last: claude-code wanted a tool 1 min ago"),
        (replace(RECORD, kind="other", event="Setup"), "3 agents · last: claude-code Setup just now"),
    ],
)
def test_the_first_row_says_how_many_agents_there_are_and_what_came_last(record: Record, shown: str) -> None:
    state = MenuState(now=NOON, active_agents=3, recent=(record,))

    assert find(state, "status").label == shown
    assert find(replace(state, active_agents=1, failing_hooks=2), "status").label.startswith(
        "1 agent · 2 hooks in trouble · last:"
    )
    assert "1 decision not written down" in find(replace(state, dropped_rows=1), "status").label


def test_the_check_marks_say_what_is_so() -> None:
    state = MenuState(now=NOON, enabled=False, muted=True)

    assert not find(state, "enabled").checked
    assert find(state, "mute").checked
    assert not find(state, "pause").enabled


def test_a_pause_shows_its_end_and_can_be_ended() -> None:
    state = MenuState(now=NOON, paused_until=NOON + 2 * 3600 + 300)

    assert find(state, "pause").label == "Paused until 14:05"
    assert labels(find(state, "pause")) == ["Resume", "30 minutes", "1 hour", "Until tomorrow"]
    assert find(state, "pause/resume").action == ResumeHooks()
    assert find(state, "pause/tomorrow").action == PauseHooks(None)
    assert find(state, "pause/30m").action == PauseHooks(1800)


def test_a_pause_that_is_over_is_not_shown() -> None:
    pause = find(MenuState(now=NOON, paused_until=NOON), "pause")

    assert (pause.label, labels(pause)) == ("Pause", ["30 minutes", "1 hour", "Until tomorrow"])


def test_a_recent_row_says_verdict_agent_project_event_and_age() -> None:
    row = find(MenuState(now=NOON, recent=(RECORD,)), "recent/r1")

    assert row.label == "✕  claude-code · shop · PreToolUse · just now"
    assert row.action == ShowReason("r1")


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
    assert SIGNS[record.label] == sign


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
        Approve(PENDING.key, PENDING.digest),
        Deny(PENDING.key, PENDING.digest),
    ]


def approval(one: Approval) -> Item:
    (row,) = find(MenuState(now=NOON, approvals=(one,)), "approvals").children
    return row


def choices(one: Approval) -> list[tuple[str, Action | None]]:
    return [(child.label, child.action) for child in approval(one).children]


def test_hooks_approved_before_are_reviewed_and_approved_in_one_row_above_their_own() -> None:
    batch = MenuBatch(number=2, digest="9f8e7d6c5b", label="Approve all 2 (9f8e7d6c)")
    other = replace(PENDING, key="hooktray:/h.yaml#new", name="new")
    state = MenuState(now=NOON, approvals=(replace(PENDING, approved_before=True), other), batch=batch)

    assert labels(find(state, "approvals")) == [
        "2 hooks approved before, unchanged",
        "guard · tool_before · approved before",
        "new · tool_before · new",
    ]
    assert [row.action for row in find(state, "approvals/batch").children] == [
        ReviewBatch(),
        ApproveBatch("9f8e7d6c5b"),
    ]
    ids = [
        find(replace(state, batch=one), "approvals/batch").children[1].id
        for one in (batch, replace(batch, digest="1a"))
    ]
    assert len(set(ids)) == 2, "an old click cannot approve another batch"


def test_damage_of_the_database_is_the_first_row_and_opens_the_review() -> None:
    row = find(MenuState(now=NOON, problem="h.yaml:1:1: bad", damage="The database was damaged"), "status")

    assert (row.label, row.action) == ("The database was damaged", ReviewBatch())


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


def test_a_request_from_the_command_line_can_be_allowed_or_dismissed() -> None:
    (row,) = find(MenuState(now=NOON, requests=(OFF,)), "approvals").children

    assert row.label == "Switch hooks off · asked by claude-code, pid 812"
    assert [child.action for child in row.children] == [GrantRequest("q1"), DismissRequest("q1")]


def test_empty_lists_say_so() -> None:
    state = MenuState(now=NOON)

    assert labels(find(state, "recent")) == ["No decisions yet"]
    assert labels(find(state, "approvals")) == ["Nothing waits for you"]
    assert labels(find(state, "questions")) == ["Nobody waits for an answer"]
    assert find(state, "approvals").label == "Approvals"


def test_the_day_is_named_when_it_is_not_today() -> None:
    assert clock(NOON, NOON) == "12:00"
    assert clock(NOON + 86400, NOON) == "05 Mar 12:00"


def test_text_from_an_agent_cannot_break_a_row() -> None:
    hostile = replace(RECORD, agent="a\nb\x1b[31m", project="\u202egpj.exe")

    assert (
        find(MenuState(now=NOON, recent=(hostile,)), "recent/r1").label == "✕  a b · gpj.exe · PreToolUse · just now"
    )


def test_a_session_and_an_agent_can_be_paused_by_themselves_the_latest_first() -> None:
    records = tuple(
        replace(RECORD, id=str(turn), at=NOON - turn, agent=agent, session=session, project=project)
        for turn, (agent, session, project) in enumerate(
            [
                ("shelley", "", ""),
                ("claude-code", "s2", "web"),
                ("claude-code", "s1", "api"),
                ("shelley", "4f0a9b112", ""),
            ]
        )
    )
    state = MenuState(now=NOON, recent=records)

    assert labels(find(state, "pause"))[3:] == [
        "Only claude-code · web", "Only claude-code · api", "Only shelley · 4f0a9b1…",
        "Only shelley", "Only claude-code",
    ]  # fmt: skip
    assert find(state, "pause/session/claude-code/s1/1h").action == PauseHooks(3600, "claude-code", "s1")
    assert find(state, "pause/agent/shelley/tomorrow").action == PauseHooks(None, "shelley")


def test_pauses_of_some_are_named_with_their_end() -> None:
    pause = PartialPause(until=NOON + 600, agent="claude-code", session="s1", project="api")
    state = MenuState(
        now=NOON, partial_pauses=(pause, replace(pause, session="", project=""), replace(pause, until=NOON))
    )

    assert labels(find(state, "pause"))[:4] == [
        "Resume", "claude-code · api is paused until 12:10", "claude-code is paused until 12:10", "30 minutes",
    ]  # fmt: skip
    assert find(state, "pause").label == "Pause"


def test_an_open_question_is_answered_in_the_menu() -> None:
    state = MenuState(
        now=NOON, questions=(MenuQuestion(id="q/1", agent="claude-code", project="api", subject="Bash"),)
    )

    (row,) = find(state, "questions").children

    assert find(state, "questions").label == "Needs you (1)"
    assert row.label == "Bash · claude-code · api"
    assert [(child.label, child.action) for child in row.children] == [
        ("Allow", AnswerQuestion("q/1", allow=True)), ("Deny", AnswerQuestion("q/1", allow=False)),
    ]  # fmt: skip


def test_alerts_show_only_what_somebody_supplies() -> None:
    assert labels(find(MenuState(now=NOON), "alerts"))[:2] == ["Mute sounds", "Turn ended"]

    current = AlertsState(snoozable=True, snoozed_until=NOON + 60, quiet_hours="22:00 to 07:00", deferred=3)
    state = MenuState(now=NOON, alerts=current)

    assert labels(find(state, "alerts"))[:4] == [
        "Mute sounds", "Snoozed until 12:01", "Quiet hours 22:00 to 07:00", "Show 3 held alerts",
    ]  # fmt: skip
    assert labels(find(state, "alerts/snooze")) == ["End the snooze", "30 minutes", "1 hour", "Until tomorrow"]


def test_each_class_of_alerts_can_be_turned_off_but_not_what_tells_of_switching() -> None:
    state = MenuState(now=NOON, alerts=AlertsState(muted_classes=frozenset({"blocked"})))

    rows = {item.id.removeprefix("alerts/class/"): item for item in every(menu(state)) if "alerts/class" in item.id}

    assert set(rows) == set(CLASSES) - {"switched"}
    assert (rows["blocked"].checked, rows["blocked"].action) == (False, SetAlertClass("blocked", on=True))
    assert (rows["turn_end"].checked, rows["turn_end"].action) == (True, SetAlertClass("turn_end", on=False))
    assert all(row.label != key for key, row in rows.items())


def test_settings_have_rows_for_what_is_there() -> None:
    assert labels(find(MenuState(now=NOON), "settings")) == ["Open configuration"]

    options = MenuOptions(at_login=True, page=True, doctor=True)
    hooks = (MenuHook(key="k", name="guard", event="tool_before", enabled=False),)
    state = MenuState(now=NOON, options=options, hooks=hooks, agents=(CLAUDE,))

    assert labels(find(state, "settings")) == [
        "Start at login", "Hooks", "Open configuration", "Open page", "Agents", "Doctor",
    ]  # fmt: skip
    assert find(state, "settings/login").action == StartAtLogin(False)
    (hook,) = find(state, "settings/hooks").children
    assert (hook.label, hook.checked, hook.action) == ("guard · tool_before", False, SwitchHook("k", on=True))


@pytest.mark.parametrize(
    ("one", "shown"),
    [
        (replace(CLAUDE, installed=False, connected=False), "Claude Code · not installed"),
        (replace(CLAUDE, connected=False), "Claude Code · not connected"),
        (
            replace(CLAUDE, name="Pine", package="hooktray-pine 1.0\x1b[2J"),
            "Pine · third-party: hooktray-pine 1.0 · connected · never heard of",
        ),
        (CLAUDE, "Claude Code · connected · never heard of"),
        (replace(CLAUDE, trusted=True, firing=True), "Claude Code · connected · trusted · firing · never heard of"),
        (
            replace(CLAUDE, trusted=False, firing=False, last_event=NOON - 120),
            "Claude Code · connected · not trusted · not firing · last heard of 2 min ago",
        ),
    ],
)
def test_an_agent_is_told_in_the_words_of_agents(one: MenuAgent, shown: str) -> None:
    state = MenuState(now=NOON, agents=(one,))

    assert labels(find(state, "settings/agents")) == [shown, "Show all"]


def test_connecting_is_shown_first_and_what_was_shown_is_written_by_another_click() -> None:
    fresh = replace(CLAUDE, connected=False)
    shown = replace(fresh, connect="1a2b3c4d5e")

    rows = [
        find(MenuState(now=NOON, active_agents=1, agents=(one,)), "settings/agents/claude-code")
        for one in (fresh, shown)
    ]

    assert labels(rows[0]) == ["Connect Claude Code…"]
    assert [(row.label, row.action) for row in rows[1].children] == [
        ("Connect Claude Code…", ReviewConnection("claude-code", connect=True)),
        ("Write what was shown: 1a2b3c4d", ApplyConnection("claude-code", "1a2b3c4d5e")),
    ]


def test_a_connected_agent_is_disconnected_tried_and_connected_anew_where_its_lines_are_old() -> None:
    one = replace(CLAUDE, stale=True, advice="its lines are old", disconnect="5e4d3c2b1a")

    row = find(MenuState(now=NOON, agents=(one,)), "settings/agents/claude-code")

    assert [(child.label, child.action) for child in row.children] == [
        ("its lines are old", None),
        ("Connect Claude Code anew…", ReviewConnection("claude-code", connect=True)),
        ("Disconnect Claude Code…", ReviewConnection("claude-code", connect=False)),
        ("Write what was shown: 5e4d3c2b", ApplyConnection("claude-code", "5e4d3c2b1a")),
        ("Try it", ProbeAgent("claude-code")),
    ]
    assert "Connect Claude Code anew…" not in labels(
        find(MenuState(now=NOON, agents=(CLAUDE,)), "settings/agents/claude-code")
    )


def test_while_nothing_is_connected_the_first_row_offers_each_agent_that_was_found() -> None:
    claude = replace(CLAUDE, connected=False)
    gone = replace(claude, agent="shelley", name="Shelley", installed=False)
    state = MenuState(now=NOON, agents=(claude, gone))

    assert labels(find(state, "offer")) == ["Connect Claude Code…"]
    assert find(state, "offer").label == "No agent is connected"
    assert len([row for row in menu(state) if row.kind is not ItemKind.SEPARATOR]) == 9
    for other in (
        replace(state, active_agents=1),
        replace(state, agents=(CLAUDE, gone)),
        replace(state, agents=(gone,)),
    ):
        assert find(other, "status").kind is ItemKind.LABEL


def test_the_first_row_names_the_connected_agent_that_does_not_run_its_lines() -> None:
    mute = replace(CLAUDE, trusted=False)

    assert find(MenuState(now=NOON, agents=(mute,)), "status").label == "Claude Code is not firing"
    assert find(MenuState(now=NOON, agents=(CLAUDE,)), "status").label == "No event yet"


def test_what_was_done_at_a_terminal_can_be_undone() -> None:
    (row,) = find(
        MenuState(now=NOON, requests=(replace(OFF, summary="Hooks are off", requester="a terminal", is_undo=True),)),
        "approvals",
    ).children

    assert row.label == "Hooks are off · done at a terminal"
    assert [(child.label, child.action) for child in row.children] == [
        ("Undo", GrantRequest("q1")),
        ("Keep", DismissRequest("q1")),
    ]


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
    state=st.sampled_from(ApprovalState),
    digest=texts,
    kind=texts,
    removed=st.booleans(),
    missing=st.booleans(),
)
questions = st.builds(MenuQuestion, id=texts, agent=texts, project=texts, subject=texts)
requests = st.builds(MenuRequest, id=texts, summary=texts, requester=texts, is_undo=st.booleans())
hooks = st.builds(MenuHook, key=texts, name=texts, event=texts, enabled=st.booleans())
pauses = st.builds(PartialPause, until=st.floats(), agent=texts, session=texts, project=texts)
words = st.sampled_from(CLASSES) | texts
states = st.builds(
    MenuState,
    now=st.floats(),
    enabled=st.booleans(),
    paused_until=moments,
    partial_pauses=st.lists(pauses, max_size=3).map(tuple),
    muted=st.booleans(),
    active_agents=st.integers(0, 10**6),
    running=texts,
    failing_hooks=st.integers(0, 10**6),
    problem=texts,
    incident=texts,
    recent=st.lists(records, max_size=12).map(tuple),
    questions=st.lists(questions, max_size=22).map(tuple),
    approvals=st.lists(approvals, max_size=22).map(tuple),
    requests=st.lists(requests, max_size=8).map(tuple),
    agents=st.lists(
        st.builds(
            MenuAgent,
            agent=texts,
            name=texts,
            installed=st.booleans(),
            connected=st.booleans(),
            trusted=st.booleans() | st.none(),
            stale=st.booleans(),
            last_event=moments,
            advice=texts,
            connect=texts,
            disconnect=texts,
        ),
        max_size=4,
    ).map(tuple),
    hooks=st.lists(hooks, max_size=22).map(tuple),
    alerts=st.builds(
        AlertsState,
        muted_classes=st.frozensets(words, max_size=4),
        snoozable=st.booleans(),
        snoozed_until=moments,
        quiet_hours=texts,
        quiet_hours_on=st.booleans(),
        deferred=st.integers(-1, 10**6),
    ),
    options=st.builds(MenuOptions, at_login=st.none() | st.booleans(), page=st.booleans(), doctor=st.booleans()),
)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(state=states)
def test_any_state_gives_a_sound_menu(state: MenuState, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", language)
    rows = menu(state)
    everything = list(every(rows))

    assert rows == menu(state)
    assert len([row for row in rows if row.kind is not ItemKind.SEPARATOR]) == 9
    assert len({item.id for item in everything}) == len(everything)
    for item in everything:
        assert bool(item.label) is (item.kind is not ItemKind.SEPARATOR)
        assert len(item.label) <= LABEL_LIMIT
        assert not any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in item.label)
        assert bool(item.children) is (item.kind is ItemKind.SUBMENU)
        assert bool(item.action) is (item.kind in {ItemKind.ACTION, ItemKind.CHECK})
    for below in (rows, *(item.children for item in everything if item.children)):
        kinds = [ItemKind.SEPARATOR, *(item.kind for item in below), ItemKind.SEPARATOR]
        assert (ItemKind.SEPARATOR, ItemKind.SEPARATOR) not in pairwise(kinds)


@pytest.mark.parametrize(("state", "word"), [(ApprovalState.REVOKED, "revoked"), (ApprovalState.DENIED, "denied")])
def test_what_was_revoked_or_denied_stands_among_the_hooks_and_has_no_tick(state: ApprovalState, word: str) -> None:
    hooks = (MenuHook(key="k", name="guard", event="tool_before", state=state),)

    (row,) = find(MenuState(now=NOON, hooks=hooks), "settings/hooks").children

    assert (row.label, row.action) == (f"guard · tool_before · {word}", None)
