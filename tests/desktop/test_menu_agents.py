"""The agents in the menu, and what may be done with each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from desktop.menu_parts import CLAUDE, NOON, find, labels
from tray.desktop.menu import (
    ApplyConnection,
    ItemKind,
    MenuAgent,
    MenuState,
    ProbeAgent,
    ReviewConnection,
    menu,
)


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
    assert len([row for row in menu(state) if row.kind is not ItemKind.SEPARATOR]) == 10
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
