"""Hooks of a Claude Code settings file or a plugin's hooks.json.

{"disableAllHooks": false, "hooks": {"PreToolUse": [{"matcher": "Bash|Write",
    "hooks": [{"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/.claude/guard.sh", "timeout": 10}]}]}}
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents.claude_code import http_hooks, permission_rules
from tray.agents.claude_code.protocol import NAME, SETTINGS, SHAPE
from tray.agents.claude_shape.settings_hooks import SIZE, HandlerOptions, ShapedReader
from tray.errors import ConfigError
from tray.files import user_file
from tray.model.hook import Action, AsyncMode, Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader
from tray.settings import invalid_value
from tray.strict.json_reader import load_json

NEVER_FAILS = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})  # onFailure has no effect there
IF_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")


class HandlerReader(ShapedReader):
    """Adds conditions, more types of handlers, and plugins."""

    def parse(self, text: bytes, path: Path, agents: Sequence[str] = (), plugin: Path | None = None) -> SourceHooks:
        return super().parse(text, path, agents, plugin or _plugin(path))

    def project(self, path: Path) -> str:
        """The project that these settings are part of; "" for the user's own and for a plugin's."""
        folder = path.parent
        inside = folder.name == ".claude" and path.name.startswith("settings") and folder.parent != Path.home()
        return str(folder.parent) if inside else ""

    def read_event(self, reader: SourceReader, event: str, at: KeyPath, groups: Any) -> None:
        """A `Stop` hook of a subagent is for SubagentStop."""
        super().read_event(reader, "SubagentStop" if reader.subagent and event == "Stop" else event, at, groups)

    def condition(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> str:
        """The permission rule under `if`. An invalid rule gives a warning, and the hook runs each time."""
        rule = reader.text(at, fields, "if").strip()
        if rule and (problem := permission_rules.problem(rule)):
            reader.warn((*at, "if"), f"{problem}, so the hook runs whatever it says", "write one rule: `Bash(git *)`")
        return rule

    def condition_problem(self, event: str, condition: str) -> str:
        is_met_never = condition and event not in IF_EVENTS
        return f"its `if` can be met on {', '.join(IF_EVENTS)} alone" if is_met_never else ""

    def options(
        self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str
    ) -> HandlerOptions:
        mode = _async_mode(reader, at, fields) if kind == "command" else AsyncMode.NO
        return HandlerOptions(
            failure=Failure.ALLOW if mode is not AsyncMode.NO else _failure(reader, at, fields, event),
            env=http_hooks.variables(reader, at, fields) if kind == "http" else (),
            once=reader.flag(at, fields, "once"),
            async_mode=mode,
        )

    def action(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], kind: str) -> tuple[Action, str]:
        if kind == "mcp_tool":
            folder = self.project(reader.path) or str(reader.path.parent)
            reason = "hooks of the type `mcp_tool` are not in this version: Hooktray has no MCP servers"
            return Command(line=f"mcp_tool: {reader.text(at, fields, 'tool')}", folder=folder), reason
        unsupported = "`shell: powershell` is not in this version" if fields.get("shell") == "powershell" else ""
        if kind == "command":
            return self.command(reader, at, fields), unsupported
        action, reason = http_hooks.action(reader, at, fields, kind)
        return action, reason or unsupported

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        command = super().command(reader, at, fields)
        root = reader.plugin
        plugin = str(root) if root and "CLAUDE_PLUGIN_ROOT" in str(fields) else ""
        storage = str(_storage(root)) if root and (plugin or "CLAUDE_PLUGIN_DATA" in str(fields)) else ""
        bash = shutil.which("bash") if command.shell and fields.get("shell") == "bash" else ""
        return replace(command, interpreter=bash or command.interpreter, plugin=plugin, storage=storage)

    def default_timeout(self, event: str, kind: str) -> float:
        return http_hooks.TIMEOUTS.get(kind) or super().default_timeout(event, kind)


READER = HandlerReader(SHAPE, SETTINGS, NAME)


def read(path: Path, agents: Sequence[str], plugin: Path | None = None) -> SourceHooks:
    """The hooks of one file. Raises OSError and ConfigError when it cannot be read at all."""
    return READER.parse(user_file(path), path, agents, plugin)


def disabled_reason(path: Path) -> str:
    """Why all hooks beside this settings file are inactive; "" when they are not, or it cannot be read."""
    try:
        return READER.off_reason(load_json(user_file(path), str(path), limit=SIZE))
    except (OSError, ConfigError):
        return ""


def _async_mode(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> AsyncMode:
    if reader.flag(at, fields, "asyncRewake"):
        return AsyncMode.REWAKE
    return AsyncMode.ASYNC if reader.flag(at, fields, "async") else AsyncMode.NO


def _failure(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str) -> Failure:
    word = reader.text(at, fields, "onFailure")
    if word not in ("", "block", "continue"):
        raise invalid_value(
            reader.document, (*at, "onFailure"), f"unknown word `{word}`", "write `block` or `continue`"
        )
    return Failure.BLOCK if word == "block" and event not in NEVER_FAILS else Failure.ALLOW


def _plugin(path: Path) -> Path | None:
    """The plugin's folder, when this is a plugin's file."""
    if path.name != "hooks.json":
        return None
    return path.parent.parent if path.parent.name == "hooks" else path.parent


def _storage(root: Path) -> Path:
    """Where the plugin keeps its own files. The name comes from the plugin's path."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    market, name = root.parent.parent, root.parent  # cache/<market>/<name>/<version>
    title = f"{name.name}@{market.name}" if market.parent.name == "cache" else root.name
    return home / "plugins" / "data" / re.sub(r"[^A-Za-z0-9_-]", "-", title)
