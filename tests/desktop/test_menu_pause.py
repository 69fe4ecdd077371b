"""Pauses in the menu: of everything, of one session, of one agent."""

from __future__ import annotations

from msgspec.structs import replace

from desktop.menu_parts import NOON, RECORD, find, labels
from tray.approvals.user_action import UserAction
from tray.desktop.menu.state import MenuState, PartialPause


def test_a_pause_shows_its_end_and_can_be_ended() -> None:
    state = MenuState(now=NOON, paused_until=NOON + 2 * 3600 + 300)

    assert find(state, "pause").label == "Paused until 14:05"
    assert labels(find(state, "pause")) == ["Resume", "30 minutes", "1 hour", "Until tomorrow"]
    assert find(state, "pause/resume").action == UserAction(action="resume")
    assert find(state, "pause/tomorrow").action == UserAction(action="pause", seconds=None)
    assert find(state, "pause/30m").action == UserAction(action="pause", seconds=1800)
    over = find(MenuState(now=NOON, paused_until=NOON), "pause")
    assert (over.label, labels(over)) == ("Pause", ["30 minutes", "1 hour", "Until tomorrow"])


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
    trial = replace(RECORD, id="trial", at=NOON, session="test-run", project="test-run", test=True)
    state = MenuState(now=NOON, recent=(trial, *records))

    assert labels(find(state, "pause"))[3:] == [
        "Only claude-code · web", "Only claude-code · api", "Only shelley · 4f0a9b1…",
        "Only shelley", "Only claude-code",
    ]  # fmt: skip
    assert find(state, "pause/session/claude-code/s1/1h").action == UserAction(
        action="pause", seconds=3600, agent="claude-code", session="s1"
    )
    assert find(state, "pause/agent/shelley/tomorrow").action == UserAction(action="pause", agent="shelley")


def test_pauses_of_some_are_named_with_their_end() -> None:
    pause = PartialPause(until=NOON + 600, agent="claude-code", session="s1", project="api")
    state = MenuState(
        now=NOON, partial_pauses=(pause, replace(pause, session="", project=""), replace(pause, until=NOON))
    )

    assert labels(find(state, "pause"))[:4] == [
        "Resume", "claude-code · api is paused until 12:10", "claude-code is paused until 12:10", "30 minutes",
    ]  # fmt: skip
    assert find(state, "pause").label == "Pause"
