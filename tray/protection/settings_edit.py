"""Whether an edit of an agent's settings file leaves everything about hooks as it is, so that it may pass."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.registry import known_agents
from tray.protection.protected_paths import hook_words

SIZE_LIMIT = 1 << 20  # bytes of a settings file that is compared
GUARDED_KEY = re.compile(r"(?i)hook|plugin|marketplace|^env$|^sandbox$|^extends?$|^include|managed")
GUARDED_RULE_WORDS = ("bypass", "hooktray")  # in what permissions allow, besides the words of protected files


def leaves_hooks(input: Mapping[str, Any], path: str) -> bool:
    """Whether this Write, Edit or MultiEdit changes only members that have nothing to do with hooks.

    False when that cannot be seen: another kind of file, one that is not here (the agent may see another file
    system), that is no JSON, or that the edit does not fit.
    """
    if Path(path).name not in _names():
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            before = file.read(SIZE_LIMIT + 1).decode()
    except (OSError, ValueError):
        return False
    after = _edited(input, before)
    if after is None or len(before) > SIZE_LIMIT or len(after) > SIZE_LIMIT:
        return False
    try:
        return _guarded(_members(before)) == _guarded(_members(after))
    except (ValueError, RecursionError):
        return False


def _names() -> frozenset[str]:
    paths = (Path(one) for agent in known_agents() for one in agent.settings_files)
    return frozenset(path.name for path in paths if path.name.startswith("settings.") and path.suffix == ".json")


def _edited(input: Mapping[str, Any], before: str) -> str | None:
    """The text after the call; None when it is not clear."""
    content = input.get("content")
    if isinstance(content, str):
        return content
    edits = input.get("edits", [input])
    if not isinstance(edits, list) or not edits:
        return None
    for edit in edits:
        if not isinstance(edit, Mapping):
            return None
        old, new = edit.get("old_string"), edit.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or not old:
            return None
        if before.count(old) != 1 and edit.get("replace_all") is not True:
            return None
        before = before.replace(old, new)
    return before


def _members(text: str) -> dict[str, Any]:
    """The members of the file's object; one that is named twice is an error, since programs read it differently."""
    value = json.loads(text, object_pairs_hook=_object) if text.strip() else {}
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member twice")
    return found


def _guarded(members: Mapping[str, Any]) -> str:
    """What must stay as it is: the hooks in their order, what brings or stops hooks, what lets tools reach them."""
    kept = {key: value for key, value in members.items() if GUARDED_KEY.search(key)}
    permissions = members.get("permissions", {})
    allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
    if not isinstance(allowed, list):
        return json.dumps([kept, permissions])
    words = (*GUARDED_RULE_WORDS, *hook_words())
    free = [one for one in allowed if any(word in str(one).lower() for word in words)]
    mode = permissions.get("defaultMode")
    return json.dumps([kept, free, mode if mode in ("bypassPermissions", "dontAsk") else None], sort_keys=False)
