"""Hooks, notifications and settings in the menu."""

from __future__ import annotations

import pytest

from desktop.menu_parts import CLAUDE, NOON, find, labels, walk
from tray.desktop.menu import (
    AlertsState,
    MenuHook,
    MenuOptions,
    MenuState,
    SetAlertClass,
    SetVariable,
    StartAtLogin,
    SwitchHook,
    menu,
)
from tray.model.hook import ApprovalState
from tray.settings import CLASSES


def test_alerts_show_only_what_somebody_supplies() -> None:
    assert labels(find(MenuState(now=NOON), "alerts"))[:2] == ["Mute sounds", "Turn ended"]

    current = AlertsState(snoozable=True, snoozed_until=NOON + 60, quiet_hours="22:00 to 07:00", deferred=3)
    state = MenuState(now=NOON, alerts=current)

    assert labels(find(state, "alerts"))[:4] == [
        "Mute sounds", "Snoozed until 12:01", "Quiet hours 22:00 to 07:00", "Show 3 held alerts",
    ]  # fmt: skip
    assert labels(find(state, "alerts/snooze")) == ["End the snooze", "30 minutes", "1 hour", "Until tomorrow"]


def test_a_sound_pack_is_shown_with_its_licence() -> None:
    pack = "Orc Peon 1.0.0 by somebody, licence: CC-BY-NC-4.0"

    rows = find(MenuState(now=NOON, alerts=AlertsState(sound_pack=pack)), "alerts").children

    assert [(row.label, row.action) for row in rows if row.id == "alerts/pack"] == [(pack, None)]


def test_each_class_of_alerts_can_be_turned_off_but_not_what_tells_of_switching() -> None:
    state = MenuState(now=NOON, alerts=AlertsState(muted_classes=frozenset({"blocked"})))

    rows = {item.id.removeprefix("alerts/class/"): item for item in walk(menu(state)) if "alerts/class" in item.id}

    assert set(rows) == set(CLASSES) - {"switched"}
    assert (rows["blocked"].checked, rows["blocked"].action) == (False, SetAlertClass("blocked", on=True))
    assert (rows["turn_end"].checked, rows["turn_end"].action) == (True, SetAlertClass("turn_end", on=False))
    assert all(row.label != key for key, row in rows.items())


def test_settings_have_rows_for_what_is_there() -> None:
    assert labels(find(MenuState(now=NOON), "settings")) == ["Open configuration"]

    options = MenuOptions(at_login=True, page=True, doctor=True)
    hooks = (MenuHook(key="k", name="guard", event="tool_before", enabled=False),)
    state = MenuState(now=NOON, options=options, hooks=hooks, agents=(CLAUDE,))

    assert labels(find(state, "settings")) == [
        "Start at login", "Hooks", "Open configuration", "Agents", "Doctor",
    ]  # fmt: skip
    assert find(state, "settings/login").action == StartAtLogin(False)
    (hook,) = find(state, "settings/hooks").children
    assert (hook.label, hook.checked, hook.action) == ("guard · tool_before", False, SwitchHook("k", on=True))


@pytest.mark.parametrize(("state", "word"), [(ApprovalState.REVOKED, "revoked"), (ApprovalState.DENIED, "denied")])
def test_what_was_revoked_or_denied_stands_among_the_hooks_and_has_no_tick(state: ApprovalState, word: str) -> None:
    hooks = (MenuHook(key="k", name="guard", event="tool_before", state=state),)

    (row,) = find(MenuState(now=NOON, hooks=hooks), "settings/hooks").children

    assert (row.label, row.action) == (f"guard · tool_before · {word}", None)


def test_a_withheld_variable_is_ticked_while_it_is_let_through() -> None:
    hooks = (MenuHook(key="hooktray:/h.yaml#guard", name="guard", event="tool_before", granted=("B_TOKEN",),
                      asks_for=("A_TOKEN",)),)  # fmt: skip

    rows = find(MenuState(now=NOON, hooks=hooks), "settings/variables").children

    assert [(row.label, row.checked) for row in rows] == [("A_TOKEN for guard", False), ("B_TOKEN for guard", True)]
    assert [row.action for row in rows] == [
        SetVariable("hooktray:/h.yaml#guard", "A_TOKEN", True),
        SetVariable("hooktray:/h.yaml#guard", "B_TOKEN", False),
    ]
