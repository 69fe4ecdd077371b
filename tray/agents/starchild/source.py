"""Hooks of a Starchild workspace: config/shell_hooks.yaml, with the host's own switch in agent.yaml beside it.

hooks: [{event: pre_tool_call, matcher: "rm -rf|mkfs", command: ./hooks/guard.py, timeout: 10}]
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.addresses import endpoint
from tray.agents.protocol import agent_events
from tray.agents.starchild.protocol import AGENT
from tray.errors import ConfigError
from tray.files import user_file
from tray.model.hook import Command, Http
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.reading.http_hooks import http_action, local_url_problem
from tray.strict.yaml_reader import load_yaml

TIMEOUT = 20.0  # seconds
TIMEOUT_LIMIT = 120.0
SWITCH_FILE = "agent.yaml"
WORKSPACE = "workspace"  # the key of an imported file for the folder of its relative paths
FORCE_VARIABLE = "STARCHILD_SHELL_HOOKS"
LOCAL_VARIABLE = "STARCHILD_SHELL_HOOKS_HTTP_ALLOW_LOCAL"
EXPECTED = "name the file itself, such as config/shell_hooks.yaml"


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    is_disabled = environment.get(FORCE_VARIABLE) != "1" and _is_disabled(path.parent / SWITCH_FILE)
    allow = environment.get(LOCAL_VARIABLE) == "1"
    inactive = f"`shell_hooks.enabled: false` in {path.parent / SWITCH_FILE}" if is_disabled else ""
    return parse(user_file(path), path, agents, inactive=inactive, allow=allow)


def parse(
    text: bytes, path: Path, agents: Sequence[str] = (), *, inactive: str = "", allow: bool = False
) -> SourceHooks:
    """The hooks of a text, as if it were at this path."""
    reader = SourceReader(load_yaml(text, str(path)), agent_events(AGENT), agents=agents, inactive=inactive)
    hint = "write `hooks:` and a list below it"
    with reader.entry():
        fields = reader.mapping((), reader.document.value, hint)
        entries = fields.get("hooks") or []
        usual = path.parent.parent if path.parent.name == "config" else path.parent
        workspace = reader.text((), fields, WORKSPACE) or str(usual)
        for index, entry in enumerate(reader.items(("hooks",), entries, hint)):
            with reader.entry():
                at = ("hooks", index)
                fields = reader.mapping(at, entry, "begin each hook with `- event: …`")
                _hook(reader, at, fields, workspace, allow=allow)
    return reader.result(path.parent / SWITCH_FILE)


def _is_disabled(path: Path) -> bool:
    """Whether the host's own switch is off. One that cannot be read, or is not there, switches nothing off."""
    try:
        value = load_yaml(user_file(path), str(path)).value
    except (OSError, ConfigError):
        return False
    switch = value.get("shell_hooks") if isinstance(value, dict) else None
    return isinstance(switch, dict) and switch.get("enabled") is False


def _hook(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], workspace: str, *, allow: bool) -> None:
    event = reader.text(at, fields, "event")
    pattern = reader.text(at, fields, "matcher")
    match = reader.match(at, event, pattern=pattern)
    if problem := pattern_problem(pattern, script=False):
        raise reader.error((*at, "matcher"), f"not a pattern: {problem}", "escape signs with `\\`")
    kind = reader.text(at, fields, "type") or "command"
    timeout = reader.timeout(at, fields, default=TIMEOUT, limit=TIMEOUT_LIMIT, unit="s")
    if kind == "http":
        reader.add(at, match, _http(reader, at, fields, allow=allow), timeout=timeout)
        return
    if kind != "command":
        raise reader.error((*at, "type"), f"unknown type `{kind}`", "write `command` or `http`")
    line = reader.command(at, fields)
    first = reader.words((*at, "command"), line)[0]
    program = "" if "/" in first or "\\" in first else shutil.which(first) or ""
    reader.add(at, match, Command(line=line, folder=workspace, interpreter=program), timeout=timeout)


def _http(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], *, allow: bool) -> Http:
    """The host's variable allows local places; here that one place, and it becomes part of what is approved."""
    action = http_action(reader.document, at, reader.text(at, fields, "url"))
    if allow:
        return replace(action, allow_local=(endpoint(action.url).host_port,))
    if why := local_url_problem(action):
        raise reader.error((*at, "url"), why, f"if that is meant, start the tray with {LOCAL_VARIABLE}=1")
    return action
