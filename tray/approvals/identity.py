"""Which proposal is which approved hook, when names were given by us and programs are found on a PATH.

Without it, a hook put above an approved one of the same name would take its place, and another PATH or an upgrade
would look like a change of every hook.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tray.model.hook import Command, Hook
from tray.store.ledger import ApprovedHook, LedgerState

NO_EARLIER: Mapping[str, ApprovedHook] = {}


def reconcile(
    hooks: Sequence[Hook], ledger_state: LedgerState, earlier: Mapping[str, ApprovedHook] = NO_EARLIER
) -> tuple[Hook, ...]:
    """The same hooks in the same order, with the name and interpreter under which the ledger knows them.

    What was approved `earlier`, on another machine, is known by the same names.
    """
    approved = {key: one.hook for known in (earlier, ledger_state.approved) for key, one in known.items()}
    bound = [_bind_interpreter(hook, approved.values()) for hook in hooks]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, hook in enumerate(bound):
        groups[hook.source.path, re.sub(r"-\d+$", "", hook.name)].append(index)
    for members in groups.values():
        for index, name in _assign_names(members, bound, approved):
            bound[index] = replace(bound[index], name=name)
    return tuple(bound)


def _assign_names(
    members: list[int], hooks: Sequence[Hook], approved: Mapping[str, Hook]
) -> Iterator[tuple[int, str]]:
    """The names of hooks that would all be called the same: first to whom the ledger gave them, then in order."""
    names = [hooks[index].name for index in members]
    open_ = list(members)
    for index in members:
        for name in names:
            known = approved.get(replace(hooks[index], name=name).key)
            if known and (known.match, known.action) == (hooks[index].match, hooks[index].action):
                names.remove(name)
                open_.remove(index)
                yield index, name
                break
    yield from zip(open_, names, strict=True)


def _bind_interpreter(hook: Hook, approved: Iterable[Hook]) -> Hook:
    """Bound to the interpreter that an approved hook of the same command line has, while that is there."""
    action = hook.action
    if not isinstance(action, Command):
        return hook
    for known in approved:
        other = known.action
        if isinstance(other, Command) and (other.line, other.folder) == (action.line, action.folder):
            there = not other.interpreter or Path(other.interpreter).exists()
            return replace(hook, action=replace(action, interpreter=other.interpreter)) if there else hook
    return hook
