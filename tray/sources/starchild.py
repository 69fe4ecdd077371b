"""Hooks of a Starchild workspace: config/shell_hooks.yaml, with the host's own switch in agent.yaml beside it.

hooks: [{event: pre_tool_call, matcher: "rm -rf|mkfs", command: ./hooks/guard.py, timeout: 10}]
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tray.addresses import endpoint
from tray.dialects import agent_events
from tray.errors import ConfigError
from tray.model.hook import Command, Http
from tray.reading.entries import Place, SourceHooks, SourceReader, pattern_problem
from tray.reading.http_hooks import http_action, local_url_problem
from tray.settings import invalid_value
from tray.strict import load_yaml

AGENT = "starchild"
TIMEOUT = 20.0  # seconds
TIMEOUT_LIMIT = 120.0
SWITCH_FILE = "agent.yaml"
FORCE_VARIABLE = "STARCHILD_SHELL_HOOKS"
LOCAL_VARIABLE = "STARCHILD_SHELL_HOOKS_HTTP_ALLOW_LOCAL"


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    off = environment.get(FORCE_VARIABLE) != "1" and _is_disabled(path.parent / SWITCH_FILE)
    allow = environment.get(LOCAL_VARIABLE) == "1"
    inert = f"`shell_hooks.enabled: false` in {path.parent / SWITCH_FILE}" if off else ""
    return parse(path.read_bytes(), path, agents, inactive=inert, allow=allow)


def parse(
    text: bytes, path: Path, agents: Sequence[str] = (), *, inactive: str = "", allow: bool = False
) -> SourceHooks:
    """The hooks of a text, as if it stood at this path."""
    sheet = SourceReader(load_yaml(text, str(path)), agent_events(AGENT), agents=agents, inactive=inactive)
    hint = "write `hooks:` and a list below it"
    with sheet.entry():
        entries = sheet.mapping((), sheet.document.value, hint).get("hooks") or []
        for index, entry in enumerate(sheet.items(("hooks",), entries, hint)):
            with sheet.entry():
                at = ("hooks", index)
                _hook(sheet, at, sheet.mapping(at, entry, "begin each hook with `- event: …`"), allow=allow)
    return sheet.result(path.parent / SWITCH_FILE)


def _is_disabled(path: Path) -> bool:
    """Whether the host's own switch is off. One that cannot be read, or is not there, switches nothing off."""
    try:
        value = load_yaml(path.read_bytes(), str(path)).value
    except (OSError, ConfigError):
        return False
    switch = value.get("shell_hooks") if isinstance(value, dict) else None
    return isinstance(switch, dict) and switch.get("enabled") is False


def _hook(sheet: SourceReader, at: Place, fields: Mapping[str, Any], *, allow: bool) -> None:
    event = sheet.text(at, fields, "event")
    pattern = sheet.text(at, fields, "matcher")
    match = sheet.match(at, event, pattern=pattern)
    if problem := pattern_problem(pattern, script=False):
        raise invalid_value(sheet.document, (*at, "matcher"), f"not a pattern: {problem}", "escape signs with `\\`")
    workspace = sheet.path.parent.parent if sheet.path.parent.name == "config" else sheet.path.parent
    kind = sheet.text(at, fields, "type") or "command"
    timeout = _timeout(sheet, at, fields)
    if kind == "http":
        sheet.add(at, match, _http(sheet, at, fields, allow=allow), timeout=timeout)
        return
    if kind != "command":
        raise invalid_value(sheet.document, (*at, "type"), f"unknown type `{kind}`", "write `command` or `http`")
    line = sheet.command(at, fields)
    first = sheet.words((*at, "command"), line)[0]
    bare = "/" not in first and "\\" not in first
    program = (shutil.which(first) or "") if bare else ""
    sheet.add(at, match, Command(line=line, folder=str(workspace), interpreter=program), timeout=timeout)


def _http(sheet: SourceReader, at: Place, fields: Mapping[str, Any], *, allow: bool) -> Http:
    """The host's variable allows local places; here that one place, and it becomes part of what is approved."""
    action = http_action(sheet.document, at, sheet.text(at, fields, "url"))
    if allow:
        return replace(action, allow_local=(endpoint(action.url).host_port,))
    if why := local_url_problem(action):
        hint = f"if that is meant, start the tray with {LOCAL_VARIABLE}=1"
        raise invalid_value(sheet.document, (*at, "url"), why, hint)
    return action


def _timeout(sheet: SourceReader, at: Place, fields: Mapping[str, Any]) -> float:
    seconds = sheet.number(at, fields, "timeout") or TIMEOUT
    if seconds > TIMEOUT_LIMIT:
        sheet.warn((*at, "timeout"), f"{seconds:g} s is cut to {TIMEOUT_LIMIT:g}", f"write at most {TIMEOUT_LIMIT:g}")
    return min(seconds, TIMEOUT_LIMIT)
