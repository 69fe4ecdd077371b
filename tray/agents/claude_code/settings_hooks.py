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

from tray.agents.claude_code.conditions import rule_problem
from tray.agents.claude_code.protocol import NAME, SETTINGS, SHAPE
from tray.agents.claude_shape.settings_hooks import SIZE, ShapedReader
from tray.errors import ConfigError
from tray.files import user_file
from tray.model.hook import Action, AsyncMode, Command, Failure, Http, Prompt
from tray.reading.entries import KeyPath, SourceHooks, SourceReader
from tray.settings import invalid_value
from tray.strict.json_reader import load_json

NEVER_FAILS = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})  # onFailure has no effect there
IF_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
TIMEOUTS = {"agent": 60.0, "prompt": 30.0}  # seconds
NO_HTTP_EVENTS = frozenset({"SessionStart", "Setup"})
# The events that a model is asked about.
MODEL_EVENTS = frozenset(
    {
        *("PermissionDenied", "PermissionRequest", "PostToolBatch", "PostToolUse", "PostToolUseFailure"),
        *("PreToolUse", "Stop", "SubagentStop", "TaskCompleted", "TaskCreated", "TeammateIdle"),
        *("UserPromptExpansion", "UserPromptSubmit"),
    }
)
ALIASES = frozenset({"default", "haiku", "inherit", "opus", "sonnet"})  # another server knows none of them


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

    def condition(self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> tuple[str, str]:
        """The permission rule under `if`. An invalid rule gives a warning, and the hook runs each time."""
        rule = reader.text(at, fields, "if").strip()
        if rule and (problem := rule_problem(rule)):
            reader.warn((*at, "if"), f"{problem}, so the hook runs whatever it says", "write one rule: `Bash(git *)`")
        is_met_never = rule and event not in IF_EVENTS
        return rule, f"its `if` can be met on {', '.join(IF_EVENTS)} alone" if is_met_never else ""

    def options(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> dict[str, Any]:
        mode = _async_mode(reader, at, fields) if kind == "command" else AsyncMode.NO
        return {
            "failure": Failure.ALLOW if mode is not AsyncMode.NO else _failure(reader, at, fields, event),
            "env": _header_variables(reader, at, fields) if kind == "http" else (),
            "once": reader.flag(at, fields, "once"),
            "async_mode": mode,
        }

    def action(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> tuple[Action, str]:
        action: Action
        if kind == "mcp_tool":
            command, reason = self.unsupported(reader, kind, f"mcp_tool: {reader.text(at, fields, 'tool')}")
            return command, f"{reason}: Hooktray has no MCP servers"
        if kind == "command":
            action, reason = self.command(reader, at, fields), ""
        elif kind == "http":
            action, reason = self.http(reader, event, at, fields)
        else:
            action = _prompt(reader, at, fields, kind)
            reason = "" if event in MODEL_EVENTS else f"Claude Code runs no `{kind}` hook there"
        powershell = "`shell: powershell` is not in this version" if fields.get("shell") == "powershell" else ""
        return action, reason or powershell

    def http(self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> tuple[Http, str]:
        http, local = super().http(reader, event, at, fields)
        unsupported = "Claude Code runs no `http` hook there" if event in NO_HTTP_EVENTS else ""
        return http, unsupported or _not_allowed(reader, http) or local

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        command = super().command(reader, at, fields)
        root = reader.plugin
        plugin = str(root) if root and "CLAUDE_PLUGIN_ROOT" in str(fields) else ""
        storage = str(_storage(root)) if root and (plugin or "CLAUDE_PLUGIN_DATA" in str(fields)) else ""
        bash = shutil.which("bash") if command.shell and fields.get("shell") == "bash" else ""
        return replace(command, interpreter=bash or command.interpreter, plugin=plugin, storage=storage)

    def timeout(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str) -> float:
        is_usual = kind in TIMEOUTS and fields.get("timeout") is None
        return TIMEOUTS[kind] if is_usual else super().timeout(reader, at, fields, event, kind)


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


def _prompt(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], kind: str) -> Prompt:
    text = reader.text(at, fields, "prompt")
    if not text.strip():
        raise invalid_value(reader.document, at, f"a hook of the type `{kind}` needs a prompt", "add `prompt`")
    model = reader.text(at, fields, "model")
    return Prompt(
        text=text,
        model="" if model in ALIASES else model,
        agent=kind == "agent",
        continue_on_block=kind == "prompt" and reader.flag(at, fields, "continueOnBlock"),
    )


def _header_variables(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables that headers may hold: the hook's own list, within that of the whole file."""
    wanted = reader.texts(at, fields, "allowedEnvVars")
    settings: Any = reader.document.value
    if "httpHookAllowedEnvVars" not in settings:
        return wanted
    general = reader.texts((), settings, "httpHookAllowedEnvVars")
    return tuple(name for name in wanted if name in general)


def _not_allowed(reader: SourceReader, action: Http) -> str:
    settings: Any = reader.document.value
    if "allowedHttpHookUrls" not in settings:
        return ""
    patterns = reader.texts((), settings, "allowedHttpHookUrls")
    shapes = (".*".join(re.escape(part) for part in pattern.split("*")) for pattern in patterns)
    return "" if any(re.fullmatch(shape, action.url) for shape in shapes) else "`allowedHttpHookUrls` leaves it out"


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
