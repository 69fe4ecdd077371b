"""Why a hook that matched may not run: a Gate, or None. Passed at each spawn, never cached."""

from __future__ import annotations

from tray.lazy_dataclass import replace
from tray.model.decision import Gate
from tray.model.event import Event
from tray.model.hook import Hook, Rule
from tray.store.ledger import ApprovedHook
from tray.store.switch import Switch


def apply_switch(approved: ApprovedHook, switch: Switch) -> ApprovedHook:
    """A hook that the menu switched off is one whose file says `enabled: false`."""
    if not switch.is_off(approved.hook.key):
        return approved
    return replace(approved, hook=replace(approved.hook, enabled=False))


MAX_DEPTH = 3  # hooks, one below the other, below which hooks are still asked


def gate(hook: Hook, event: Event, *, switch_gate: Gate | None) -> Gate | None:
    """The first reason that holds: the master switch, the hook's own, an event from below this hook or from too deep.

    Rules start nothing, so they speak wherever the event comes from. Approval is no reason here: what is not approved
    never reaches a plan.
    """
    if switch_gate is not None:
        return switch_gate
    if not hook.enabled:
        return Gate.DISABLED
    if isinstance(hook.action, Rule) or not event.nested:
        return None
    if event.depth > MAX_DEPTH:
        return Gate.TOO_DEEP
    return Gate.NESTED if hook.key in event.above else None


def may_block(hook: Hook, switch_gate: Gate | None) -> bool:
    """Whether running this hook can block; a thread that accepts connections must not."""
    return switch_gate is None and hook.enabled and not isinstance(hook.action, Rule)
