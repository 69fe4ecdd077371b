"""The presenter on a real catalog and ledger: what the menu shows of each hook, and what its clicks do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from house import House

from desktop.hall import RECORD, Hall, labels
from desktop.menu_parts import PENDING
from tray.desktop.artwork import IconState
from tray.desktop.menu.state import MenuRequest, MenuState
from tray.desktop.presenter import look
from tray.model.hook import ApprovalState
from tray.model.session import Session, SessionState


@pytest.fixture
def hall(house: House) -> Iterator[Hall]:
    hall = Hall(house)
    yield hall
    hall.presenter.close()


def test_a_hook_taken_out_of_the_file_is_revoked_by_a_click(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", script="exit 0")
    hall.house.configure({"hooks": []})

    assert labels(hall.rows("Approvals")) == ["guard · removed from its file"]
    assert labels(hall.rows("Approvals", "guard")) == ["Review", "Keep it", "Revoke it"]
    hall.click("Approvals", "guard", "Revoke it")

    assert hall.state_of("guard") is None
    assert labels(hall.rows("Approvals")) == ["Nothing waits for you"]


def test_a_hook_taken_out_of_the_file_is_kept_by_a_click(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", script="exit 0")
    hall.house.configure({"hooks": []})

    hall.click("Approvals", "guard", "Review")
    hall.click("Approvals", "guard", "Keep it")

    assert hall.state_of("guard") is ApprovalState.APPROVED
    assert "no longer declared" in hall.opened[0].read_text()


def test_an_approved_hook_whose_script_is_gone_says_so_and_is_revoked_by_a_click(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", script="exit 0")
    (hall.house.paths.config.parent / "guard.sh").unlink()

    assert labels(hall.rows("Approvals")) == ["guard · file is gone"]
    hall.click("Approvals", "guard", "Review")
    ((name, text),) = hall.told
    assert (name, hall.opened) == ("guard", [])
    assert text == "./guard.sh: there is no such program; write its path, or put it there first"
    hall.click("Approvals", "guard", "Revoke it")

    assert labels(hall.rows("Approvals")) == ["guard · file is missing"]


def test_a_new_hook_without_its_script_is_shown_and_draws_attention(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", approved=False, command="./guard.sh")

    (row,) = hall.rows("Approvals")
    hall.presenter.show()

    assert (row.label, row.enabled) == ("guard · file is missing", False)
    assert hall.icon.shown[0].state is IconState.ATTENTION


def test_a_changed_hook_keeps_its_approved_copy_by_a_click(hall: Hall) -> None:
    hall.house.hook("guard", on="tool_before", script="exit 0")
    hall.house.script("guard.sh", "exit 1")

    assert labels(hall.rows("Approvals")) == ["guard · tool_before · changed"]
    hall.click("Approvals", "guard", "Keep the approved copy")

    assert hall.state_of("guard") is ApprovalState.APPROVED
    assert hall.house.tool() == {}


def test_a_broken_configuration_is_told_in_full_when_its_row_is_clicked(hall: Hall) -> None:
    hall.house.configure("hooks:\n  - event: tool_befor\n    command: ./guard.sh\n")

    assert hall.rows()[0].label == "hooktray.yaml:2:5: unknown event `tool_befor`"
    hall.click("hooktray.yaml")

    ((title, text),) = hall.told
    assert title == "The last good configuration stays in force"
    where = f"{hall.house.paths.config}:2:5: hooks[0].event"
    assert text == f"{where}: unknown event `tool_befor`; did you mean `tool_before`?"


def test_a_decision_is_drawn_with_the_next_drawing_and_not_twice(hall: Hall) -> None:
    before = hall.icon.shown[0]

    hall.presenter.recent.appendleft(RECORD)
    assert hall.icon.shown[0] is before
    hall.presenter.show()

    assert "shelley ended a turn" in hall.icon.shown[0].items[0].label


def test_what_a_hook_wants_shown_stands_in_the_menu_and_the_tooltip_until_it_ends(hall: Hall) -> None:
    before = hall.icon.shown[0].tooltip

    hall.presenter.status_shown("a", "Linting\u202e\n now")
    hall.presenter.status_shown("b", "Testing")
    assert (hall.icon.shown[0].items[0].label, hall.icon.shown[0].tooltip) == ("Testing", "Hooktray · Testing")
    hall.presenter.status_hidden("b")
    assert hall.icon.shown[0].tooltip == "Hooktray · Linting now"
    hall.presenter.status_hidden("a")

    assert (hall.icon.shown[0].items[0].label, hall.icon.shown[0].tooltip) == ("No event yet", before)


DONE = MenuRequest(id="1", summary="guard is approved", requester="a terminal", is_undo=True)
WAITING = Session(agent="codex", session="s1", project="shop", state=SessionState.WAITING)


@pytest.mark.parametrize(
    ("more", "state", "tooltip"),
    [
        ({}, IconState.ON, "Hooktray · Hooks are on"),
        ({"enabled": False, "failing_hooks": 1}, IconState.OFF, "Hooktray · Hooks are off"),
        ({"failing_hooks": 4}, IconState.TROUBLE, "Hooktray · 4 hooks in trouble"),
        ({"unjudged": 1}, IconState.TROUBLE, "Hooktray · 1 call ran unjudged"),
        ({"approvals": (PENDING,), "failing_hooks": 4}, IconState.ATTENTION, "Hooktray · 1 approval waits for you"),
        (
            {"sessions": (WAITING, WAITING), "approvals": (PENDING,)},
            IconState.WAITING,
            "Hooktray · 2 agents wait for you",
        ),
        (
            {"sessions": (WAITING,), "enabled": False},
            IconState.OFF,
            "Hooktray · Hooks are off · 1 agent waits for you",
        ),
        (
            {"problem": "bad", "sessions": (WAITING,)},
            IconState.BROKEN,
            "Hooktray · The configuration is broken · 1 agent waits for you",
        ),
        ({"requests": (DONE,), "failing_hooks": 4}, IconState.ATTENTION, "Hooktray · 1 change can be undone"),
        ({"incident": "gone", "problem": "bad"}, IconState.CUT_OFF, "Hooktray · gone"),
    ],
)
def test_the_icon_and_its_tooltip_say_what_is_the_gravest(
    more: dict[str, Any], state: IconState, tooltip: str
) -> None:
    shown = MenuState(now=0.0, **more)

    assert look(shown) == (state, tooltip)
