"""The menu as a value: rows, order, words, and that nothing foreign can spoil it."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from desktop.menu_parts import CLAUDE, LABEL_LIMIT, NOON, OFF, PENDING, RECORD, find, labels, walk
from tray.approvals.user_action import UserAction
from tray.desktop.menu import menu
from tray.desktop.menu.actions import (
    Action,
    AnswerQuestion,
    GoToSession,
    OpenPage,
    QuitTray,
    Review,
    RunDoctor,
    ShowAgents,
    ShowProblem,
    ToggleSwitch,
)
from tray.desktop.menu.items import ItemKind
from tray.desktop.menu.state import (
    AlertsState,
    Approval,
    MenuAgent,
    MenuHook,
    MenuPreview,
    MenuQuestion,
    MenuRequest,
    MenuState,
    PartialPause,
)
from tray.model.decision import Record, Verdict
from tray.model.hook import ApprovalState
from tray.model.session import Session, SessionState
from tray.settings import CLASSES


def test_the_rows_stand_in_the_order_that_the_user_knows() -> None:
    rows = menu(MenuState(now=NOON))

    assert [row.label for row in rows if row.kind is not ItemKind.SEPARATOR] == [
        "No event yet",
        "Hooks enabled",
        "Pause",
        "Sessions",
        "Open page",
        "Recent decisions",
        "Needs you",
        "Approvals",
        "Alerts",
        "Settings",
        "Quit",
    ]
    assert [row.action for row in rows if row.action] == [ToggleSwitch(), OpenPage(), QuitTray()]


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

    assert menu(paused)[0].label == "Hooks are paused until 12:10"
    assert menu(replace(paused, enabled=False))[0].label == "Hooks are off"
    assert menu(replace(paused, paused_until=None, running="Linting"))[0].label == "Linting"
    assert menu(replace(paused, running="Linting"))[0].label == "Hooks are paused until 12:10"
    assert menu(MenuState(now=NOON))[0].label == "No event yet"


def test_the_first_row_has_what_ends_its_cause() -> None:
    paused = MenuState(now=NOON, paused_until=NOON + 600)
    asked = MenuState(now=NOON, requests=(OFF, replace(OFF, id="u1", is_undo=True)))

    shown = [menu(state)[0] for state in (paused, replace(paused, enabled=False), asked)]

    assert [(row.label, [child.action for child in row.children]) for row in shown[:2]] == [
        ("Hooks are paused until 12:10", [UserAction(action="resume")]),
        ("Hooks are off", [ToggleSwitch()]),
    ]
    assert (shown[2].label, len(shown[2].children)) == ("1 request waits for you", 1)
    assert [row.action for row in shown[2].children[0].children] == [
        UserAction(action="allow", key="q1"),
        UserAction(action="dismiss", key="q1"),
    ]


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
    assert find(replace(state, recent=(replace(RECORD, event="probe", test=True), record)), "status").label == shown
    assert find(replace(state, active_agents=1, failing_hooks=2), "status").label.startswith("2 hooks in trouble")
    assert "1 decision not written down" in find(replace(state, dropped_rows=1), "status").label


def test_the_check_marks_say_what_is_so() -> None:
    state = MenuState(now=NOON, enabled=False, muted=True)

    assert not find(state, "enabled").checked
    assert find(state, "mute").checked
    assert not find(state, "pause").enabled


def test_empty_lists_say_so() -> None:
    state = MenuState(now=NOON)

    assert labels(find(state, "recent")) == ["No decisions yet"]
    assert labels(find(state, "approvals")) == ["Nothing waits for you"]
    assert labels(find(state, "questions")) == ["Nobody waits for an answer"]
    assert find(state, "approvals").label == "Approvals"


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


def test_a_form_is_answered_on_the_page_or_declined() -> None:
    asked = MenuQuestion(id="q1", agent="claude-code", project="api", subject="AskUserQuestion", is_form=True)

    (row,) = find(MenuState(now=NOON, questions=(asked,)), "questions").children

    assert [(child.label, child.action) for child in row.children] == [
        ("Answer…", OpenPage("questions/q1")), ("Decline", AnswerQuestion("q1", allow=False)),
    ]  # fmt: skip


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
previews = st.builds(MenuPreview, digest=texts, summary=texts)
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
            changed=texts,
            is_wanted=st.booleans(),
            connect=st.none() | previews,
            disconnect=st.none() | previews,
        ),
        max_size=4,
    ).map(tuple),
    hooks=st.lists(hooks, max_size=22).map(tuple),
    sessions=st.lists(
        st.builds(
            Session,
            agent=texts,
            session=texts,
            project=texts,
            name=texts,
            state=st.sampled_from(SessionState),
            since=moments.map(lambda at: at or 0.0),
        ),
        max_size=23,
    ).map(tuple),
    alerts=st.builds(
        AlertsState,
        muted_classes=st.frozensets(words, max_size=4),
        snoozed_until=moments,
        quiet_hours=texts,
        quiet_hours_on=st.booleans(),
        deferred=st.integers(-1, 10**6),
    ),
    at_login=st.booleans(),
    has_passphrase=st.booleans(),
)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(state=states)
def test_any_state_gives_a_sound_menu(state: MenuState, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", language)
    rows = menu(state)
    everything = list(walk(rows))

    assert rows == menu(state)
    assert len([row for row in rows if row.kind is not ItemKind.SEPARATOR]) == 11
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


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(state=states)
def test_where_a_host_cannot_show_submenus_in_submenus_each_row_is_one_level_up(state: MenuState) -> None:
    flat = menu(replace(state, flat=True))

    assert [item.action for item in walk(flat) if item.action] == [
        one.action for one in walk(menu(state)) if one.action
    ]
    assert all(
        len(item.label) <= LABEL_LIMIT and item.kind is not ItemKind.SUBMENU for row in flat for item in row.children
    )


def test_a_row_of_a_submenu_in_a_submenu_begins_with_its_name_where_it_is_one_level_up() -> None:
    rows = menu(MenuState(now=NOON, approvals=(PENDING,), recent=(RECORD,), flat=True))
    shown = {row.label: [child.label for child in row.children if child.action] for row in rows}

    assert shown["Approvals (1)"] == [
        "guard · tool_before · new · Review",
        "guard · tool_before · new · Approve 1a2b3c4d",
        "guard · tool_before · new · Deny",
    ]
    assert "Only claude-code · shop · 1 hour" in shown["Pause"]
    assert shown["Alerts"][1] == "Snooze · 30 minutes"


def test_the_first_row_leaves_out_what_does_not_fit_and_opens_the_agents_that_do_not_fire() -> None:
    codex = replace(CLAUDE, agent="codex", name="Codex", firing=False)
    row = find(MenuState(now=NOON, agents=(codex,), active_agents=1, recent=(RECORD,)), "status")

    assert (row.label, row.action) == ("1 agent · Codex is not firing", ShowAgents())


def test_every_row_makes_sense_when_it_is_read_aloud() -> None:
    claude = replace(CLAUDE, connected=False, connect=MenuPreview(digest="1a", summary="adds 14 entries"))
    codex = replace(claude, agent="codex", name="Codex")
    changed = replace(CLAUDE, agent="x-code", changed="the entry for Stop is gone", changed_digest="d1")
    state = MenuState(
        now=NOON,
        paused_until=NOON + 60,
        partial_pauses=(PartialPause(until=NOON + 60, agent="codex"),),
        recent=(RECORD, replace(RECORD, id="r2", verdict=Verdict.ABSTAIN, hooks=(), subject="")),
        questions=(MenuQuestion(id="q", agent="x-code", project="api", subject="Bash · ls"),),
        approvals=(PENDING, replace(PENDING, key="k2", missing=True, digest="")),
        requests=(OFF, replace(OFF, id="u1", is_undo=True)),
        sessions=(Session(agent="codex", session="s1", project="", state=SessionState.WAITING, since=NOON),),
        hooks=(MenuHook(key="h", name="guard", event="tool_before"),),
        agents=(claude, codex, changed),
        alerts=AlertsState(snoozed_until=NOON + 60, quiet_hours="22:00 to 07:00", deferred=2),
        at_login=True,
        has_passphrase=True,
    )

    rows = [row for each in (state, replace(state, paused_until=None)) for row in walk(menu(each)) if row.label]

    for row in rows:
        assert re.search(r"[^\W\d_]{2}", row.label), f"{row.id}: {row.label!r} has no word"
        parts = row.label.split(" · ")  # a pause, as it is read
        assert all(re.search(r"\w", part) for part in parts), f"{row.id}: {row.label!r} has a bare symbol"
        assert not re.search(r"\(\s*\)|[→←▸▶✓✗●○■□⏸⏵…]\s|\s[·|/]$", row.label), f"{row.id}: {row.label!r}"
        names = [child.label for child in row.children if child.action]
        assert len(set(names)) == len(names), f"{row.id}: {names} are not told apart"


WAITING = Session(agent="codex", session="s1", project="shop", state=SessionState.WAITING, since=NOON - 120)


def test_needs_you_lists_every_agent_that_waits_and_the_first_row_goes_there() -> None:
    asked = MenuQuestion(id="q", agent="x-code", project="api", subject="Bash · ls", session="s2")
    also = replace(WAITING, agent="x-code", session="s2", project="api")
    state = MenuState(now=NOON, questions=(asked,), sessions=(WAITING, also, replace(WAITING, session="s3")))

    needs = find(state, "questions")
    first = find(replace(state, questions=()), "status")

    assert needs.label == "Needs you (3)"
    assert labels(needs) == [
        "Bash · ls · x-code · api",
        "codex · shop waits for you · 2 min ago",
        "codex · shop waits for you · 2 min ago",
    ]
    assert (first.label, first.action) == ("codex · shop waits for you", GoToSession("codex", "s1"))
    assert find(state, "status").action == GoToSession("x-code", "s2")


@pytest.mark.parametrize(
    ("state", "text", "action"),
    [
        (MenuState(now=NOON, agents=(replace(CLAUDE, changed="gone"),)), "Claude Code no longer asks", ShowAgents()),
        (MenuState(now=NOON, approvals=(PENDING,)), "1 approval waits", Review(PENDING.key, PENDING.digest)),
        (MenuState(now=NOON, failing_hooks=4), "4 hooks in trouble", RunDoctor()),
        (MenuState(now=NOON, failing_hooks=4, unjudged=2), "2 calls ran unjudged", RunDoctor()),
    ],
)
def test_the_first_row_opens_the_cause_of_what_the_icon_shows(state: MenuState, text: str, action: Action) -> None:
    row = find(state, "status")

    assert row.label.startswith(text)
    assert row.action == action


def test_the_first_row_opens_what_was_done_at_a_terminal() -> None:
    done = MenuRequest(id="q1", summary="guard is approved", requester="a terminal", is_undo=True)

    row = find(MenuState(now=NOON, requests=(done,)), "done")

    assert row.label == "1 change can be undone"
    assert [child.label for child in row.children] == ["guard is approved · done in a terminal"]
    assert [one.action for one in row.children[0].children] == [
        UserAction(action="allow", key="q1"),
        UserAction(action="dismiss", key="q1"),
    ]


def test_the_page_is_opened_from_the_first_level() -> None:
    rows = menu(MenuState(now=NOON))

    assert [row.action for row in rows if row.label == "Open page"] == [OpenPage()]
