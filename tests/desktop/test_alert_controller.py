"""What the buttons of alerts do in the tray: details that are not there yet, and a way back from what was done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from house import House
from notify.announced import event, record

from desktop.alert_bench import AlertBench
from tray.approvals.controls import TERMINAL
from tray.model.decision import Decision
from tray.model.event import EventKind
from tray.model.hook import ApprovalState
from tray.notify.alert import AlertClass, Button


class Bench(AlertBench):
    """Controls whose changes are announced."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.controls = house.controls(self.alerting)

    def undo(self) -> None:
        assert self.last.buttons == (Button.UNDO,)
        self.alerting.press(self.last, Button.UNDO)


@pytest.fixture
def bench(house: House) -> Iterator[Bench]:
    bench = Bench(house)
    yield bench
    bench.close()


def test_details_of_an_event_whose_hooks_still_run_are_opened_when_they_have_ended(bench: Bench) -> None:
    ended = event(EventKind.SESSION_END)
    bench.alerting.alerts.arrived(ended)
    shown = bench.last

    bench.alerting.press(shown, Button.DEFAULT)
    early = list(bench.opened)
    bench.alerting.alerts.decided(ended, Decision(), record(ended))
    bench.alerting.press(shown, Button.DEFAULT)

    assert early == []
    assert bench.last.body == "Its hooks still run; the page opens when they have ended"
    assert bench.opened == [ended.id, ended.id]


@pytest.mark.parametrize("channel", ["tray", "page", TERMINAL])
def test_what_was_switched_off_is_taken_back_by_the_alert_that_says_so(bench: Bench, channel: str) -> None:
    bench.controls.set_enabled(False, channel)
    assert bench.last.cls is AlertClass.SWITCHED

    bench.undo()

    assert bench.house.stores.switch.state().enabled
    assert bench.last.body == "Undone: hooks are on"
    assert bench.controls.requests == ()


def test_each_word_about_a_hook_is_taken_back(bench: Bench) -> None:
    one = bench.house.hook("guard", on="tool_before", script="exit 0", approved=False)
    seen = []
    for act in (bench.controls.deny, bench.controls.approve):
        act(one.key, one.digest, "tray")
        before = bench.house.state("guard").state
        bench.undo()
        seen.append((before, bench.house.state("guard").state))
    bench.controls.approve(one.key, one.digest, "tray")
    bench.controls.revoke(one.key, "tray")
    bench.undo()
    bench.controls.set_hook(one.key, False, "tray")
    bench.undo()

    assert seen == [(ApprovalState.DENIED, ApprovalState.PENDING), (ApprovalState.APPROVED, ApprovalState.PENDING)]
    assert bench.house.state("guard").state is ApprovalState.APPROVED
    assert bench.house.stores.switch.state().hooks_off == frozenset()


def test_a_pause_goes_back_to_the_pauses_that_were(bench: Bench) -> None:
    bench.controls.pause(600, "tray", agent="shelley")
    bench.controls.pause(600, "page")

    bench.undo()

    assert [one.agent for one in bench.house.stores.switch.state().pauses] == ["shelley"]


def test_only_the_last_thing_is_taken_back_and_only_once(bench: Bench) -> None:
    bench.controls.pause(600, "tray")
    paused = bench.last
    bench.controls.set_enabled(False, "tray")
    off = bench.last

    for stale in (paused, off, off):
        bench.alerting.press(stale, Button.UNDO)

    bodies = [one.body for one in bench.alerts[2:]]
    assert bodies == ["It can no longer be taken back", "Undone: hooks are paused", "It can no longer be taken back"]


def test_what_was_decided_anew_is_not_taken_back(bench: Bench) -> None:
    one = bench.house.hook("guard", on="tool_before", script="exit 0", approved=False)
    bench.controls.approve(one.key, one.digest, "tray")
    bench.house.consent.revoke(one.key, "elsewhere")

    bench.undo()

    assert bench.house.state("guard").state is ApprovalState.REVOKED
    assert bench.last.body.startswith("it has been decided anew since")


def test_a_change_that_makes_hooks_stricter_has_no_undo_button(bench: Bench) -> None:
    bench.controls.set_enabled(True, "tray")
    bench.controls.resume("tray")

    assert [one.buttons for one in bench.alerts] == [()] * len(bench.alerts)


def test_a_click_beside_the_button_opens_the_page_and_takes_nothing_back(bench: Bench) -> None:
    bench.controls.set_enabled(False, "tray")

    bench.alerting.press(bench.last, Button.DEFAULT)

    assert bench.opened == [""]
    assert not bench.house.stores.switch.state().enabled


def test_each_system_has_its_own_second_way_and_plyer_as_the_last(bench: Bench) -> None:
    names = {system: [one.name for one in bench.alerting.backends(system)] for system in ("linux", "darwin", "win32")}

    assert names == {
        "linux": ["D-Bus", "notify-send", "plyer"],
        "darwin": ["desktop-notifier", "osascript", "plyer"],
        "win32": ["desktop-notifier", "balloon", "plyer"],
    }
