"""Hooks, notifications and settings in the menu."""

from __future__ import annotations

from desktop.menu_parts import CLAUDE, NOON, find, labels, walk
from tray.approvals.user_action import UserAction
from tray.desktop.menu import menu
from tray.desktop.menu.actions import SetAlertClass, StartAtLogin
from tray.desktop.menu.state import AlertsState, MenuHook, MenuState
from tray.model.hook import ApprovalState
from tray.settings import CLASSES


def test_alerts_show_only_what_somebody_supplies() -> None:
    assert labels(find(MenuState(now=NOON), "alerts"))[:3] == ["Mute sounds", "Snooze", "Turn ended"]

    current = AlertsState(snoozed_until=NOON + 60, quiet_hours="22:00 to 07:00", deferred=3)
    state = MenuState(now=NOON, alerts=current)

    assert labels(find(state, "alerts"))[:4] == [
        "Mute sounds", "Snoozed until 12:01", "Quiet hours 22:00 to 07:00", "Show 3 held alerts",
    ]  # fmt: skip
    assert labels(find(state, "alerts/snooze")) == ["End the snooze", "30 minutes", "1 hour", "Until tomorrow"]


def test_a_sound_pack_is_shown_with_its_licence() -> None:
    pack = "Orc Peon 1.0.0 by somebody, licence: CC-BY-NC-4.0"

    rows = find(MenuState(now=NOON, alerts=AlertsState(sound_pack=pack)), "alerts").children

    assert [(row.label, row.action) for row in rows if row.id == "alerts/pack"] == [(f"Sound pack: {pack}", None)]


def test_each_class_of_alerts_can_be_turned_off_but_not_what_tells_of_switching() -> None:
    state = MenuState(now=NOON, alerts=AlertsState(muted_classes=frozenset({"blocked"})))

    rows = {item.id.removeprefix("alerts/class/"): item for item in walk(menu(state)) if "alerts/class" in item.id}

    assert set(rows) == set(CLASSES) - {"switched"}
    assert (rows["blocked"].checked, rows["blocked"].action) == (False, SetAlertClass("blocked", on=True))
    assert (rows["turn_end"].checked, rows["turn_end"].action) == (True, SetAlertClass("turn_end", on=False))
    assert all(row.label != key for key, row in rows.items())


def test_settings_have_rows_for_what_is_there() -> None:
    always = ["Start at login", "Open configuration", "Set a passphrase", "Doctor"]
    assert labels(find(MenuState(now=NOON), "settings")) == always

    hooks = (MenuHook(key="k", name="guard", event="tool_before", enabled=False),)
    state = MenuState(now=NOON, at_login=True, has_passphrase=True, hooks=hooks, agents=(CLAUDE,))

    assert labels(find(state, "settings")) == [
        "Start at login", "Hooks", "Open configuration", "Change the passphrase", "Agents", "Doctor",
    ]  # fmt: skip
    assert find(state, "settings/login").action == StartAtLogin(False)
    (hook,) = find(state, "settings/hooks").children
    assert (hook.label, hook.checked, hook.action) == (
        "guard · tool_before",
        False,
        UserAction(action="enable", key="k"),
    )


def test_a_revoked_or_denied_hook_is_listed_without_a_tick() -> None:
    states = (ApprovalState.REVOKED, ApprovalState.DENIED)
    hooks = tuple(MenuHook(key=one.value, name="guard", event="tool_before", state=one) for one in states)

    rows = find(MenuState(now=NOON, hooks=hooks), "settings/hooks").children

    assert [row.label for row in rows] == ["guard · tool_before · revoked", "guard · tool_before · denied"]
    assert [row.action for row in rows] == [None, None]


def test_a_withheld_variable_is_ticked_while_it_is_let_through() -> None:
    hooks = (MenuHook(key="hooktray:/h.yaml#guard", name="guard", event="tool_before", granted=("B_TOKEN",),
                      asks_for=("A_TOKEN",)),)  # fmt: skip

    rows = find(MenuState(now=NOON, hooks=hooks), "settings/variables").children

    assert [(row.label, row.checked) for row in rows] == [("A_TOKEN for guard", False), ("B_TOKEN for guard", True)]
    assert [row.action for row in rows] == [
        UserAction(action="grant", key="hooktray:/h.yaml#guard", variables=("A_TOKEN",)),
        UserAction(action="withhold", key="hooktray:/h.yaml#guard", variables=("B_TOKEN",)),
    ]
