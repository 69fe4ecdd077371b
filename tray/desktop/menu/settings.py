"""Settings: start at login, the configuration, the page, agents, single hooks, doctor."""

from __future__ import annotations

from tray.desktop.labels import clean
from tray.desktop.menu.actions import OpenConfiguration, OpenPage, RunDoctor, SetVariable, StartAtLogin, SwitchHook
from tray.desktop.menu.agents import agents
from tray.desktop.menu.items import Item, Items, check, child_id, click, deduplicate, label, submenu, truncated
from tray.desktop.menu.state import MenuHook, MenuState
from tray.language import count, say
from tray.model.hook import ApprovalState
from tray.text import sanitise

ROW_LIMIT = 20


def settings(state: MenuState) -> Item:
    return submenu("settings", say("Settings"), _rows(state))


def _rows(state: MenuState) -> Items:
    options = state.options
    return (
        *_login(options.at_login),
        *((_hooks(state),) if state.hooks else ()),
        *_variables(state),
        click("settings/configuration", say("Open configuration"), OpenConfiguration()),
        *_passphrase(options.has_passphrase),
        *((agents(state),) if state.agents else ()),
        *((click("settings/doctor", say("Doctor"), RunDoctor()),) if options.doctor else ()),
    )


def _login(on: bool | None) -> Items:
    return () if on is None else (check("settings/login", say("Start at login"), on, StartAtLogin(not on)),)


def _passphrase(is_set: bool | None) -> Items:
    """On the page, where it can be typed."""
    if is_set is None:
        return ()
    text = say("Change the passphrase") if is_set else say("Set a passphrase")
    return (click("settings/passphrase", text, OpenPage("passphrase")),)


def _hooks(state: MenuState) -> Item:
    """Each approved hook, ticked while it may run; and those that a person denied or revoked."""
    rows = deduplicate(_hook(one) for one in state.hooks)
    more = count("And {n} more: see `hooktray list`", "And {n} more: see `hooktray list`", len(rows) - ROW_LIMIT)
    return submenu("settings/hooks", say("Hooks"), truncated(rows, ROW_LIMIT, label("settings/hooks/more", more)))


def _hook(one: MenuHook) -> Item:
    text = " · ".join(part for part in (clean(one.name, 40), sanitise(one.event, 30)) if part)
    if one.state is ApprovalState.REVOKED:
        return label(child_id("settings/hooks/one", one.key), say("{hook} · revoked", hook=text))
    if one.state is ApprovalState.DENIED:
        return label(child_id("settings/hooks/one", one.key), say("{hook} · denied", hook=text))
    return check(child_id("settings/hooks/one", one.key), text, one.enabled, SwitchHook(one.key, on=not one.enabled))


def _variables(state: MenuState) -> Items:
    """Each withheld variable that an approved hook names, ticked while a person lets it through to that hook."""
    rows = deduplicate(_variable(one, name) for one in state.hooks for name in sorted({*one.granted, *one.asks_for}))
    if not rows:
        return ()
    more = count("And {n} more: see `hooktray list`", "And {n} more: see `hooktray list`", len(rows) - ROW_LIMIT)
    shown = truncated(rows, ROW_LIMIT, label("settings/variables/more", more))
    return (submenu("settings/variables", say("Withheld variables"), shown),)


def _variable(one: MenuHook, name: str) -> Item:
    is_on = name in one.granted
    text = say("{variable} for {hook}", variable=clean(name, 40), hook=clean(one.name, 30))
    return check(child_id("settings/variables", one.key, name), text, is_on, SetVariable(one.key, name, not is_on))
