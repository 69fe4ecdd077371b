"""The menu as a value: rows, order, words, and that nothing foreign can spoil it."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from every import every
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from desktop.menu_parts import CLAUDE, LABEL_LIMIT, NOON, OFF, PENDING, RECORD, find, labels, walk
from tray.approvals.user_action import UserAction
from tray.desktop.menu import actions, menu
from tray.desktop.menu.items import ItemKind
from tray.desktop.menu.state import (
    AlertsState,
    MenuHook,
    MenuPreview,
    MenuQuestion,
    MenuRequest,
    MenuState,
    PartialPause,
)
from tray.model.decision import Record, Verdict
from tray.model.session import Session, SessionState


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
    assert [row.action for row in rows if row.action] == [
        actions.ToggleSwitch(),
        actions.OpenPage(),
        actions.QuitTray(),
    ]


@every(
    ("problem", "shown"),
    [
        ("/x/hooktray.yaml:2:5: hooks[0].event: unknown `t`\n  write one of", "hooktray.yaml:2:5: unknown `t`"),
        ("/a: b/c.yaml:3:1: without_tray: expected", "c.yaml:3:1: expected"),
        ("C:\\Users\\me\\hooktray.yaml:1:1: not a mapping", "hooktray.yaml:1:1: not a mapping"),
        ("/etc/hooktray.yaml: cannot be read: Permission denied", "hooktray.yaml: cannot be read: Permission denied"),
        ("/x/hooktray.yaml:1:1: " + "long " * 40, "hooktray.yaml:1:1: long long long long long long long long…"),
        ("/x/y/", "(no name)"),
    ],
)
def test_a_problem_is_shown_without_folders_and_keys_and_a_click_shows_the_rest(problem: str, shown: str) -> None:
    row = find(MenuState(now=NOON, enabled=False, problem=problem), "status")

    assert (row.label, row.action, row.enabled) == (shown, actions.ShowProblem(), True)
    assert len(row.label) <= 60


def test_the_first_row_shows_an_unusual_state_and_the_action_that_ends_it() -> None:
    paused = MenuState(now=NOON, paused_until=NOON + 600, recent=(RECORD,), active_agents=1)
    asked = MenuState(now=NOON, requests=(OFF, replace(OFF, id="u1", is_undo=True)))
    running = replace(paused, running="Linting")

    shown = [menu(one)[0] for one in (running, replace(running, enabled=False), replace(running, paused_until=None))]
    (request,) = menu(asked)[0].children

    assert [(row.label, [child.action for child in row.children]) for row in shown] == [
        ("Hooks are paused until 12:10", [UserAction(action="resume")]),
        ("Hooks are off", [actions.ToggleSwitch()]),
        ("Linting", []),
    ]
    assert menu(asked)[0].label == "1 request waits for you"
    assert [row.action for row in request.children] == [
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


def test_check_marks_show_the_state_and_empty_lists_have_a_text() -> None:
    state = MenuState(now=NOON, enabled=False, muted=True)

    assert [bool(find(state, key).checked) for key in ("enabled", "mute")] == [False, True]
    assert not find(state, "pause").enabled
    assert [labels(find(state, key)) for key in ("recent", "approvals", "questions", "sessions")] == [
        ["No decisions yet"], ["Nothing waits for you"], ["Nobody waits for an answer"], ["No session yet"],
    ]  # fmt: skip


def test_an_open_question_is_answered_in_the_menu_and_a_form_on_the_page() -> None:
    asked = MenuQuestion(id="q/1", agent="claude-code", project="api", subject="Bash")
    state = MenuState(now=NOON, questions=(asked, replace(asked, id="q2", is_form=True)))

    rows = find(state, "questions").children

    assert find(state, "questions").label == "Needs you (2)"
    assert [row.label for row in rows] == ["Bash · claude-code · api"] * 2
    assert [(child.label, child.action) for row in rows for child in row.children] == [
        ("Allow", actions.AnswerQuestion("q/1", allow=True)), ("Deny", actions.AnswerQuestion("q/1", allow=False)),
        ("Answer…", actions.OpenPage("questions/q2")), ("Decline", actions.AnswerQuestion("q2", allow=False)),
    ]  # fmt: skip


TEXTS = st.text(max_size=9) | st.text(min_size=1, max_size=2).map(lambda text: text * 130)
RECORDS = st.builds(
    replace, st.just(RECORD), id=TEXTS, at=st.floats(), agent=TEXTS, event=TEXTS, project=TEXTS,
    verdict=st.sampled_from(Verdict), problem=TEXTS,
)  # fmt: skip


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Generates every value of this type that the menu may get."""
    plain = {str: TEXTS, int: st.integers(0, 10**6), Record: RECORDS}
    if kind in plain:
        return plain[kind]
    if isinstance(kind, UnionType):
        return st.one_of([values(one) for one in get_args(kind)])
    if get_origin(kind) is tuple:
        return st.lists(values(get_args(kind)[0]), max_size=3).map(tuple)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return st.builds(kind, **{name: values(field) for name, field in get_type_hints(kind).items()})
    return st.from_type(kind)


def as_used(state: MenuState) -> MenuState:
    """Removes two texts that are always short in Hooktray: the label of a batch and the name of a package."""
    agents = tuple(replace(one, package="") for one in state.agents)
    return replace(state, flat=False, batches=(), agents=agents)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(state=values(MenuState).map(as_used), language=st.sampled_from(["en", "zh_CN"]))
def test_any_state_gives_a_sound_menu(state: MenuState, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a host that shows no submenus of submenus, each of their rows is one level higher."""
    monkeypatch.setenv("LANGUAGE", language)
    rows = menu(state)
    everything = list(walk(rows))
    flat = menu(replace(state, flat=True))

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
    assert [one.action for one in walk(flat) if one.action] == [one.action for one in everything if one.action]
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

    assert (row.label, row.action) == ("1 agent · Codex is not firing", actions.ShowAgents())


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
    assert (first.label, first.action) == ("codex · shop waits for you", actions.GoToSession("codex", "s1"))
    assert find(state, "status").action == actions.GoToSession("x-code", "s2")


@pytest.mark.parametrize(
    ("state", "text", "action"),
    [
        (
            MenuState(now=NOON, agents=(replace(CLAUDE, changed="gone"),)),
            "Claude Code no longer asks",
            actions.ShowAgents(),
        ),
        (MenuState(now=NOON, approvals=(PENDING,)), "1 approval waits", actions.Review(PENDING.key, PENDING.digest)),
        (MenuState(now=NOON, failing_hooks=4), "4 hooks in trouble", actions.RunDoctor()),
        (MenuState(now=NOON, failing_hooks=4, unjudged=2), "2 calls ran unjudged", actions.RunDoctor()),
    ],
)
def test_the_first_row_opens_the_cause_of_what_the_icon_shows(
    state: MenuState, text: str, action: actions.Action
) -> None:
    row = find(state, "status")

    assert row.label.startswith(text)
    assert row.action == action


def test_the_first_row_opens_what_was_done_at_a_terminal() -> None:
    done = MenuRequest(id="q1", summary="guard is approved", requester="a terminal", is_undo=True)

    row = find(MenuState(now=NOON, requests=(done,)), "done")

    assert row.label == "1 change can be undone"
    assert labels(row) == ["guard is approved · done in a terminal"]
