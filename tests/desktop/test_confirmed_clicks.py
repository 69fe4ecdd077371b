"""A click through a panel that Hooktray does not know: it waits for the passphrase, and counts from then on."""

from __future__ import annotations

import os
from typing import cast

import pytest
from at_once import AtOnce
from clock import Clock
from house import House

from desktop.recorded_clicks import RecordedClicks
from desktop.recorded_parts import RecordedMessages
from tray.approvals.callers.click_check import ClickObjection, ClickRejection, ClickTrust
from tray.approvals.controls import Controls
from tray.approvals.user_action import UserAction
from tray.desktop.confirmed_clicks import CLICKS, ConfirmedClicks
from tray.desktop.menu.actions import OpenPage, ToggleSwitch
from tray.errors import HooktrayError
from tray.notify.service import AlertService

SECRET = "seven quiet bridges"
PANEL = os.getpid()  # a process that is there


class Trust:
    """Judges every panel alike until it is confirmed."""

    def __init__(self) -> None:
        self.objection = ClickObjection.UNKNOWN
        self.confirmed: list[int] = []

    def host_objection(self, pid: int) -> ClickRejection | None:
        is_trusted = pid in self.confirmed
        return None if is_trusted else ClickRejection(self.objection, "polybar (7) started after an agent")

    def confirm(self, pid: int) -> None:
        self.confirmed.append(pid)


class Stage:
    def __init__(self, house: House) -> None:
        self.controls: Controls = house.controls()
        self.trust = Trust()
        self.clock, self.menu, messages = Clock(), RecordedClicks(), RecordedMessages()
        self.told, self.done = messages.told, self.menu.acted
        trust = cast("ClickTrust", self.trust)  # judges without processes
        self.clicks = ConfirmedClicks(trust, self.controls, cast(AlertService, messages), AtOnce(), self.clock)
        self.clicks.menu = self.menu


@pytest.fixture
def stage(house: House) -> Stage:
    house.passphrase.set(SECRET, "page")
    return Stage(house)


def test_a_click_waits_for_the_passphrase_and_then_counts_until_the_panel_ends(stage: Stage) -> None:
    stage.clicks.menu_rejected(PANEL, True, [UserAction(action="pause", seconds=60.0)])
    before = list(stage.done)
    (request,) = stage.controls.requests
    stage.controls.resolve(request.id, accept=True)
    stage.clicks.menu_rejected(PANEL, True, [ToggleSwitch()])  # it would be trusted by then

    assert before == []
    assert request.word == CLICKS
    assert "hooktray approve clicks" in stage.told[0][1]
    assert stage.done == [UserAction(action="pause", seconds=60.0), ToggleSwitch()]


def test_without_a_passphrase_a_click_says_the_ways_that_work(house: House) -> None:
    stage = Stage(house)

    stage.clicks.menu_rejected(PANEL, True, [UserAction(action="pause", seconds=60.0)])

    assert (stage.done, stage.controls.requests) == ([], ())
    assert "started after an agent" in stage.told[0][0]
    assert stage.told[0][1] == "Use the page, or set a passphrase: `hooktray passphrase`"


def test_below_an_agent_a_click_is_refused_and_says_the_way(stage: Stage) -> None:
    stage.trust.objection = ClickObjection.AGENT

    stage.clicks.menu_rejected(PANEL, True, [UserAction(action="pause", seconds=60.0), OpenPage()])
    stage.clicks.button_rejected(PANEL, lambda: stage.done.append(ToggleSwitch()))

    assert (stage.done, stage.controls.requests) == ([], ())
    assert stage.told == [
        (
            "Your click did nothing: polybar (7) started after an agent",
            "Start it again outside of the agent, or use the page",
        )
    ]


def test_what_no_panel_sends_does_nothing_and_is_told_once_a_minute(stage: Stage) -> None:
    for _ in range(3):
        stage.clicks.menu_rejected(PANEL, False, [OpenPage(), UserAction(action="pause", seconds=60.0)])
    stage.clock.now += 60.0
    stage.clicks.menu_rejected(PANEL, False, [ToggleSwitch()])

    assert (stage.done, stage.controls.requests) == ([], ())
    assert len(stage.told) == 2


def test_switching_on_and_looking_need_no_passphrase(stage: Stage) -> None:
    stage.controls.set_enabled(False, "page")

    stage.clicks.menu_rejected(PANEL, True, [ToggleSwitch()])
    stage.clicks.menu_rejected(PANEL, True, [OpenPage()])

    assert stage.done == [ToggleSwitch(), OpenPage()]
    assert stage.controls.requests == ()


def test_a_browser_counts_with_the_passphrase_only(stage: Stage) -> None:
    wrong = stage.clicks.confirm_browser((PANEL,), "a guess of mine")
    right = stage.clicks.confirm_browser((PANEL,), SECRET)

    assert (wrong, right, stage.trust.confirmed) == (False, True, [PANEL])
    for _ in range(5):
        stage.clicks.confirm_browser((), "a guess of mine")
    with pytest.raises(HooktrayError, match="too many"):
        stage.clicks.confirm_browser((), SECRET)
