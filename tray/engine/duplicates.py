"""The same handler in several of Claude Code's groups or settings files: one event asks it once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tray.model.hook import AsyncMode, Failure, Hook
from tray.store.ledger import ApprovedHook

AGENT = "claude-code"
PLUGIN = "hooks.json"  # a plugin's handlers are its own


def duplicates(hooks: Sequence[ApprovedHook]) -> dict[int, int]:
    """The indexes of the hooks that are not asked, each with the index of the same hook that is."""
    claude = [index for index, one in enumerate(hooks) if one.hook.source.kind == AGENT]
    same_as: dict[int, int] = {}
    while claude:
        first, *rest = claude
        same = [index for index in rest if _same(hooks[first].hook, hooks[index].hook)]
        kept = max((first, *same), key=lambda index: _weight(hooks[index]))
        same_as |= {index: kept for index in (first, *same) if index != kept}
        claude = [index for index in rest if index not in same]
    return same_as


def split_async(hooks: Sequence[ApprovedHook]) -> tuple[tuple[ApprovedHook, ...], tuple[ApprovedHook, ...]]:
    """The hooks that the answer waits for, and those that run beside it; a duplicate goes with the one asked."""
    same_as = duplicates(hooks)
    beside = {
        index for index in range(len(hooks)) if hooks[same_as.get(index, index)].hook.async_mode is not AsyncMode.NO
    }
    awaited = tuple(one for index, one in enumerate(hooks) if index not in beside)
    return awaited, tuple(hooks[index] for index in sorted(beside))


def _same(one: Hook, other: Hook) -> bool:
    return one.action == other.action and _scope(one) == _scope(other)


def _scope(hook: Hook) -> str:
    path = Path(hook.source.path)
    return str(path) if path.name == PLUGIN else ""


def _weight(one: ApprovedHook) -> tuple[bool, bool, bool, bool, float]:
    """The one that guards most comes first: on, waited for, each time, blocking when it fails, approved last."""
    hook = one.hook
    return hook.enabled, hook.async_mode is AsyncMode.NO, not hook.once, hook.failure is Failure.BLOCK, one.at
