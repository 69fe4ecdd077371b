"""Copilot CLI's hook files: one file, a folder of them, or the key `hooks` of its settings.

{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh", "matcher": "bash|create",
    "cwd": "scripts", "env": {"LEVEL": "2"}, "timeoutSec": 10}]}}
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.settings_hooks import ANY_TOOL, ShapedReader, program_of
from tray.agents.copilot_cli.events import AGENT, NAMES, SHAPE
from tray.errors import ConfigError
from tray.model.hook import Action, Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, joined, unreadable_source

FILE = SettingsFile(
    folder=".copilot",
    name="hooks",
    off_switch="disableAllHooks",
    timeout=30.0,
    handler_types=("command", "http", "prompt"),
)
LIST_OF_TOOLS = re.compile(r"[\w-]+(\|[\w-]+)*")
# An HTTP hook there must be encrypted; the agent protects the answer on its way.
ENCRYPTED_EVENTS = frozenset({"PermissionRequest", "PreToolUse"})
SHELL_KEYS = ("powershell", "command") if sys.platform == "win32" else ("bash", "command")
OTHER_SHELL = "bash" if sys.platform == "win32" else "powershell"


class CopilotReader(ShapedReader):
    """A HookReader. An entry of an event's list is a hook, or a group of them as in Claude Code's settings."""

    aliases = NAMES
    usual_type = "command"
    checks_all_matchers = True
    any_tool = frozenset({*ANY_TOOL, "**"})
    has_status = False
    entry_hint = handler_hint = 'write [{"type": "command", "bash": "./guard.sh"}]'

    def __init__(self) -> None:
        super().__init__(SHAPE, FILE, "Copilot CLI")
        self.EXPECTED = "name a file of hooks or a folder of them, such as ~/.copilot/hooks"

    def read(self, path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
        """The hooks of one place. Raises OSError and ConfigError when it cannot be read at all."""
        if not path.is_dir():
            return super().read(path, agents, environment)
        parts = [SourceHooks(watched=(str(path),))]
        for file in sorted(path.glob("*.json")):
            try:
                parts.append(super().read(file, agents, environment))
            except (OSError, ConfigError) as error:
                parts.append(unreadable_source(file, error))
        return joined(parts)

    def project(self, path: Path) -> str:
        folder = next((one for one in path.parents if one.name == ".github"), None)
        return str(folder.parent) if folder else ""

    def handlers(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Any]]:
        return super().handlers(reader, at, fields) if "hooks" in fields else iter([(at, fields)])

    def pattern(self, event: str, matcher: str) -> str:
        """Returns a pattern for the whole name. Under Claude Code's names of events, it may be a list of names."""
        if event not in NAMES and matcher in self.any_tool:
            return ""
        if not matcher or (event not in NAMES and LIST_OF_TOOLS.fullmatch(matcher)):
            return matcher
        return f"^(?:{matcher})$"

    def options(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> dict[str, Any]:
        """Before a tool, the agent treats every failure except a time-out as a refusal."""
        failure = Failure.BLOCK if event == "PreToolUse" else Failure.ALLOW
        return {"failure": failure, "env": reader.texts(at, fields, "allowedEnvVars")}

    def timeout(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], event: str, kind: str) -> float:
        return reader.number(at, fields, "timeoutSec") or super().timeout(reader, at, fields, event, kind)

    def action(
        self, reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any], kind: str
    ) -> tuple[Action, str]:
        if kind == "http":
            http, local = self.http(reader, event, at, fields)
            needs_tls = event in ENCRYPTED_EVENTS or fields.get("allowedEnvVars")
            is_open = needs_tls and not http.url.lower().startswith("https:")
            return http, local or ("Copilot CLI wants an https URL there" if is_open else "")
        if kind == "prompt":  # the agent types it into a new session
            return self.unsupported(reader, kind, f"prompt: {reader.text(at, fields, 'prompt')}")
        is_foreign = OTHER_SHELL in fields and fields.keys().isdisjoint(("exec", *SHELL_KEYS))
        return self.command(reader, at, fields), f"it has a command for `{OTHER_SHELL}` only" if is_foreign else ""

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        """The command with the entry's own variables and folder, which only a shell can set."""
        folder = str(Path(self.folder(reader), reader.text(at, fields, "cwd")).expanduser())
        key = next((key for key in ("exec", *SHELL_KEYS, OTHER_SHELL) if key in fields), SHELL_KEYS[0])
        line = reader.command(at, fields, key)
        if key == OTHER_SHELL:
            return Command(line=line, folder=folder)
        if key == "exec":
            line = shlex.join((line, *reader.texts(at, fields, "args")))
        values = reader.mapping((*at, "env"), fields.get("env") or {}, 'write {"NAME": "value"}')
        settings = [f"export {shlex.quote(f'{name}={value}')}" for name, value in values.items()]
        if "COPILOT_HOOK_DIR" in line:
            settings.append(f"export {shlex.quote(f'COPILOT_HOOK_DIR={reader.path.parent}')}")
        if fields.get("cwd"):
            settings.append(f"cd {shlex.quote(folder)}")
        if key == "exec" and not settings:
            return Command(line=line, folder=folder, interpreter=program_of(line), format=AGENT)
        program, whole = shutil.which("bash") or "/bin/sh", " && ".join((*settings, line))
        return Command(line=whole, folder=folder, interpreter=program, shell=True, format=AGENT)  # noqa: S604 - the format


READER = CopilotReader()
