"""Why a hook that matched may not run: a Gate, or None. Passed at each spawn, never cached."""

from __future__ import annotations

from dataclasses import replace

from tray.model.decision import Gate
from tray.model.hook import Hook, Rule
from tray.store.ledger import ApprovedHook
from tray.store.switch import Switch


def apply_switch(approved: ApprovedHook, switch: Switch) -> ApprovedHook:
    """A hook that the menu switched off is one whose file says `enabled: false`."""
    if not switch.is_off(approved.hook.key):
        return approved
    return replace(approved, hook=replace(approved.hook, enabled=False))


def gate(hook: Hook, *, switch_gate: Gate | None, nested: bool) -> Gate | None:
    """The first reason that holds: the master switch, the hook's own, an event of a hook's own making.

    Approval is no reason here: what is not approved never reaches a plan.
    """
    if switch_gate is not None:
        return switch_gate
    if not hook.enabled:
        return Gate.DISABLED
    return Gate.NESTED if nested else None


def may_block(hook: Hook, switch_gate: Gate | None) -> bool:
    """Whether running this hook can block; a thread that accepts connections must not."""
    return switch_gate is None and hook.enabled and not isinstance(hook.action, Rule)
