"""Hooks of a Claude Code settings file or a plugin's hooks.json.

{"disableAllHooks": false, "hooks": {"PreToolUse": [{"matcher": "Bash|Write",
    "hooks": [{"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/.claude/guard.sh", "timeout": 10}]}]}}
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.claude_code import http_hooks, permission_rules
from tray.agents.claude_code.events import EVENTS
from tray.agents.protocol import agent_events
from tray.errors import ConfigError
from tray.model.hook import Action, AsyncMode, Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem
from tray.settings import invalid_value
from tray.strict import Document, load_json

AGENT = "claude-code"
SIZE = 4 * 1024 * 1024  # bytes of a settings file
TIMEOUT = 600.0  # seconds
TIMEOUTS = {"MessageDisplay": 10.0, "UserPromptSubmit": 30.0}
MILLISECONDS = 1000  # a larger number of seconds was meant as milliseconds, as the first versions had it
TYPES = ("command", "agent", "http", "mcp_tool", "prompt")
NEVER_FAILS = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})  # onFailure means nothing there
IF_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
LIST_OF_NAMES = re.compile(r"[A-Za-z0-9_\-, |]*")


def read(path: Path, agents: Sequence[str], plugin: Path | None = None) -> SourceHooks:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    return parse(path.read_bytes(), path, agents, plugin)


def parse(text: bytes, path: Path, agents: Sequence[str] = (), plugin: Path | None = None) -> SourceHooks:
    """The hooks of a text that is, or will be, at this path."""
    document = load_json(text, str(path), limit=SIZE)
    project = _project(path)
    reader = SourceReader(
        document,
        agent_events(AGENT),
        agents=agents,
        project=project,
        inactive=_disabled_reason(document),
        plugin=plugin or _plugin(path),
    )
    with reader.entry():
        read_mapping(reader, (), document.value)
    return reader.result()


def disabled_reason(path: Path) -> str:
    """Why all hooks beside this settings file are inactive; "" when they are not, or it cannot be read."""
    try:
        return _disabled_reason(load_json(path.read_bytes(), str(path), limit=SIZE))
    except (OSError, ConfigError):
        return ""


def _disabled_reason(document: Document) -> str:
    off = isinstance(document.value, dict) and document.value.get("disableAllHooks") is True
    return f"`disableAllHooks: true` in {document.path}" if off else ""


def read_mapping(reader: SourceReader, at: KeyPath, value: Any) -> None:
    """The hooks of the mapping at this place, which holds them under `hooks`."""
    hint = 'write {"hooks": {"PreToolUse": […]}}'
    read_events(reader, (*at, "hooks"), reader.mapping(at, value, hint).get("hooks") or {})


def read_events(reader: SourceReader, at: KeyPath, value: Any) -> None:
    for event, groups in reader.mapping(at, value, 'write {"PreToolUse": […]}').items():
        with reader.entry():
            # The end of a subagent is an event of its own: what its agent calls its Stop.
            name = "SubagentStop" if reader.subagent and event == "Stop" else event
            _event(reader, name, (*at, event), groups)


def _event(reader: SourceReader, event: str, at: KeyPath, groups: Any) -> None:
    reader.match(at, event)  # an unknown event is reported once, not for each of its hooks
    hint = 'write [{"matcher": "Bash", "hooks": […]}]'
    for index, group in enumerate(reader.items(at, groups, hint)):
        with reader.entry():
            place = (*at, index)
            fields = reader.mapping(place, group, hint)
            matcher = reader.text(place, fields, "matcher")
            handlers = reader.items((*place, "hooks"), fields.get("hooks"), hint)
            for number, handler in enumerate(handlers):
                with reader.entry():
                    _handler(reader, event, matcher, (*place, "hooks", number), handler)


def _handler(reader: SourceReader, event: str, matcher: str, at: KeyPath, value: Any) -> None:
    fields = reader.mapping(at, value, 'write {"type": "command", "command": "…"}')
    kind = reader.text(at, fields, "type")
    if kind not in TYPES:
        raise invalid_value(reader.document, at, f"unknown type `{kind}`", f"write one of: {', '.join(TYPES)}")
    subject = bool(EVENTS[event].subject)
    condition = _condition(reader, at, fields)
    match = reader.match(at, event, tool=matcher if subject and matcher != "*" else "", condition=condition)
    problem = "" if LIST_OF_NAMES.fullmatch(match.tool) else pattern_problem(match.tool, script=True)
    if problem:
        reader.warn(
            (*at[:-2], "matcher"), f"not a pattern, so it matches nothing: {problem}", "escape signs with `\\`"
        )
    action, inactive = _action(reader, at, fields, kind)
    if problem:
        inactive = "its matcher matches nothing"
    elif condition and event not in IF_EVENTS:
        inactive = f"its `if` can be met on {', '.join(IF_EVENTS)} alone"
    async_mode = _async_mode(reader, at, fields) if kind == "command" else AsyncMode.NO
    reader.add(
        at,
        match,
        action,
        timeout=_timeout(reader, at, fields, event, kind),
        failure=Failure.ALLOW if async_mode is not AsyncMode.NO else _failure(reader, at, fields, event),
        env=http_hooks.variables(reader, at, fields) if kind == "http" else (),
        once=reader.flag(at, fields, "once"),
        async_mode=async_mode,
        status_message=reader.text(at, fields, "statusMessage"),
        inactive=inactive,
    )


def _condition(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> str:
    """The permission rule under `if`. One that we cannot read is a warning, and its hook runs each time."""
    rule = reader.text(at, fields, "if").strip()
    if rule and (problem := permission_rules.problem(rule)):
        reader.warn((*at, "if"), f"{problem}, so the hook runs whatever it says", "write one rule: `Bash(git *)`")
    return rule


def _async_mode(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> AsyncMode:
    if reader.flag(at, fields, "asyncRewake"):
        return AsyncMode.REWAKE
    return AsyncMode.ASYNC if reader.flag(at, fields, "async") else AsyncMode.NO


def _action(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], kind: str) -> tuple[Action, str]:
    """What it runs, and what this version does not support of it."""
    folder = _project(reader.path) or str(reader.path.parent)  # Claude Code runs a project's hooks in the project
    if kind == "mcp_tool":
        tool = reader.text(at, fields, "tool")
        reason = "hooks of the type `mcp_tool` are not in this version: Hooktray has no MCP servers"
        return Command(line=f"mcp_tool: {tool}", folder=folder), reason
    if kind != "command":
        action, unsupported = http_hooks.action(reader, at, fields, kind)
        return action, unsupported or _unsupported(fields)
    line = reader.command(at, fields)
    unsupported = _unsupported(fields)
    root = reader.plugin
    plugin = str(root) if root and "CLAUDE_PLUGIN_ROOT" in str(fields) else ""
    storage = str(_storage(root)) if root and (plugin or "CLAUDE_PLUGIN_DATA" in str(fields)) else ""
    shell = fields.get("args") is None
    if not shell:
        args = reader.items((*at, "args"), fields["args"], "write a list of texts")
        if not all(isinstance(arg, str) for arg in args):
            raise invalid_value(reader.document, (*at, "args"), "expected texts", "put each of them in quotes")
        line = shlex.join((line, *args))
    program = _shell(fields) if shell else _which(line)
    return (
        Command(
            line=line, folder=folder, interpreter=program, shell=shell, format=AGENT, plugin=plugin, storage=storage
        ),
        unsupported,
    )


def _unsupported(fields: Mapping[str, Any]) -> str:
    return "`shell: powershell` is not in this version" if fields.get("shell") == "powershell" else ""


def _shell(fields: Mapping[str, Any]) -> str:
    return (shutil.which("bash") if fields.get("shell") == "bash" else "") or "/bin/sh"


def _which(line: str) -> str:
    first = shlex.split(line)[0]
    return "" if "/" in first or "\\" in first else shutil.which(first) or ""


def _timeout(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str) -> float:
    seconds = reader.number(at, fields, "timeout")
    if seconds is None:
        return http_hooks.TIMEOUTS.get(kind) or TIMEOUTS.get(event, TIMEOUT)
    if seconds < MILLISECONDS:
        return seconds
    what = f"{seconds:g} is read as milliseconds: {seconds / 1000:g} s"
    reader.warn((*at, "timeout"), what, f"write seconds: {seconds / 1000:g}")
    return seconds / 1000


def _failure(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str) -> Failure:
    word = reader.text(at, fields, "onFailure")
    if word not in ("", "block", "continue"):
        raise invalid_value(
            reader.document, (*at, "onFailure"), f"unknown word `{word}`", "write `block` or `continue`"
        )
    return Failure.BLOCK if word == "block" and event not in NEVER_FAILS else Failure.ALLOW


def _project(path: Path) -> str:
    """The project that these settings are part of; "" for the user's own and for a plugin's."""
    folder = path.parent
    inside = folder.name == ".claude" and path.name.startswith("settings") and folder.parent != Path.home()
    return str(folder.parent) if inside else ""


def _plugin(path: Path) -> Path | None:
    """The plugin's folder, when this is a plugin's file."""
    if path.name != "hooks.json":
        return None
    return path.parent.parent if path.parent.name == "hooks" else path.parent


def _storage(root: Path) -> Path:
    """Where the plugin keeps its own files, under its name and market as its place says them."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    market, name = root.parent.parent, root.parent  # cache/<market>/<name>/<version>
    title = f"{name.name}@{market.name}" if market.parent.name == "cache" else root.name
    return home / "plugins" / "data" / re.sub(r"[^A-Za-z0-9_-]", "-", title)
