"""Settings: start at login, the configuration, the page, agents, single hooks, doctor."""

from __future__ import annotations

from tray.approvals.user_action import UserAction
from tray.desktop.labels import clean
from tray.desktop.menu.actions import OpenConfiguration, OpenPage, RunDoctor, StartAtLogin
from tray.desktop.menu.agents import agents
from tray.desktop.menu.items import Item, Items, check, child_id, click, deduplicate, label, submenu, truncated
from tray.desktop.menu.state import MenuHook, MenuState
from tray.language import say
from tray.model.hook import ApprovalState
from tray.text import sanitise


def settings(state: MenuState) -> Item:
    passphrase = say("Change the passphrase") if state.has_passphrase else say("Set a passphrase")
    rows = (
        check("settings/login", say("Start at login"), state.at_login, StartAtLogin(not state.at_login)),
        *((_hooks(state),) if state.hooks else ()),
        *_variables(state),
        click("settings/configuration", say("Open configuration"), OpenConfiguration()),
        click("settings/passphrase", passphrase, OpenPage("confirm/passphrase")),  # where it can be typed
        *((agents(state),) if state.agents else ()),
        click("settings/doctor", say("Doctor"), RunDoctor()),
    )
    return submenu("settings", say("Settings"), rows)


def _hooks(state: MenuState) -> Item:
    """Each approved hook, ticked while it may run; and those that a person denied or revoked."""
    rows = deduplicate(_hook(one) for one in state.hooks)
    return submenu("settings/hooks", say("Hooks"), truncated(rows, "settings/hooks/more", is_in_list=True))


def _hook(one: MenuHook) -> Item:
    key = child_id("settings/hooks/one", one.key)
    text = " · ".join(part for part in (clean(one.name, 40), sanitise(one.event, 30)) if part)
    if one.state is ApprovalState.REVOKED:
        return label(key, say("{hook} · revoked", hook=text))
    if one.state is ApprovalState.DENIED:
        return label(key, say("{hook} · denied", hook=text))
    return check(key, text, one.enabled, UserAction(action="disable" if one.enabled else "enable", key=one.key))


def _variables(state: MenuState) -> Items:
    """Each withheld variable that an approved hook names, ticked while a person lets it through to that hook."""
    found = []
    for one in state.hooks:
        for name in sorted({*one.granted, *one.asks_for}):
            is_on = name in one.granted
            text = say("{variable} for {hook}", variable=clean(name, 40), hook=clean(one.name, 30))
            action = UserAction(action="withhold" if is_on else "grant", key=one.key, variables=(name,))
            found.append(check(child_id("settings/variables", one.key, name), text, is_on, action))
    rows = deduplicate(found)
    if not rows:
        return ()
    shown = truncated(rows, "settings/variables/more", is_in_list=True)
    return (submenu("settings/variables", say("Withheld variables"), shown),)
