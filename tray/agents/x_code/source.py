"""Hooks of an X-Code CLI plugin: its folder, its plugin.json (inline or with a path) or its hooks.json.

{"PreToolUse": [{"matcher": "writeFile|edit", "command": "node ${pluginDir}/lint.mjs", "timeout": 5000,
    "failurePolicy": "block", "description": "lint"}]}
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.protocol import agent_events
from tray.agents.x_code.protocol import AGENT, EVENTS
from tray.files import user_file
from tray.model.event import EventKind
from tray.model.hook import Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.settings import invalid_value
from tray.strict.document import Document
from tray.strict.json_reader import load_json, relax

SIZE = 4 * 1024 * 1024  # bytes of a manifest
TIMEOUT = 5000.0  # milliseconds
TIMEOUT_LIMIT = 30000.0
MANIFESTS = (".x-code-plugin/plugin.json", ".claude-plugin/plugin.json", "plugin.json")
DEFAULT_FILE = "hooks/hooks.json"
EXPECTED = f"name hooks.json, or a folder that holds one of: {', '.join((*MANIFESTS, DEFAULT_FILE))}"
MATCHER_KINDS = (EventKind.TOOL_BEFORE, EventKind.TOOL_AFTER)
COMMAND_KEYS = {"darwin": "commandDarwin", "linux": "commandLinux", "win32": "commandWindows"}


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one plugin. Raises OSError and ConfigError when it cannot be read at all."""
    root = _root(path)
    visited: list[Path] = []
    document, at = _find_hooks(path, root, visited)
    reader = SourceReader(document, agent_events(AGENT), agents=agents, project=_project(root))
    hint = 'write {"PreToolUse": [{"command": "…"}]}'
    with reader.entry():
        value = document.value.get("hooks") if at and isinstance(document.value, dict) else document.value
        for event, hooks in reader.mapping(at, value, hint).items():
            with reader.entry():
                _event(reader, root, (*at, event), hooks)
    return reader.result(*visited)


def _find_hooks(path: Path, root: Path, visited: list[Path]) -> tuple[Document, KeyPath]:
    """The file that holds the hooks, and where in it. `visited` collects the files that led there."""
    if path.is_dir():
        found = next((root / name for name in MANIFESTS if (root / name).is_file()), root / DEFAULT_FILE)
        visited.append(path)
        return _find_hooks(found, root, visited)
    document = load_json(relax(user_file(path)), str(path), limit=SIZE)
    if path.name != "plugin.json":
        return document, ()
    hooks = document.value.get("hooks", DEFAULT_FILE) if isinstance(document.value, dict) else None
    if isinstance(hooks, str):
        visited.append(path)
        return load_json(relax(user_file(_within(document, root, hooks))), str(root / hooks), limit=SIZE), ()
    return document, ("hooks",)


def _within(document: Document, root: Path, relative: str) -> Path:
    path = (root / relative).resolve()
    if not path.is_relative_to(root.resolve()):
        what = f"`{relative}` is outside of the plugin"
        raise invalid_value(document, ("hooks",), what, "name a file of the plugin's own")
    return path


def _event(reader: SourceReader, root: Path, at: KeyPath, hooks: Any) -> None:
    event = str(at[-1])
    if event == "hooks":
        what = "X-Code takes no hooks from inside of `hooks`"
        raise reader.error(at, what, "put the events at the top, as X-Code reads them")
    reader.match(at, event)
    hint = 'write [{"command": "…"}]'
    for index, entry in enumerate(reader.items(at, hooks, hint)):
        with reader.entry():
            place = (*at, index)
            _hook(reader, root, event, place, reader.mapping(place, entry, hint))


def _hook(reader: SourceReader, root: Path, event: str, at: KeyPath, fields: Mapping[str, Any]) -> None:
    usual = reader.command(at, fields)
    line = reader.text(at, fields, COMMAND_KEYS.get(sys.platform, "")) or usual
    action = Command(  # noqa: S604 - the format has a shell; nothing is run here
        line=line,
        folder=str(reader.path.parent),
        interpreter="/bin/sh",
        shell=True,
        format=AGENT,
        plugin=str(root) if "${pluginDir}" in line else "",
        storage=str(_storage(root)) if "${pluginDataDir}" in line else "",
        owner=_id(root),
        root=str(root),
    )
    policy = reader.text(at, fields, "failurePolicy")
    if policy not in ("", "allow", "block"):
        raise reader.error((*at, "failurePolicy"), f"unknown word `{policy}`", "write `allow` or `block`")
    reader.add(
        at,
        reader.match(at, event, tool=_matcher(reader, event, at, fields)),
        action,
        name=reader.text(at, fields, "description"),
        timeout=reader.timeout(at, fields, default=TIMEOUT, limit=TIMEOUT_LIMIT, unit="ms") / 1000,
        failure=Failure.BLOCK if policy == "block" else Failure.ALLOW,
    )


def _matcher(reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> str:
    """The pattern for tool names; a bad one asks the hook for every tool, as X-Code does."""
    pattern = reader.text(at, fields, "matcher")
    if EVENTS[event].kind not in MATCHER_KINDS or not pattern:
        return ""
    if problem := pattern_problem(pattern, script=True):
        reader.warn((*at, "matcher"), f"not a pattern, so every tool matches: {problem}", "escape signs with `\\`")
        return ""
    return pattern


def _root(path: Path) -> Path:
    """The plugin's folder."""
    if path.is_dir():
        return path
    inner = path.parent.name in {"hooks", ".x-code-plugin", ".claude-plugin"}
    return path.parent.parent if inner else path.parent


def _project(root: Path) -> str:
    """The project whose own plugin this is; "" when the user installed it."""
    above = [folder for folder in root.parents if folder.name == ".x-code"]
    return str(above[0].parent) if above and above[0].parent != Path.home() and root.parent.parent == above[0] else ""


def _storage(root: Path) -> Path:
    home = Path(os.environ.get("X_CODE_HOME") or Path.home() / ".x-code")
    return home / "plugins" / "data" / _id(root)


def _id(root: Path) -> str:
    market, name = root.parent.parent, root.parent
    installed = market.parent.name == "cache"  # cache/<market>/<name>/<version>
    return f"{name.name}@{market.name}" if installed else f"{root.name}@local"
