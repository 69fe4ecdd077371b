"""Why a hook that matched may not run: a Gate, or None. Passed at each spawn, never cached."""

from __future__ import annotations

from dataclasses import replace

from tray.model.decision import Gate
from tray.model.hook import Hook, Rule
from tray.store.ledger import Approved
from tray.store.switch import Switch


def switched(one: Approved, switch: Switch) -> Approved:
    """A hook that the menu switched off is one whose file says `enabled: false`."""
    return replace(one, hook=replace(one.hook, enabled=False)) if switch.is_off(one.hook.key) else one


def gate(hook: Hook, *, switch: Gate | None, nested: bool) -> Gate | None:
    """The first reason that holds: the master switch, the hook's own, an event of a hook's own making.

    Approval is no reason here: what is not approved never reaches a plan.
    """
    if switch is not None:
        return switch
    if not hook.enabled:
        return Gate.DISABLED
    return Gate.NESTED if nested else None


def takes_time(hook: Hook, switch: Gate | None) -> bool:
    """Whether its turn may be more than a look: nobody who answers others does that by the way."""
    return switch is None and hook.enabled and not isinstance(hook.action, Rule)
