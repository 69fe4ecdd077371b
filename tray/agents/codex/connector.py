"""Connects Codex in hooks.json, and reads from its config.toml whether its user trusts our entries.

Codex runs an entry only if the hash in config.toml is that of the entry's text, event and place in the file. Only
`/hooks` in Codex writes these hashes: Hooktray reads them, and never writes them.
[hooks.state."/home/dev/.codex/hooks.json:pre_tool_use:0:0"]
trusted_hash = "sha256:…"
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.claude_shape.connector import ShapedConnector, read_object
from tray.agents.claude_shape.settings_text import parse_handler
from tray.agents.codex.protocol import EVENTS, NAME, SETTINGS, SHAPE, SHORT
from tray.agents.codex.source import CONFIG, STATE, read_config, switched_off
from tray.agents.connection import Site
from tray.agents.native_runs import declared_in
from tray.edit.file_changes import resolve_links
from tray.model.hook import Command, Hook

WORD_BEGIN = re.compile(r"(?<!^)(?=[A-Z])")
NO_MATCHER = frozenset({"Stop", "UserPromptSubmit"})  # these ignore a matcher, and so does their hash
CONTEXT_LIMIT = 2500  # tokens, for an entry that names no limit
SHORT_EVENTS = frozenset(event for event, spec in EVENTS.items() if spec.timeout == SHORT)
REMEDY = "start Codex, type `/hooks` and trust Hooktray's entries: until then it runs none of them"


class CodexConnector(ShapedConnector, frozen=True):
    """A connector that knows which entries Codex's user trusts."""

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (self.settings_path(site), self.folder(site) / CONFIG)

    def trust(self, site: Site) -> str:
        path = self.settings_path(site)
        config_path = self.folder(site) / CONFIG
        config = read_config(config_path)
        if problem := self.comment_problem(path):
            return f"off: {problem}"
        if switch := switched_off(config, config_path):
            return f"off: Codex runs no hook: take out {switch}"
        hooks = config.get("hooks")
        states = hooks.get(STATE) if isinstance(hooks, dict) else None
        trusted = [_is_trusted(states if isinstance(states, dict) else {}, *entry) for entry in _entries(path)]
        if not trusted or all(trusted):
            return "trusted" if trusted else ""
        missing = trusted.count(False)
        which = "Hooktray's entries are" if missing == len(trusted) else f"{missing} of Hooktray's entries are"
        return f"off: {which} not trusted yet: {REMEDY}"


def runs_own(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True if a connected file declares the hook and the user trusts each entry with its command."""
    path = declared_in(hook)
    if path not in connected or not isinstance(hook.action, Command):
        return False
    hooks = read_config(path.parent / CONFIG).get("hooks")
    states = hooks.get(STATE) if isinstance(hooks, dict) else None
    place, line = f":{snake(hook.match.native)}:", hook.action.line
    entries = [(keys, hash) for keys, hash, command in _all_entries(path) if command == line and place in keys[0]]
    return bool(entries) and all(_is_trusted(states or {}, *entry) for entry in entries)


def _entries(path: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields the keys and the hash of each of our entries."""
    for keys, hash, command in _all_entries(path):
        if parse_handler({"command": command}, SHAPE.agent):
            yield keys, hash


def _all_entries(path: Path) -> Iterator[tuple[tuple[str, ...], str, object]]:
    """Yields for each entry its possible keys (the path may contain links), its hash and its command."""
    hooks = read_object(path).get("hooks")
    paths = dict.fromkeys((str(path), str(resolve_links(path)), str(path.parent.resolve() / path.name)))
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict):
                    place = f"{snake(event)}:{number}:{index}"
                    keys = tuple(f"{each}:{place}" for each in paths)
                    yield keys, entry_hash(event, group, handler), handler.get("command")


def _is_trusted(states: Mapping[str, Any], keys: Iterable[str], hash: str) -> bool:
    state: Mapping[str, Any] = next((states[key] for key in keys if isinstance(states.get(key), dict)), {})
    return state.get("trusted_hash") == hash and state.get("enabled") is not False


def entry_hash(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """The hash that Codex trusts: of compact JSON with sorted keys and every default written out."""
    entry: dict[str, Any] = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": _seconds(event, handler.get("timeout")),
        "async": handler.get("async") is True,
    }
    if isinstance(handler.get("statusMessage"), str):
        entry["statusMessage"] = handler["statusMessage"]
    if handler.get("additionalContextLimit") not in (None, CONTEXT_LIMIT):
        entry["additionalContextLimit"] = handler["additionalContextLimit"]
    whole: dict[str, Any] = {"event_name": snake(event), "hooks": [entry]}
    if isinstance(group.get("matcher"), str) and event not in NO_MATCHER:
        whole["matcher"] = group["matcher"]
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _seconds(event: str, given: Any) -> Any:
    usual = SETTINGS.timeouts.get(event, SETTINGS.timeout)
    number = given if isinstance(given, int) else int(usual)
    return min(number, int(SHORT)) if event in SHORT_EVENTS else number


def snake(event: str) -> str:
    return WORD_BEGIN.sub("_", event).lower()


CONNECTOR = CodexConnector(SHAPE, SETTINGS, NAME)
