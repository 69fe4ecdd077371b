"""What an edit of an agent's settings file does to its hooks: one that leaves them as they are may pass."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NoReturn

from tray.agents.registry import known_agents
from tray.errors import HooktrayError
from tray.model.decision import Verdict
from tray.paths import real_path
from tray.protection.protected_paths import hook_files, hook_settings, hook_words

SIZE_LIMIT = 1 << 20  # bytes of a settings file that is compared
SLOW_SIZE_LIMIT = 1 << 18  # characters of TOML and YAML, whose readers are slower
# A dotted key of so many parts: tomllib takes a time that grows with their square.
LONG_TOML_KEY = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){32}""")
NON_BLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not stop the tray
# Arguments by which a tool writes something else than its texts in place of the old ones.
OTHER_EDITS = frozenset({"append", "insert_line", "insert_text", "mode", "operation"})
PLAIN_COMMANDS = (None, "create", "str_replace")  # of a tool with several of them
TEXT_KEYS = ("content", "edits", "old_string")  # how a tool gives the file's new text; more than one is unclear
GUARDED_KEY = re.compile(r"(?i)hook|plugin|marketplace|^env$|^sandbox$|^extends?$|^include|managed|^version$")
GUARDED_RULE_WORDS = ("bypass", "hooktray")  # in what permissions allow, besides the words of protected files
DECLARING = ("hooks", "version")  # the members that declare hooks, and the format in which they do
PERMISSIONS = "permissions"
PERMISSION_LISTS = ("additionalDirectories", "allow", "ask", "deny")  # an agent passes over one wrong entry of these
TEXT_MEMBERS = ("model", "outputStyle")  # members that may be any text
OWN_WORD = "hooktray"  # in each entry of ours


def judge_edit(input: Mapping[str, object], path: str) -> Verdict:
    """What to say of this Write, Edit or MultiEdit: ABSTAIN when it changes only members without any say about hooks,
    ASK when it changes hooks in a file that has no entry of Hooktray's, else DENY.

    DENY also when that cannot be seen: another kind of file, one on another machine (an agent in a container), one
    that cannot be parsed, or that the edit does not fit.
    """
    if not content_counts(path) or _leads_to_other_hooks(path):
        return Verdict.DENY
    before = _text(path)
    after = None if before is None else _edited(input, before)
    if before is None or after is None or len(before) > SIZE_LIMIT or len(after) > SIZE_LIMIT:
        return Verdict.DENY
    try:
        if path.lower().endswith(".json"):
            return _judge_json(before, after)
        members = _guarded_members(path)
        is_same = members is not None and _kept(before, path, members) == _kept(after, path, members)
        return Verdict.ABSTAIN if is_same else Verdict.DENY
    except (HooktrayError, ValueError, RecursionError):
        return Verdict.DENY


def adds_match(input: Mapping[str, object], path: str, pattern: re.Pattern[str]) -> bool:
    """True if this Write, Edit or MultiEdit adds a new match of the pattern to the file."""
    before = _text(path) or ""
    after = _edited(input, before)
    if after is None:
        return pattern.search(json.dumps(input, ensure_ascii=False, default=str).replace("\\n", "\n")) is not None
    known = {found[0] for found in pattern.finditer(before)}
    return any(found[0] not in known for found in pattern.finditer(after))


def content_counts(path: str) -> bool:
    """Whether a change of this file is judged by its content, where that can be seen."""
    is_settings = Path(path).name in _names() and not _is_below_hooks(path)
    return is_settings or _guarded_members(path) is not None


def _is_below_hooks(path: str) -> bool:
    """Whether it is in an agent's folder of hooks, where a file of any name may be what a hook goes by."""
    low = PurePosixPath(_lowered(path))
    return "hooks" in low.parts[:-1] and not any(low.match(example) for example in hook_settings())


def _leads_to_other_hooks(path: str) -> bool:
    """Whether it is a link to a protected file that is not judged by its content."""
    real = real_path(path)
    if real == path or content_counts(real):
        return False
    return any(files.pattern.fullmatch(_lowered(real)) for files in hook_files())


def _judge_json(before: str, after: str) -> Verdict:
    old, new = _members(before), _members(after)
    if _guarded(old) == _guarded(new):
        has_entries = OWN_WORD in json.dumps(new).lower()
        return Verdict.ASK if has_entries and not _is_valid_everywhere(old, new) else Verdict.ABSTAIN
    rest = [{key: value for key, value in members.items() if key not in DECLARING} for members in (old, new)]
    is_ours = any(OWN_WORD in json.dumps(one).lower() for one in (old, new))  # however a text spells it
    return Verdict.DENY if is_ours or _guarded(rest[0]) != _guarded(rest[1]) else Verdict.ASK


def _is_valid_everywhere(old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    """Whether no agent can take what is new for a mistake: some pass over the whole file then, and its hooks."""
    changed = {key for key, value in new.items() if key not in old or old[key] != value}
    for key in changed - {PERMISSIONS}:
        if key not in TEXT_MEMBERS or not isinstance(new[key], str):
            return False
    return PERMISSIONS not in changed or _are_valid_permissions(old.get(PERMISSIONS, {}), new[PERMISSIONS])


def _are_valid_permissions(old: object, new: object) -> bool:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    changed = (key for key, value in new.items() if key not in old or old[key] != value)
    return all(key in PERMISSION_LISTS and isinstance(new[key], list) for key in changed)


def _names() -> frozenset[str]:
    paths = (Path(one) for agent in known_agents() for one in agent.settings_files)
    return frozenset(path.name for path in paths if path.name.startswith("settings.") and path.suffix == ".json")


def _guarded_members(path: str) -> re.Pattern[str] | None:
    low = PurePosixPath(_lowered(path))
    rows = (row for agent in known_agents() for row in agent.guarded_members.items())
    found = next(((files, members) for files, members in rows if low.match(files)), None)
    if found is None:
        return None
    files, members = found
    return members if "/" in files or not _is_below_hooks(path) else None


def _lowered(path: str) -> str:
    return path.lower().replace("\\", "/")


def _text(path: str) -> str | None:
    """What is in the file; "" where a project that is here has no such file yet, None when it cannot be known."""
    try:
        with open(os.open(path, os.O_RDONLY | NON_BLOCKING), "rb") as file:  # noqa: PTH123
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(SIZE_LIMIT + 1).decode() if is_file else None
    except FileNotFoundError:
        folder = Path(path).parent
        project = folder.parent  # a folder such as /srv or /root does not show which machine it is on
        return "" if folder.is_dir() or (project.is_dir() and len(project.parts) > 2) else None
    except (OSError, ValueError):
        return None


def _edited(input: Mapping[str, object], before: str) -> str | None:
    """The text after the call; None when it is not clear."""
    is_other = any(input.get(key) for key in OTHER_EDITS) or input.get("command") not in PLAIN_COMMANDS
    if is_other or sum(input.get(key) is not None for key in TEXT_KEYS) != 1:
        return None
    content = input.get("content")
    if isinstance(content, str):
        return content
    if "\r\n" in before:
        return _edited_lines(input, before)
    return _with_edits(input, before)


def _edited_lines(input: Mapping[str, object], before: str) -> str | None:
    """Where lines end with CR and LF: tools show and take them with LF. None when some end otherwise."""
    lines = before.replace("\r\n", "\n")
    if "\r" in lines or lines.count("\n") != before.count("\r\n"):
        return None
    after = _with_edits(input, lines)
    return None if after is None else after.replace("\r\n", "\n")


def _with_edits(input: Mapping[str, object], before: str) -> str | None:
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
        times = before.count(old)  # where there is none, a tool may look for something similar
        if times < 1 or (times > 1 and edit.get("replace_all") is not True):
            return None
        before = before.replace(old, new)
    return before


def _members(text: str) -> dict[str, object]:
    """The members of the file's object; one that is named twice is an error, since programs read it differently."""
    value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse) if text.strip() else {}
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member twice")
    return found


def _refuse(constant: str) -> NoReturn:
    """Agents do not read a file with NaN or Infinity, and so have none of its hooks."""
    raise ValueError(f"{constant} is no JSON")


def _guarded(members: Mapping[str, object]) -> str:
    """What must stay as it is: the hooks in their order, what brings or stops hooks, what lets tools reach them."""
    kept = {key: value for key, value in members.items() if GUARDED_KEY.search(key)}
    permissions = members.get("permissions", {})
    allowed = permissions.get("allow", []) if isinstance(permissions, dict) else None
    if not isinstance(allowed, list):
        return json.dumps([kept, permissions])
    words = (*GUARDED_RULE_WORDS, *hook_words())
    free = [one for one in allowed if any(word in str(one).lower() for word in words)]
    mode = permissions.get("defaultMode") if isinstance(permissions, dict) else None
    return json.dumps([kept, free, mode if mode in ("bypassPermissions", "dontAsk") else None], sort_keys=False)


def _kept(text: str, path: str, members: re.Pattern[str]) -> str:
    """The part of a document with these members at whatever depth, as text in which `1` is not `true`."""
    import tomllib  # as slow to import as YAML; an event without the tray seldom needs either

    from tray.strict.yaml_reader import load_yaml

    is_toml = path.lower().endswith(".toml")
    if len(text) > SLOW_SIZE_LIMIT or (is_toml and LONG_TOML_KEY.search(text)):
        raise ValueError("it would take too long")
    return repr(_part(tomllib.loads(text) if is_toml else load_yaml(text, path).value, members))


def _part(value: object, members: re.Pattern[str]) -> object:
    if isinstance(value, list):
        parts = [_part(one, members) for one in value]
        return parts if any(part is not None for part in parts) else None
    if not isinstance(value, Mapping):
        return None
    kept = {key: one if members.search(str(key)) else _part(one, members) for key, one in value.items()}
    return {key: one for key, one in kept.items() if one is not None or members.search(str(key))} or None
