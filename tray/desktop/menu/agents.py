"""Agents: the state of each; to connect one, what would be written is shown first, and another click writes it."""

from __future__ import annotations

from collections.abc import Iterator

from tray.desktop.labels import age, clean, id_part
from tray.desktop.menu.actions import (
    ApplyConnection,
    LeaveEntries,
    ProbeAgent,
    PutEntriesBack,
    ReviewConnection,
    ShowAgents,
)
from tray.desktop.menu.items import Item, Items, child_id, click, deduplicate, label, separator, submenu
from tray.desktop.menu.state import MenuAgent, MenuState
from tray.language import say

DIGEST_SHOWN = 8
ADVICE = 100  # characters


def agents(state: MenuState) -> Item:
    """Below Settings: a row for each agent that we can connect."""
    rows = deduplicate(_agent(one, state.now) for one in state.agents)
    line = separator("settings/agents/line")
    return submenu(
        "settings/agents", say("Agents"), (*rows, line, click("settings/agents/all", say("Show all"), ShowAgents()))
    )


def connect_rows(state: MenuState) -> Items:
    """A row for each agent that was found here, as long as none is connected and none sent an event."""
    if state.active_agents or any(one.connected or one.changed for one in state.agents):
        return ()
    installed = (one for one in state.agents if one.installed)
    return tuple(deduplicate(row for one in installed for row in _connecting(one, child_id("offer", one.agent))))


def _agent(one: MenuAgent, now: float) -> Item:
    key = child_id("settings/agents", one.agent)
    package = (say("third-party: {package}", package=clean(one.package, 40)),) if one.package else ()
    text = " · ".join((clean(one.name, 40), *package, *_state_text(one, now)))
    is_open = one.installed or one.changed
    return submenu(key, text, tuple(_choices(one, key))) if is_open else label(key, text)


def _state_text(one: MenuAgent, now: float) -> Iterator[str]:
    """The words of docs/connect.md, as far as they are known."""
    if not one.installed and not one.changed:
        yield say("not installed")
        return
    if one.changed:
        yield say("its entries changed")
    yield say("connected") if one.connected else say("not connected")
    if not one.connected:
        return
    if one.trusted is not None:
        yield say("trusted") if one.trusted else say("not trusted")
    if one.firing is not None:
        yield say("firing") if one.firing else say("not firing")
    if one.last_event is not None:
        yield say("last heard of {when}", when=age(one.last_event, now))
    else:
        yield say("never heard of")


def _choices(one: MenuAgent, key: str) -> Iterator[Item]:
    if one.changed:
        yield label(f"{key}/changed", clean(one.changed, ADVICE))
        yield click(f"{key}/put_back", say("Put it back"), PutEntriesBack(one.agent))
        leave = LeaveEntries(one.agent, one.changed_digest)
        yield click(f"{key}/leave/{id_part(one.changed_digest)}", say("Leave it"), leave)
    elif one.advice:
        yield label(f"{key}/advice", clean(one.advice, ADVICE))
    if not one.connected:
        yield from _connecting(one, key)
        return
    if one.stale:
        yield from _connecting(one, key)
    yield from _disconnecting(one, key)
    yield click(f"{key}/probe", say("Try it"), ProbeAgent(one.agent))


def _connecting(one: MenuAgent, key: str) -> Iterator[Item]:
    """The digest is part of the click's id: a click can only mean the difference that was shown."""
    name = clean(one.name, 40)
    text = say("Connect {agent} anew", agent=name) if one.connected else say("Connect {agent}", agent=name)
    yield click(f"{key}/connect", f"{text}…", ReviewConnection(one.agent, connect=True))
    if one.connect:
        yield _writing(f"{key}/write", one.agent, one.connect)


def _disconnecting(one: MenuAgent, key: str) -> Iterator[Item]:
    text = say("Disconnect {agent}", agent=clean(one.name, 40))
    yield click(f"{key}/disconnect", f"{text}…", ReviewConnection(one.agent, connect=False))
    if one.disconnect:
        yield _writing(f"{key}/remove", one.agent, one.disconnect)


def _writing(key: str, agent: str, digest: str) -> Item:
    shown = clean(digest[:DIGEST_SHOWN], DIGEST_SHOWN, "?")
    text = say("Write what was shown: {digest}", digest=shown)
    return click(f"{key}/{id_part(digest)}", text, ApplyConnection(agent, digest))
