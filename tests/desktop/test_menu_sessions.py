"""Sessions in the menu: who waits is on top, and a click goes there."""

from __future__ import annotations

from msgspec.structs import replace

from desktop.menu_parts import NOON, find, labels
from tray.desktop.menu.actions import GoToSession
from tray.desktop.menu.state import MenuState
from tray.model.session import Session, SessionState

WAITS = Session(
    agent="codex", session="s/1", project="api", name="main · Import", state=SessionState.WAITING, since=NOON - 120
)
DONE = Session(agent="claude-code", session="s2", name="", state=SessionState.DONE, since=NOON - 5)


def test_each_session_has_its_name_agent_project_state_and_since_when() -> None:
    item = find(MenuState(now=NOON, sessions=(WAITS, DONE)), "sessions")

    assert item.label == "Sessions (1)"
    assert labels(item) == [
        "?\u2005  main · Import · codex · api · waits for you · 2 min ago",
        "✓  s2 · claude-code · done · 5 s ago",
    ]
    assert item.children[0].action == GoToSession("codex", "s/1")


def test_of_a_session_that_a_usage_limit_holds_up_it_shows_when_that_ends() -> None:
    said = "You've hit your session limit · resets 3pm"
    limited = replace(DONE, state=SessionState.FAILED, usage_limit=said)
    unknown = replace(limited, session="s3", usage_limit="Usage limit reached")

    assert labels(find(MenuState(now=NOON, sessions=(limited, unknown)), "sessions")) == [
        "!\u2004  s2 · claude-code · usage limit · resets 3pm · 5 s ago",
        "!\u2004  s3 · claude-code · usage limit · 5 s ago",
    ]


def test_the_menu_shows_only_the_first_of_many_sessions() -> None:
    many = tuple(Session(agent="a", session=str(number)) for number in range(23))

    assert len(labels(find(MenuState(now=NOON, sessions=many), "sessions"))) == 21
