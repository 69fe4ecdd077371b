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
from tray.errors import ConfigError
from tray.model.hook import Command, Http
from tray.settings import wrong
from tray.sources.entries import Found, Place, Sheet, pattern_problem
from tray.sources.web import http, refused
from tray.strict import load_yaml

AGENT = "starchild"
TIMEOUT = 20.0  # seconds
LONGEST = 120.0
SWITCH = "agent.yaml"
FORCED = "STARCHILD_SHELL_HOOKS"
LOCAL = "STARCHILD_SHELL_HOOKS_HTTP_ALLOW_LOCAL"


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> Found:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    off = environment.get(FORCED) != "1" and _off(path.parent / SWITCH)
    allow = environment.get(LOCAL) == "1"
    inert = f"`shell_hooks.enabled: false` in {path.parent / SWITCH}" if off else ""
    return parse(path.read_bytes(), path, agents, inert=inert, allow=allow)


def parse(text: bytes, path: Path, agents: Sequence[str] = (), *, inert: str = "", allow: bool = False) -> Found:
    """The hooks of a text, as if it stood at this path."""
    sheet = Sheet(load_yaml(text, str(path)), AGENT, agents=agents, inert=inert)
    hint = "write `hooks:` and a list below it"
    with sheet.entry():
        entries = sheet.mapping((), sheet.document.value, hint).get("hooks") or []
        for index, entry in enumerate(sheet.items(("hooks",), entries, hint)):
            with sheet.entry():
                at = ("hooks", index)
                _hook(sheet, at, sheet.mapping(at, entry, "begin each hook with `- event: …`"), allow=allow)
    return sheet.found(path.parent / SWITCH)


def _off(path: Path) -> bool:
    """Whether the host's own switch is off. One that cannot be read, or is not there, switches nothing off."""
    try:
        value = load_yaml(path.read_bytes(), str(path)).value
    except (OSError, ConfigError):
        return False
    switch = value.get("shell_hooks") if isinstance(value, dict) else None
    return isinstance(switch, dict) and switch.get("enabled") is False


def _hook(sheet: Sheet, at: Place, fields: Mapping[str, Any], *, allow: bool) -> None:
    event = sheet.text(at, fields, "event")
    pattern = sheet.text(at, fields, "matcher")
    match = sheet.match(at, event, pattern=pattern)
    if problem := pattern_problem(pattern, script=False):
        raise wrong(sheet.document, (*at, "matcher"), f"not a pattern: {problem}", "escape signs with `\\`")
    workspace = sheet.path.parent.parent if sheet.path.parent.name == "config" else sheet.path.parent
    kind = sheet.text(at, fields, "type") or "command"
    timeout = _timeout(sheet, at, fields)
    if kind == "http":
        sheet.add(at, match, _http(sheet, at, fields, allow=allow), timeout=timeout)
        return
    if kind != "command":
        raise wrong(sheet.document, (*at, "type"), f"unknown type `{kind}`", "write `command` or `http`")
    line = sheet.command(at, fields)
    first = sheet.words((*at, "command"), line)[0]
    bare = "/" not in first and "\\" not in first
    program = (shutil.which(first) or "") if bare else ""
    sheet.add(at, match, Command(line=line, folder=str(workspace), interpreter=program), timeout=timeout)


def _http(sheet: Sheet, at: Place, fields: Mapping[str, Any], *, allow: bool) -> Http:
    """The host's variable allows local places; here that one place, and it becomes part of what is approved."""
    action = http(sheet.document, at, sheet.text(at, fields, "url"))
    if allow:
        return replace(action, allow_local=(endpoint(action.url).place,))
    if why := refused(action):
        hint = f"if that is meant, start the tray with {LOCAL}=1"
        raise wrong(sheet.document, (*at, "url"), why, hint)
    return action


def _timeout(sheet: Sheet, at: Place, fields: Mapping[str, Any]) -> float:
    seconds = sheet.number(at, fields, "timeout") or TIMEOUT
    if seconds > LONGEST:
        sheet.warn((*at, "timeout"), f"{seconds:g} s is cut to {LONGEST:g}", f"write at most {LONGEST:g}")
    return min(seconds, LONGEST)
