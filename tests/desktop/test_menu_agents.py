"""The agents in the menu, and what may be done with each."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from desktop.menu_parts import CLAUDE, NOON, find, labels
from tray.desktop.menu import actions
from tray.desktop.menu.items import Item, ItemKind
from tray.desktop.menu.state import Approval, MenuAgent, MenuPreview, MenuState
from tray.model.hook import ApprovalState


@pytest.mark.parametrize(
    ("one", "shown"),
    [
        (replace(CLAUDE, installed=False, connected=False), "1 more is not installed"),
        (replace(CLAUDE, connected=False), "Claude Code · not connected"),
        (
            replace(CLAUDE, name="Pine", package="hooktray-pine 1.0\x1b[2J"),
            "Pine · third-party: hooktray-pine 1.0 · connected · no event yet",
        ),
        (CLAUDE, "Claude Code · connected · no event yet"),
        (replace(CLAUDE, trusted=True, firing=True), "Claude Code · connected · trusted · firing · no event yet"),
        (
            replace(CLAUDE, trusted=False, firing=False, last_event=NOON - 120),
            "Claude Code · connected · not trusted · not firing · last event 2 min ago",
        ),
    ],
)
def test_an_agent_is_told_in_the_words_of_agents(one: MenuAgent, shown: str) -> None:
    state = MenuState(now=NOON, agents=(one,))

    assert labels(find(state, "settings/agents")) == [shown, "Show all"]


ADDS = MenuPreview(digest="1a2b3c4d5e", summary="adds 1 entry for each of 14 events to ~/.claude/settings.json")
TAKES = MenuPreview(digest="5e4d3c2b1a", summary="takes 14 entries out of ~/.claude/settings.json")
FRESH = replace(CLAUDE, connected=False, connect=ADDS)
CODEX = MenuAgent(agent="codex", name="Codex", installed=True, connect=replace(ADDS, digest="9f", summary="adds 12"))


def rows(item: Item) -> list[tuple[str, actions.Action | None]]:
    return [(row.label, row.action) for row in item.children if row.kind is not ItemKind.SEPARATOR]


def test_connecting_is_one_question_with_a_summary() -> None:
    state = MenuState(now=NOON, active_agents=1, agents=(FRESH,))

    assert labels(find(state, "settings/agents/claude-code")) == ["Connect Claude Code"]
    assert rows(find(state, "settings/agents/claude-code/connect")) == [
        ("adds 1 entry for each of 14 events to ~/.claude/settings.json", None),
        ("Connect Claude Code", actions.ApplyConnection("claude-code", "1a2b3c4d5e")),
        ("Show the difference", actions.ReviewConnection("claude-code", connect=True)),
    ]


def test_a_connected_agent_is_disconnected_tried_and_connected_anew_where_its_lines_are_old() -> None:
    one = replace(CLAUDE, stale=True, advice="its lines are old", connect=ADDS, disconnect=TAKES)
    state = MenuState(now=NOON, agents=(one,))

    assert rows(find(state, "settings/agents/claude-code")) == [
        ("its lines are old", None),
        ("Connect Claude Code anew", None),
        ("Disconnect Claude Code", None),
        ("Try it", actions.ProbeAgent("claude-code")),
    ]
    assert rows(find(state, "settings/agents/claude-code/disconnect")) == [
        ("takes 14 entries out of ~/.claude/settings.json", None),
        ("Disconnect Claude Code", actions.ApplyConnection("claude-code", "5e4d3c2b1a")),
        ("Show the difference", actions.ReviewConnection("claude-code", connect=False)),
    ]


def test_while_nothing_is_connected_the_first_row_connects_all_agents_or_the_only_one_by_one_click() -> None:
    gone = MenuAgent(agent="shelley", name="Shelley")
    state = MenuState(now=NOON, agents=(FRESH, CODEX, gone))
    alone = replace(state, agents=(FRESH, gone))

    assert rows(find(state, "offer")) == [
        ("Claude Code: adds 1 entry for each of 14 events to ~/.claude/settings.json", None),
        ("Codex: adds 12", None),
        ("Connect all 2 agents", actions.ConnectAll(("1a2b3c4d5e", "9f"))),
        ("Connect Claude Code", None),
        ("Connect Codex", None),
    ]
    assert rows(find(state, "offer/codex"))[1] == ("Connect Codex", actions.ApplyConnection("codex", "9f"))
    assert find(alone, "offer").label == "No agent is connected"
    assert rows(find(alone, "offer"))[1] == (
        "Connect Claude Code",
        actions.ApplyConnection("claude-code", "1a2b3c4d5e"),
    )
    for agents, active in (((FRESH, gone), 1), ((CLAUDE, gone), 0), ((gone,), 0)):
        other = replace(state, agents=agents, active_agents=active)
        assert find(other, "status").kind is ItemKind.LABEL


def test_a_long_summary_has_more_rows_and_none_runs_off_the_screen() -> None:
    settings = "adds 1 entry for each of 14 events to ~/.claude/settings.json"
    folder = f"/home/somebody/{'checkouts/' * 9}settings.json"
    command = "writes ~/.claude/commands/hooktray.md"
    preview = MenuPreview(digest="1a", summary=f"{settings} · {command} · writes {folder}")
    state = MenuState(now=NOON, agents=(replace(FRESH, connect=preview), CODEX))

    shown = [text for text, _ in rows(find(state, "offer"))]

    assert shown[:2] == [f"Claude Code: {settings}", command]
    assert "".join(shown[2:4]) == f"writes {folder}"
    assert all(len(one) <= 80 for one in shown)


def test_what_the_icon_shows_has_the_first_row_before_agents_that_could_be_connected() -> None:
    state = MenuState(now=NOON, agents=(FRESH,))
    new = Approval(key="k", name="guard", event="tool_before", state=ApprovalState.PENDING, digest="ab" * 32)
    waiting = replace(state, approvals=(new,))

    assert find(waiting, "status").label == "1 approval waits for you"
    assert find(replace(state, enabled=False), "switch").label == "Hooks are off"


def test_the_first_row_asks_whether_to_connect_events_that_a_hook_needs() -> None:
    wanted = replace(CLAUDE, changed="no entry for PreCompact", changed_digest="d1", is_wanted=True)
    state = MenuState(now=NOON, agents=(wanted,))

    assert find(state, "wanted").label == "A hook needs more events of Claude Code"
    assert rows(find(state, "wanted")) == [
        ("no entry for PreCompact", None),
        ("Connect Claude Code", actions.PutEntriesBack("claude-code")),
        ("Leave it", actions.LeaveEntries("claude-code", "d1")),
    ]


def test_the_first_row_names_the_connected_agent_that_does_not_run_its_lines() -> None:
    mute = replace(CLAUDE, trusted=False)

    assert find(MenuState(now=NOON, agents=(mute,)), "status").label == "Claude Code is not firing"
    assert find(MenuState(now=NOON, agents=(CLAUDE,)), "status").label == "No event yet"
