"""Settings: start at login, the configuration, the page, agents, single hooks, doctor."""

from __future__ import annotations

from tray.desktop.menu.actions import Doctor, Hooking, OpenConfiguration, OpenPage, StartAtLogin
from tray.desktop.menu.agents import agents
from tray.desktop.menu.items import Item, Items, below, check, click, label, shortened, submenu, unique
from tray.desktop.menu.state import MenuState, Running
from tray.desktop.words import clean
from tray.language import count, say
from tray.model.hook import State
from tray.text import sanitise

SHOWN = 20


def settings(state: MenuState) -> Item:
    return submenu("settings", say("Settings"), _rows(state))


def _rows(state: MenuState) -> Items:
    offers = state.offers
    return (
        *_login(offers.at_login),
        *((_hooks(state),) if state.hooks else ()),
        click("settings/configuration", say("Open configuration"), OpenConfiguration()),
        *((click("settings/page", say("Open page"), OpenPage()),) if offers.page else ()),
        *((agents(state),) if state.wired else ()),
        *((click("settings/doctor", say("Doctor"), Doctor()),) if offers.doctor else ()),
    )


def _login(on: bool | None) -> Items:
    return () if on is None else (check("settings/login", say("Start at login"), on, StartAtLogin(not on)),)


def _hooks(state: MenuState) -> Item:
    """Each approved hook, ticked while it may run; and what a person turned down or took back."""
    rows = unique(_hook(one) for one in state.hooks)
    more = count("And {n} more: see `hooktray list`", "And {n} more: see `hooktray list`", len(rows) - SHOWN)
    return submenu("settings/hooks", say("Hooks"), shortened(rows, SHOWN, label("settings/hooks/more", more)))


def _hook(one: Running) -> Item:
    text = " · ".join(part for part in (clean(one.name, 40), sanitise(one.event, 30)) if part)
    if one.state is State.REVOKED:
        return label(below("settings/hooks/one", one.key), say("{hook} · revoked", hook=text))
    if one.state is State.DENIED:
        return label(below("settings/hooks/one", one.key), say("{hook} · denied", hook=text))
    return check(below("settings/hooks/one", one.key), text, one.enabled, Hooking(one.key, on=not one.enabled))
