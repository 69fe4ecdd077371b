"""The same handler in several groups or settings files of one agent: one event asks it once, where that does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tray.agents.registry import hook_rules
from tray.lazy_dataclass import replace
from tray.model.hook import Action, AsyncMode, Command, Failure, Hook
from tray.store.ledger import ApprovedHook


def duplicates(hooks: Sequence[ApprovedHook]) -> dict[int, int]:
    """The indexes of the hooks that are not asked, each with the index of the same hook that is."""
    if len(hooks) < 2:
        return {}
    imported = any(one.hook.is_imported for one in hooks)
    left = [index for index, one in enumerate(hooks) if imported or _is_deduplicated(one.hook)]
    same_as: dict[int, int] = {}
    while left:
        first, *rest = left
        same = [index for index in rest if _same(hooks[first].hook, hooks[index].hook)]
        kept = max((first, *same), key=lambda index: _weight(hooks[index]))
        same_as |= {index: kept for index in (first, *same) if index != kept}
        left = [index for index in rest if index not in same]
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
    if one.match.format != other.match.format:
        return False
    if one.is_imported != other.is_imported:  # it was approved where it stood before, and again where it is now
        return replace(one.match, agents=other.match.agents) == other.match and _line(one) == _line(other)
    return _is_deduplicated(one) and one.action == other.action and _scope(one) == _scope(other)


def _line(hook: Hook) -> Action:
    """The action without its folder: `import-hooks` moves no line that depends on where its file is."""
    return replace(hook.action, folder="") if isinstance(hook.action, Command) else hook.action


def _is_deduplicated(hook: Hook) -> bool:
    return hook_rules(hook.match.format).deduplicated


def _scope(hook: Hook) -> str:
    """The plugin's file; "" for one whose handlers may be those of another file, too."""
    path = Path(hook.source.path)
    return str(path) if path.name in hook_rules(hook.match.format).plugin_files else ""


def _weight(one: ApprovedHook) -> tuple[bool, bool, bool, int, float]:
    """The one that guards most comes first: on, waited for, each time, blocking when it fails, approved last."""
    hook = one.hook
    strictness = tuple(Failure).index(hook.policy)
    return hook.enabled, hook.async_mode is AsyncMode.NO, not hook.once, strictness, one.at
