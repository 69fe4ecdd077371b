"""What is announced about Hooktray itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from approvals.declared import hook
from every import every
from msgspec.structs import replace
from notify.announced import HOSTILE, Announced, assert_fit_for_the_screen

from tray.approvals.catalog import HookState
from tray.approvals.controls import TERMINAL
from tray.model.hook import ApprovalState
from tray.notify.alert import Button, Urgency


def state(name: str, state: ApprovalState = ApprovalState.PENDING) -> HookState:
    proposed = replace(hook(Path("/p"), "./guard.sh"), name=name)
    return HookState(key=name, hook=proposed, state=state, digest="1a2b3c4d5e6f", position=(0, 0))


def test_announcements_of_hooks_the_switch_and_the_configuration(announced: Announced) -> None:
    announced.service.hook_waiting(state("guard"))
    announced.service.hook_waiting(state("lint"))
    announced.service.hook_waiting(state("guard", ApprovalState.CHANGED))
    for channel in ("tray", "the tray menu", TERMINAL):
        announced.service.switched("Hooks off", channel)
    announced.service.config_broken("/home/ada/.config/a.yaml:3:1: bad\nwrite `on: true`")

    assert announced.bodies == [
        "guard on tool_before waits for your approval",
        "lint on tool_before waits for your approval",
        "guard changed since approval; the approved copy goes on running · review it under Approvals",
        "Hooks off · by you, in the menu",
        "Hooks off · by the tray menu",
        "Hooks off · at a terminal · undo it under Approvals",
        "a.yaml:3:1: bad · write `on: true` · The last good configuration stays in force",
    ]
    assert announced.alerts[0].key != announced.alerts[1].key
    assert announced.alerts[-1].apart, "no summary takes it in"


@every("text", HOSTILE)
def test_hostile_text_is_announced_in_no_alert_as_it_is(text: str) -> None:
    announced = Announced()
    announced.service.hook_waiting(state(text))
    announced.service.hook_waiting(state(text, ApprovalState.CHANGED))
    announced.service.switched(text, text)
    announced.service.config_broken(text)
    announced.service.inform("", text)

    assert len(announced.alerts) == 5
    for alert in announced.alerts:
        assert_fit_for_the_screen(alert)


def test_an_answer_to_the_user_is_not_low_because_gnome_shows_no_banner_for_low_ones(announced: Announced) -> None:
    announced.service.inform("", "A program that is not a tray host clicked in Hooktray's menu, which did nothing")

    (answer,) = announced.alerts
    assert (answer.urgency, answer.reply, answer.notify) == (Urgency.NORMAL, True, True)


def test_what_may_have_taken_guards_away_is_critical_and_has_its_review(announced: Announced) -> None:
    announced.service.alarm("The database was damaged", "All approvals are lost", about="x")
    announced.service.alarm("The ledger is not as Hooktray left it", "row 3")

    alert, without_review = announced.alerts
    assert (alert.title, alert.urgency, alert.notify) == ("The database was damaged", Urgency.CRITICAL, True)
    assert (alert.sound, alert.buttons) == ("alarm", (Button.REVIEW,))
    assert without_review.buttons == ()


def test_the_channel_of_a_switch_is_named_in_the_users_language(
    monkeypatch: pytest.MonkeyPatch, announced: Announced
) -> None:
    monkeypatch.setenv("LANGUAGE", "zh_CN")

    announced.service.switched("x", "tray")
    announced.service.switched("x", "typed into shelley")

    assert announced.bodies == ["x · 由你在菜单中", "x · 由 typed into shelley"]
