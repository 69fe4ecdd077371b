"""Follows the agents: a hook that its agent switched off does not run, and no hook runs twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.language import count
from tray.store.switch import Switch
from tray.text import sanitise

AGENT_SWITCH = "the agent's own switch"
CONNECTION = "the agent's connection"


def follow_agents(catalog: HookCatalog, switch: Switch, controls: Controls) -> None:
    """Let an agent's own switch turn off the approved hooks of its file, or on again."""
    found, before = catalog.switched_off, switch.state().agents_off
    if found.keys() == before:
        return
    switch.set_agents_off(found.keys(), AGENT_SWITCH)
    for why, number in sorted(Counter(found[key] for key in found.keys() - before).items()):
        off = count(
            "{n} approved hook does not run: {why}",
            "{n} approved hooks do not run: {why}",
            number,
            why=sanitise(why, 500),
        )
        controls.announce(off, AGENT_SWITCH)
    if again := before - found.keys():
        text = count(
            "{n} hook is no longer switched off by its agent",
            "{n} hooks are no longer switched off by their agent",
            len(again),
        )
        controls.announce(text, AGENT_SWITCH)


def follow_connections(keys: Collection[str], switch: Switch, controls: Controls) -> None:
    """Leave the hooks of these keys to the agent whose own connected file declares them."""
    before = switch.state().agent_runs
    if keys == before:
        return
    switch.set_agent_runs(keys, CONNECTION)
    if new := set(keys) - before:
        text = count(
            "{n} hook is run by the agent whose file declares it; Hooktray asks it for other agents",
            "{n} hooks are run by the agent whose file declares them; Hooktray asks them for other agents",
            len(new),
        )
        controls.announce(text, "")
