"""The key `sources:` of hooktray.yaml: hooks in other formats, read in the order they are named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents import relay_command
from tray.agents.agent import Agent
from tray.agents.registry import AGENTS, CANONICAL, hook_rules
from tray.errors import PACKAGE_ERRORS, ConfigError
from tray.model.hook import Command, Hook
from tray.reading.entries import OWN_RELAY, READABLE_HINT, SourceHooks, joined, read_error, unreadable_source
from tray.settings import invalid_value, unknown_key
from tray.strict.document import Document, suggest

NO_READER = "hook files of this agent cannot be read"
KIND_ERRORS = (IsADirectoryError, NotADirectoryError)


def formats(agents: Mapping[str, Agent] = AGENTS) -> list[str]:
    """The agents whose hook files can be read."""
    return [agent.id for agent in agents.values() if agent.reader]


def read(document: Document, environment: Mapping[str, str]) -> SourceHooks:
    """What all named sources yield. What is wrong in `sources:` itself is a ConfigError; in a source, a warning."""
    entries = document.value.get("sources") if isinstance(document.value, dict) else None
    found = joined([_read(document, index, entry, environment) for index, entry in enumerate(entries or [])])
    hooks = _deduplicated(hook for hook in found.hooks if not _is_own_entry(hook))
    return replace(found, hooks=hooks, warnings=tuple(dict.fromkeys(found.warnings)))


def _read(document: Document, index: int, entry: Mapping[str, Any], environment: Mapping[str, str]) -> SourceHooks:
    at, known = ("sources", index), formats()
    hint = f"write `- AGENT: PATH`, where AGENT is one of: {', '.join(known)}"
    for key in entry:
        if key in AGENTS and key not in known:
            raise invalid_value(document, (*at, key), AGENTS[key].no_hook_files or NO_READER, hint)
        if key != "agent" and key not in known:
            raise unknown_key(document, at, key, (*known, "agent"))
    kinds = [key for key in entry if key in known]
    if len(kinds) != 1:
        raise invalid_value(document, at, "a source is one format and one path", hint)
    location = entry[kinds[0]]
    if not isinstance(location, str) or not location.strip():
        raise invalid_value(document, (*at, kinds[0]), "expected a path", hint)
    agents = _agents(document, (*at, "agent"), entry.get("agent", []))
    folder = Path(document.path).absolute().parent
    path = folder / Path(location).expanduser()
    find_reader = AGENTS[kinds[0]].reader
    assert find_reader  # `formats` lists no other
    try:
        reader = find_reader()
        try:
            return reader.read(path, agents, environment)
        except OSError as error:
            return _unreadable(document, (*at, kinds[0]), path, error, reader.EXPECTED)
        except (ConfigError, ValueError) as error:
            return unreadable_source(path, error)
    except PACKAGE_ERRORS as error:
        return unreadable_source(path, AGENTS.failure(kinds[0], "reader", error))


def _unreadable(document: Document, at: tuple[Any, ...], path: Path, error: OSError, expected: str) -> SourceHooks:
    """The warning names the line of `sources:`, the only one that can be corrected. `expected` is what to name."""
    what, hint = read_error(error), expected if isinstance(error, KIND_ERRORS) else READABLE_HINT
    if not os.path.exists(path):  # noqa: PTH110 - a folder above it may be closed to us
        hint = "correct this path, or put there what it names"
    elif os.path.isdir(path) and isinstance(error, FileNotFoundError):  # noqa: PTH112
        what, hint = "nothing of this format is in this folder", expected
    warning = invalid_value(document, at, f"{path}: {what}", hint)
    return replace(unreadable_source(path, error), warnings=(str(warning),))


def _agents(document: Document, at: tuple[Any, ...], value: Any) -> tuple[str, ...]:
    agents = [value] if isinstance(value, str) else value
    if not isinstance(agents, list):
        raise invalid_value(document, at, "expected a list of agents", f"write `agent: [{CANONICAL}]`")
    for agent in agents:
        if agent not in AGENTS:
            raise invalid_value(document, at, f"unknown agent `{agent}`", suggest(str(agent), AGENTS))
    return tuple(agents)


def _is_own_entry(hook: Hook) -> bool:
    """Whether `connect` wrote it: it is not shown in a list. What only mentions our relay is listed."""
    if hook.inactive != OWN_RELAY or not isinstance(hook.action, Command):
        return False
    return relay_command.parse(hook.action.line) is not None


def _deduplicated(hooks: Iterable[Hook]) -> tuple[Hook, ...]:
    """The same handler in several settings files of an agent that asks it once runs once; a plugin's is its own."""
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
    rules = hook_rules(hook.match.format)
    settings = rules.deduplicated and path.suffix == ".json" and path.name not in rules.plugin_files
    if not settings or hook.inactive:
        return (hook.key,)
    # Relative words mean other files beside another declaring file, and other projects have other guards.
    return (hook.match, action, hook.failure, hook.async_mode, hook.once)
