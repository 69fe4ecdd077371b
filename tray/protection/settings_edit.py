"""What an edit of an agent's settings file does to its hooks: one that leaves them as they are may pass."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tray.agents.registry import known_agents
from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.protection.protected_paths import hook_words

SIZE_LIMIT = 1 << 20  # bytes of a settings file that is compared
GUARDED_KEY = re.compile(r"(?i)hook|plugin|marketplace|^env$|^sandbox$|^extends?$|^include|managed")
GUARDED_RULE_WORDS = ("bypass", "hooktray")  # in what permissions allow, besides the words of protected files
HOOKS = "hooks"
OWN_WORD = "hooktray"  # in each entry of ours


def judge_edit(input: Mapping[str, Any], path: str) -> Verdict:
    """What to say of this Write, Edit or MultiEdit: ABSTAIN when it changes only members without any say about hooks,
    ASK when it changes hooks in a file that has no entry of Hooktray's, else DENY.

    DENY also when that cannot be seen: another kind of file, one on another machine (an agent in a container), one
    that cannot be parsed, or that the edit does not fit.
    """
    if not content_counts(path):
        return Verdict.DENY
    before = _text(path)
    after = None if before is None else _edited(input, before)
    if before is None or after is None or len(before) > SIZE_LIMIT or len(after) > SIZE_LIMIT:
        return Verdict.DENY
    try:
        if path.endswith(".json"):
            return _judge_json(before, after)
        members = _guarded_members(path)
        is_same = members is not None and _kept(before, path, members) == _kept(after, path, members)
        return Verdict.ABSTAIN if is_same else Verdict.DENY
    except (HooktrayError, ValueError, RecursionError):
        return Verdict.DENY


def content_counts(path: str) -> bool:
    """Whether a change of this file is judged by its content, where that can be seen."""
    return Path(path).name in _names() or _guarded_members(path) is not None


def _judge_json(before: str, after: str) -> Verdict:
    old, new = _members(before), _members(after)
    if _guarded(old) == _guarded(new):
        return Verdict.ABSTAIN
    rest = [{key: value for key, value in members.items() if key != HOOKS} for members in (old, new)]
    is_ours = OWN_WORD in before.lower() or OWN_WORD in after.lower()
    return Verdict.DENY if is_ours or _guarded(rest[0]) != _guarded(rest[1]) else Verdict.ASK


def _names() -> frozenset[str]:
    paths = (Path(one) for agent in known_agents() for one in agent.settings_files)
    return frozenset(path.name for path in paths if path.name.startswith("settings.") and path.suffix == ".json")


def _guarded_members(path: str) -> re.Pattern[str] | None:
    low = path.lower().replace("\\", "/")
    rows = (row for agent in known_agents() for row in agent.guarded_members.items())
    return next((members for files, members in rows if fnmatchcase(low, files)), None)


def _text(path: str) -> str | None:
    """What is in the file; "" where a project that is here has no such file yet, None when it cannot be known."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(SIZE_LIMIT + 1).decode()
    except FileNotFoundError:
        folder = Path(path).parent
        project = folder.parent  # a folder such as /srv or /root says nothing about which machine it is
        return "" if folder.is_dir() or (project.is_dir() and len(project.parts) > 2) else None
    except (OSError, ValueError):
        return None


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
        if not isinstance(old, str) or not isinstance(new, str):
            return None
        if not old and not before and len(edits) == 1:  # a new file, as some agents write it
            return new
        if not old:
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


def _kept(text: str, path: str, members: re.Pattern[str]) -> object:
    """The part of a document with these members at whatever depth; None when it has none."""
    import tomllib  # both slow down the start of every one-shot engine

    from tray.strict import load_yaml

    return _part(tomllib.loads(text) if path.endswith(".toml") else load_yaml(text, path).value, members)


def _part(value: object, members: re.Pattern[str]) -> object:
    if isinstance(value, list):
        parts = [_part(one, members) for one in value]
        return parts if any(part is not None for part in parts) else None
    if not isinstance(value, Mapping):
        return None
    kept = {key: one if members.search(str(key)) else _part(one, members) for key, one in value.items()}
    return {key: one for key, one in kept.items() if one is not None or members.search(str(key))} or None
