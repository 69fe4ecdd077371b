"""Hooks of a Starchild workspace: config/shell_hooks.yaml, with the host's own switch in agent.yaml beside it.

hooks: [{event: pre_tool_call, matcher: "rm -rf|mkfs", command: ./hooks/guard.py, timeout: 10}]
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.errors import ConfigError
from tray.model.hook import Command
from tray.settings import wrong
from tray.sources.entries import Found, Place, Sheet, pattern_problem
from tray.strict import load_yaml

AGENT = "starchild"
TIMEOUT = 20.0  # seconds
LONGEST = 120.0
SWITCH = "agent.yaml"
FORCED = "STARCHILD_SHELL_HOOKS"


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> Found:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    document = load_yaml(path.read_bytes(), str(path))
    off = environment.get(FORCED) != "1" and _off(path.parent / SWITCH)
    inert = f"`shell_hooks.enabled: false` in {path.parent / SWITCH}" if off else ""
    sheet = Sheet(document, AGENT, agents=agents, inert=inert)
    hint = "write `hooks:` and a list below it"
    with sheet.entry():
        entries = sheet.mapping((), document.value, hint).get("hooks") or []
        for index, entry in enumerate(sheet.items(("hooks",), entries, hint)):
            with sheet.entry():
                at = ("hooks", index)
                _hook(sheet, at, sheet.mapping(at, entry, "begin each hook with `- event: …`"))
    return sheet.found(path.parent / SWITCH)


def _off(path: Path) -> bool:
    """Whether the host's own switch is off. One that cannot be read, or is not there, switches nothing off."""
    try:
        value = load_yaml(path.read_bytes(), str(path)).value
    except (OSError, ConfigError):
        return False
    switch = value.get("shell_hooks") if isinstance(value, dict) else None
    return isinstance(switch, dict) and switch.get("enabled") is False


def _hook(sheet: Sheet, at: Place, fields: Mapping[str, Any]) -> None:
    event = sheet.text(at, fields, "event")
    pattern = sheet.text(at, fields, "matcher")
    match = sheet.match(at, event, pattern=pattern)
    if problem := pattern_problem(pattern, script=False):
        raise wrong(sheet.document, (*at, "matcher"), f"not a pattern: {problem}", "escape signs with `\\`")
    workspace = sheet.path.parent.parent if sheet.path.parent.name == "config" else sheet.path.parent
    kind = sheet.text(at, fields, "type") or "command"
    timeout = _timeout(sheet, at, fields)
    if kind == "http":
        action = Command(line=f"POST {sheet.command(at, fields, 'url')}", folder=str(workspace))
        sheet.add(at, match, action, timeout=timeout, inert="hooks of the type `http` are not in this version")
        return
    if kind != "command":
        raise wrong(sheet.document, (*at, "type"), f"unknown type `{kind}`", "write `command` or `http`")
    line = sheet.command(at, fields)
    first = sheet.words((*at, "command"), line)[0]
    bare = "/" not in first and "\\" not in first
    program = (shutil.which(first) or "") if bare else ""
    sheet.add(at, match, Command(line=line, folder=str(workspace), interpreter=program), timeout=timeout)


def _timeout(sheet: Sheet, at: Place, fields: Mapping[str, Any]) -> float:
    seconds = sheet.number(at, fields, "timeout") or TIMEOUT
    if seconds > LONGEST:
        sheet.warn((*at, "timeout"), f"{seconds:g} s is cut to {LONGEST:g}", f"write at most {LONGEST:g}")
    return min(seconds, LONGEST)
