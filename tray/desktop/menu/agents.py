"""Agents: the state of each. To connect one is one question with a summary of what is written."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tray.desktop.labels import age, clean, id_part
from tray.desktop.menu.actions import (
    ApplyConnection,
    ConnectAll,
    LeaveEntries,
    ProbeAgent,
    PutEntriesBack,
    ReviewConnection,
    ShowAgents,
)
from tray.desktop.menu.items import Item, Items, child_id, click, deduplicate, label, separator, submenu
from tray.desktop.menu.state import MenuAgent, MenuPreview, MenuState
from tray.language import count, say

DIGEST_SHOWN = 8
WIDTH = 80  # characters of a row with a sentence; a longer one has more rows
SENTENCE = 400


def agents(state: MenuState) -> Item:
    """Below Settings: a row for each agent that is here."""
    rows = deduplicate(_agent(one, state.now) for one in state.agents if one.installed or one.changed)
    if more := len({one.agent for one in state.agents}) - len(rows):
        rows.append(
            label("settings/agents/more", count("{n} more is not installed", "{n} more are not installed", more))
        )
    line = separator("settings/agents/line")
    show = click("settings/agents/all", say("Show all"), ShowAgents())
    return submenu("settings/agents", say("Agents"), (*rows, line, *_connect_all(state, "settings/agents"), show))


def connect_rows(state: MenuState) -> Items:
    """The one question for all agents that were found, as long as none is connected and none sent an event."""
    if state.active_agents or any(one.connected or one.changed for one in state.agents):
        return ()
    found = _offered(state)
    if len(found) == 1:
        return tuple(_question(found[0], child_id("offer", found[0].agent)))
    each = []
    for one in found:
        key = child_id("offer", one.agent)
        each.append(submenu(key, _connect_text(one), tuple(_question(one, key))))
    return tuple(deduplicate((*_connect_all(state, "offer"), *each))) if found else ()


def wanted_rows(state: MenuState) -> tuple[MenuAgent | None, Items]:
    """The first agent of which hooks need more events, and the question whether to connect them."""
    one = next((one for one in state.agents if one.is_wanted), None)
    return (one, tuple(_mending(one, child_id("wanted", one.agent)))) if one else (None, ())


def _offered(state: MenuState) -> list[MenuAgent]:
    found = (one for one in state.agents if one.installed and one.connect and not one.connected)
    return list({id_part(one.agent): one for one in found}.values())


def _connect_all(state: MenuState, key: str) -> Items:
    """Several agents are connected by one click, below what it writes for each."""
    found = _offered(state)
    digests = tuple(one.connect.digest for one in found if one.connect)
    if len(digests) < 2:
        return ()
    lines: list[Item] = []
    for one in found:
        if one.connect:
            lines += _sentence(f"{key}/summary/{id_part(one.agent)}", f"{one.name}: {one.connect.summary}")
    text = count("Connect this agent", "Connect all {n} agents", len(digests))
    every = f"{key}/connect_all/{id_part(''.join(each[:DIGEST_SHOWN] for each in digests))}"
    return (*lines, click(every, text, ConnectAll(digests)))


def _agent(one: MenuAgent, now: float) -> Item:
    key = child_id("settings/agents", one.agent)
    package = (say("third-party: {package}", package=clean(one.package, 40)),) if one.package else ()
    text = " · ".join((clean(one.name, 40), *package, *_state_text(one, now)))
    rows = tuple(_choices(one, key))
    return submenu(key, text, rows) if rows else label(key, text)


def _state_text(one: MenuAgent, now: float) -> Iterator[str]:
    """The words of docs/agent-status.md, as far as they are known."""
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
        yield say("last event {when}", when=age(one.last_event, now))
    else:
        yield say("no event yet")


def _choices(one: MenuAgent, key: str) -> Iterator[Item]:
    if one.changed:
        yield from _mending(one, key)
    elif one.advice:
        yield from _sentence(f"{key}/advice", one.advice)
    if one.connect and not one.changed:
        yield submenu(f"{key}/connect", _connect_text(one), tuple(_question(one, f"{key}/connect")))
    if one.disconnect:
        text = say("Disconnect {agent}", agent=clean(one.name, 40))
        below = f"{key}/disconnect"
        yield submenu(below, text, tuple(_preview_rows(one, one.disconnect, below, connect=False)))
    if one.connected:
        yield click(f"{key}/probe", say("Try it"), ProbeAgent(one.agent))


def _mending(one: MenuAgent, key: str) -> Iterator[Item]:
    """What is wrong with its entries, and the two ways on."""
    yield from _sentence(f"{key}/changed", one.changed)
    text = say("Connect {agent}", agent=clean(one.name, 40)) if one.is_wanted else say("Put it back")
    yield click(f"{key}/put_back", text, PutEntriesBack(one.agent))
    leave = LeaveEntries(one.agent, one.changed_digest)
    yield click(f"{key}/leave/{id_part(one.changed_digest)}", say("Leave it"), leave)


def _connect_text(one: MenuAgent) -> str:
    name = clean(one.name, 40)
    return say("Connect {agent} anew", agent=name) if one.connected else say("Connect {agent}", agent=name)


def _question(one: MenuAgent, key: str) -> Iterator[Item]:
    if one.connect:
        yield from _preview_rows(one, one.connect, key, connect=True)


def _preview_rows(one: MenuAgent, preview: MenuPreview, key: str, *, connect: bool) -> Iterator[Item]:
    """The digest is part of the click's id: a click can only mean the change that was summed up above it."""
    yield from _sentence(f"{key}/summary", preview.summary)
    name = clean(one.name, 40)
    text = _connect_text(one) if connect else say("Disconnect {agent}", agent=name)
    yield click(f"{key}/write/{id_part(preview.digest)}", text, ApplyConnection(one.agent, preview.digest))
    yield click(f"{key}/show", say("Show the difference"), ReviewConnection(one.agent, connect=connect))


def _sentence(key: str, text: str) -> Iterator[Item]:
    """A label, or one for each part where it is long: no desktop breaks a row, and none is to run off the screen."""
    whole = clean(text, SENTENCE)
    parts = [whole] if len(whole) <= WIDTH else whole.split(" · ")
    for number, line in enumerate(line for part in parts for line in textwrap.wrap(part, WIDTH)):
        yield label(f"{key}/{number}" if number else key, line)
