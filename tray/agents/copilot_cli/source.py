"""Copilot CLI's hook files: one file, a folder of them, or the key `hooks` of its settings.

{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh", "matcher": "bash|create",
    "cwd": "scripts", "env": {"LEVEL": "2"}, "timeoutSec": 10}]}}
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.addresses import endpoint
from tray.agents.copilot_cli.events import AGENT, EVENTS, NAMES
from tray.agents.protocol import agent_events
from tray.errors import ConfigError
from tray.files import user_file
from tray.model.hook import Action, Command, Failure
from tray.reading.entries import KeyPath, SourceHooks, SourceReader, pattern_problem, unreadable_source
from tray.reading.http_hooks import http_action, local_url_problem
from tray.settings import invalid_value
from tray.strict.document import Document
from tray.strict.json_reader import load_json

SIZE = 4 * 1024 * 1024  # bytes of a file
TIMEOUT = 30.0  # seconds, of a hook that names none
OFF_SWITCH = "disableAllHooks"
EXPECTED = "name a file of hooks or a folder of them, such as ~/.copilot/hooks"
EVENT_HINT = 'write {"hooks": {"preToolUse": […]}}'
ENTRY_HINT = 'write [{"type": "command", "bash": "./guard.sh"}]'
ALL_TOOLS = frozenset({"", "*", "**"})  # matchers, of events under Claude Code's names
LIST_OF_TOOLS = re.compile(r"[\w-]+(\|[\w-]+)*")
# An HTTP hook there must be encrypted; the agent protects the answer on its way.
ENCRYPTED_EVENTS = frozenset({"PermissionRequest", "PreToolUse"})
SHELL_KEYS = ("powershell", "command") if sys.platform == "win32" else ("bash", "command")
OTHER_SHELL = "bash" if sys.platform == "win32" else "powershell"


def read(path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
    """The hooks of one place. Raises OSError and ConfigError when it cannot be read at all."""
    if not path.is_dir():
        return parse(user_file(path), path, agents)
    parts = [SourceHooks(watched=(str(path),))]
    for file in sorted(path.glob("*.json")):
        try:
            parts.append(parse(user_file(file), file, agents))
        except (OSError, ConfigError) as error:
            parts.append(unreadable_source(file, error))
    return SourceHooks(
        hooks=tuple(hook for part in parts for hook in part.hooks),
        warnings=tuple(warning for part in parts for warning in part.warnings),
        watched=tuple(dict.fromkeys(name for part in parts for name in part.watched)),
    )


def parse(text: bytes, path: Path, agents: Sequence[str] = ()) -> SourceHooks:
    """The hooks of a text that is, or will be, at this path."""
    document = load_json(text, str(path), limit=SIZE)
    reader = SourceReader(
        document,
        agent_events(AGENT, aliases=NAMES),
        agents=agents,
        project=_project(path),
        inactive=_off_reason(document),
    )
    with reader.entry():
        fields = reader.mapping((), document.value, EVENT_HINT)
        for event, entries in reader.mapping(("hooks",), fields.get("hooks") or {}, EVENT_HINT).items():
            with reader.entry():
                _event(reader, event, entries)
    return reader.result()


def _off_reason(document: Document) -> str:
    is_off = isinstance(document.value, dict) and document.value.get(OFF_SWITCH) is True
    return f"`{OFF_SWITCH}: true` in {document.path}" if is_off else ""


def _project(path: Path) -> str:
    """The project that the file is part of; "" for the user's own."""
    folder = next((one for one in path.parents if one.name == ".github"), None)
    return str(folder.parent) if folder else ""


def _event(reader: SourceReader, event: str, entries: Any) -> None:
    at: KeyPath = ("hooks", event)
    reader.match(at, event)  # an unknown event is reported once, not for each of its hooks
    for index, entry in enumerate(reader.items(at, entries, ENTRY_HINT)):
        with reader.entry():
            _entry(reader, event, (*at, index), reader.mapping((*at, index), entry, ENTRY_HINT))


def _entry(reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> None:
    """One hook, or a group of them with one matcher as in Claude Code's settings."""
    matcher = reader.text(at, fields, "matcher")
    if "hooks" not in fields:
        _hook(reader, event, matcher, at, fields)
        return
    for number, entry in enumerate(reader.items((*at, "hooks"), fields["hooks"], ENTRY_HINT)):
        with reader.entry():
            place = (*at, "hooks", number)
            _hook(reader, event, matcher, place, reader.mapping(place, entry, ENTRY_HINT))


def _hook(reader: SourceReader, event: str, matcher: str, at: KeyPath, fields: Mapping[str, Any]) -> None:
    name = NAMES.get(event, event)
    problem = pattern_problem(matcher, script=True) if matcher not in ALL_TOOLS else ""
    if problem:
        reader.warn((*at, "matcher"), f"not a pattern, so it matches nothing: {problem}", "escape signs with `\\`")
    match = reader.match(at, name, tool="" if problem else _pattern(event, matcher))
    action, unsupported = _action(reader, name, at, fields)
    reader.add(
        at,
        match,
        action,
        timeout=_timeout(reader, at, fields),
        # The agent takes every failure but a time-out for a refusal there.
        failure=Failure.BLOCK if name == "PreToolUse" else Failure.ALLOW,
        env=reader.texts(at, fields, "allowedEnvVars"),
        inactive="its matcher matches nothing" if problem else unsupported,
    )


def _pattern(event: str, matcher: str) -> str:
    """A pattern for the whole name; under Claude Code's names of events also a list of names."""
    if not EVENTS[NAMES.get(event, event)].subject:
        return ""
    if event not in NAMES and matcher in ALL_TOOLS:
        return ""
    if not matcher or (event not in NAMES and LIST_OF_TOOLS.fullmatch(matcher)):
        return matcher
    return f"^(?:{matcher})$"


def _timeout(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> float:
    return reader.number(at, fields, "timeoutSec") or reader.number(at, fields, "timeout") or TIMEOUT


def _action(reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> tuple[Action, str]:
    """What the entry runs, and why it is inactive here ("" when it is not)."""
    kind = reader.text(at, fields, "type") or "command"
    if kind == "command":
        return _command(reader, at, fields)
    if kind == "http":
        return _http(reader, event, at, fields)
    if kind == "prompt":  # the agent types it into a new session
        line = f"prompt: {reader.text(at, fields, 'prompt')}"
        return Command(line=line, folder=_folder(reader)), "hooks of the type `prompt` are not in this version"
    raise invalid_value(reader.document, at, f"unknown type `{kind}`", "write one of: command, http, prompt")


def _command(reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> tuple[Command, str]:
    folder = _folder(reader)
    if directory := reader.text(at, fields, "cwd"):
        folder = str(Path(folder, directory).expanduser())
    if "exec" in fields:
        args = reader.texts(at, fields, "args")
        words = shlex.join((reader.command(at, fields, "exec"), *args))
        return _with_environment(reader, at, fields, words, folder, is_shell=False), ""
    key = next((key for key in SHELL_KEYS if key in fields), "")
    if not key and OTHER_SHELL in fields:
        line = reader.command(at, fields, OTHER_SHELL)
        return Command(line=line, folder=folder), f"it has a command for `{OTHER_SHELL}` only"
    line = reader.command(at, fields, key or SHELL_KEYS[0])
    return _with_environment(reader, at, fields, line, folder, is_shell=True), ""


def _with_environment(
    reader: SourceReader, at: KeyPath, fields: Mapping[str, Any], line: str, folder: str, *, is_shell: bool
) -> Command:
    """The command with the entry's own variables and folder, which only a shell can set."""
    values = reader.mapping((*at, "env"), fields.get("env") or {}, 'write {"NAME": "value"}')
    settings = [f"export {shlex.quote(f'{name}={value}')}" for name, value in values.items()]
    if "COPILOT_HOOK_DIR" in line:
        settings.append(f"export {shlex.quote(f'COPILOT_HOOK_DIR={reader.path.parent}')}")
    if fields.get("cwd"):
        settings.append(f"cd {shlex.quote(folder)}")
    if not is_shell and not settings:
        first = shlex.split(line)[0]
        program = "" if "/" in first or "\\" in first else shutil.which(first) or ""
        return Command(line=line, folder=folder, interpreter=program, format=AGENT)
    program = shutil.which("bash") or "/bin/sh"
    whole = " && ".join((*settings, line))
    return Command(line=whole, folder=folder, interpreter=program, shell=True, format=AGENT)  # noqa: S604 - the format


def _http(reader: SourceReader, event: str, at: KeyPath, fields: Mapping[str, Any]) -> tuple[Action, str]:
    headers = reader.mapping((*at, "headers"), fields.get("headers") or {}, 'write {"Name": "value"}')
    http = http_action(reader.document, at, reader.text(at, fields, "url"), headers)
    if local := local_url_problem(http):
        kind, address = EVENTS[event].kind.value, endpoint(http.url).host_port
        entry = f'{{event: {kind}, type: http, dialect: {AGENT}, url: "{http.url}", allow_local: ["{address}"]}}'
        return http, f"{local}; if that is meant, add to `hooks:` of hooktray.yaml: - {entry}"
    if not http.url.lower().startswith("https:") and (event in ENCRYPTED_EVENTS or fields.get("allowedEnvVars")):
        return http, "Copilot CLI wants an https URL there"
    return http, ""


def _folder(reader: SourceReader) -> str:
    """Where relative words of a command are looked up."""
    return _project(reader.path) or str(reader.path.parent)
