"""The key `sources:` of hooktray.yaml: hooks in other formats, read in the order they are named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tray.dialects import DIALECTS
from tray.errors import ConfigError
from tray.model.hook import Hook
from tray.reading.entries import READABLE_HINT, SourceHooks, read_error, unreadable_source
from tray.settings import invalid_value, unknown_key
from tray.sources import claude_files, claude_frontmatter, shelley, starchild, x_code
from tray.strict import Document, suggest

ReadSource = Callable[[Path, Sequence[str], Mapping[str, str]], SourceHooks]
READERS: dict[str, ReadSource] = {
    "claude-code": lambda path, agents, environment: claude_files.read(path, agents),
    "shelley": lambda path, agents, environment: shelley.read(path, agents),
    "starchild": starchild.read,
    "x-code": lambda path, agents, environment: x_code.read(path, agents),
}
KIND_ERRORS = (IsADirectoryError, NotADirectoryError)
EXPECTED = {
    "claude-code": f"name a settings file, a plugin's folder ({claude_files.MANIFEST}, {claude_files.DEFAULT_FILE}) "
    f"or a skill's ({claude_frontmatter.SKILL})",
    "shelley": f"name a folder that holds {', '.join(shelley.NAMES)} or {shelley.SLASH}/",
    "starchild": "name the file itself, such as config/shell_hooks.yaml",
    "x-code": "name hooks.json, or a folder that holds one of: "
    f"{', '.join((*x_code.MANIFESTS, x_code.DEFAULT_FILE))}",
}
PLUGIN_FILES = ("hooks.json", "plugin.json")
SOURCE_HINT = "write `- claude-code: ~/.claude/settings.json`"


def read(document: Document, environment: Mapping[str, str]) -> SourceHooks:
    """What all named sources yield. What is wrong in `sources:` itself is a ConfigError; in a source, a warning."""
    entries = document.value.get("sources") if isinstance(document.value, dict) else None
    sources = [_read(document, index, entry, environment) for index, entry in enumerate(entries or [])]
    return SourceHooks(
        hooks=_deduplicated(hook for source in sources for hook in source.hooks),
        warnings=tuple(dict.fromkeys(warning for source in sources for warning in source.warnings)),
        watched=tuple(dict.fromkeys(path for source in sources for path in source.watched)),
    )


def _read(document: Document, index: int, entry: Mapping[str, Any], environment: Mapping[str, str]) -> SourceHooks:
    at = ("sources", index)
    for key in entry:
        if key != "agent" and key not in READERS:
            raise unknown_key(document, at, key, (*READERS, "agent"))
    kinds = [key for key in entry if key in READERS]
    if len(kinds) != 1:
        raise invalid_value(document, at, "a source is one format and one path", SOURCE_HINT)
    location = entry[kinds[0]]
    if not isinstance(location, str) or not location.strip():
        raise invalid_value(document, (*at, kinds[0]), "expected a path", SOURCE_HINT)
    agents = _agents(document, (*at, "agent"), entry.get("agent", []))
    folder = Path(document.path).absolute().parent
    path = folder / Path(location).expanduser()
    try:
        return READERS[kinds[0]](path, agents, environment)
    except OSError as error:
        return _unreadable(document, (*at, kinds[0]), path, error)
    except (ConfigError, ValueError) as error:
        return unreadable_source(path, error)


def _unreadable(document: Document, at: tuple[Any, ...], path: Path, error: OSError) -> SourceHooks:
    """The warning names the line of `sources:`, the only one that can be corrected."""
    what = f"{path}: {read_error(error)}"
    if not os.path.exists(path):  # noqa: PTH110 - a folder above it may be closed to us
        warning = invalid_value(document, at, what, "correct this path, or put there what it names")
    elif os.path.isdir(path) and isinstance(error, FileNotFoundError):  # noqa: PTH112
        warning = invalid_value(document, at, f"{path}: nothing of this format is in this folder", EXPECTED[at[-1]])
    else:
        warning = invalid_value(
            document, at, what, EXPECTED[at[-1]] if isinstance(error, KIND_ERRORS) else READABLE_HINT
        )
    return replace(unreadable_source(path, error), warnings=(str(warning),))


def _agents(document: Document, at: tuple[Any, ...], value: Any) -> tuple[str, ...]:
    agents = [value] if isinstance(value, str) else value
    if not isinstance(agents, list):
        raise invalid_value(document, at, "expected a list of agents", "write `agent: [claude-code]`")
    for agent in agents:
        if agent not in DIALECTS:
            raise invalid_value(document, at, f"unknown agent `{agent}`", suggest(str(agent), DIALECTS))
    return tuple(agents)


def _deduplicated(hooks: Iterable[Hook]) -> tuple[Hook, ...]:
    """The same handler in several Claude settings files runs once; a plugin's is its own."""
    seen: dict[tuple[Any, ...], Hook] = {}
    kept: list[Hook] = []
    keys: set[str] = set()  # a source that is named twice counts once
    for hook in hooks:
        if hook.key in keys:
            continue
        keys.add(hook.key)
        same = seen.setdefault(_handler_key(hook), hook)
        again = same is not hook and not hook.inactive
        kept.append(replace(hook, inactive=f"the same hook stands in {same.source}") if again else hook)
    return tuple(kept)


def _handler_key(hook: Hook) -> tuple[Any, ...]:
    action = hook.action
    path = Path(hook.source.path)
    settings = hook.source.kind == "claude-code" and path.suffix == ".json" and path.name not in PLUGIN_FILES
    if not settings or hook.inactive:
        return (hook.key,)
    # Relative words mean other files beside another declaring file, and other projects have other guards.
    return (hook.match, action, hook.failure, hook.async_mode, hook.once)
