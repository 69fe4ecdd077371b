"""Connects Copilot CLI, and with it VS Code: a file of our own in its folder of hooks.

<COPILOT_HOME>/hooks/hooktray.json, in a project .github/hooks/hooktray.json:
{"version": 1, "hooks": {"PreToolUse": [{"type": "command", "command": "[ -x … ] && … || …", "timeout": 600}]}}
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import (
    PROBE_EVENT,
    EntryContent,
    Plan,
    RelayEntry,
    Site,
    other_files,
    read_or_empty,
)
from tray.agents.copilot_cli.events import AGENT, EVENTS, NAMES, UNCONNECTED_EVENTS
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.json_edit import OBJECT_HINT, JsonSpan, JsonText, TextEdit, is_blank, new_document
from tray.errors import HooktrayError

HOME_VARIABLE = "COPILOT_HOME"
FILE = "hooks/hooktray.json"
SETTINGS = "settings.json"
CONFIG = "config.json"  # Copilot's own notes, among them the folders that the user trusts
OFF_SWITCH = "disableAllHooks"
TRUSTED = "trustedFolders"
SCOPES = ("user", "project")
PROBE_TIME = "2026-01-01T00:00:00.000Z"  # it only has to be there
RESTART_HINT = "Sessions of Copilot CLI and of VS Code take it up when they start."


def home(site: Site) -> Path:
    """The folder of the user's settings."""
    return site.folder(HOME_VARIABLE, ".copilot")


def hook_file(site: Site) -> Path:
    """The file that our entries are in."""
    scope = site.scope or "user"
    if scope not in SCOPES:
        raise HooktrayError(f"Copilot CLI has no scope `{scope}`", hint=f"write one of: {', '.join(SCOPES)}")
    return home(site) / FILE if scope == "user" else site.cwd / ".github" / FILE


def hook_files(site: Site) -> tuple[Path, ...]:
    """The file of this scope; without a scope, the user's and those of projects that have our entries."""
    own = hook_file(site)
    others = () if site.scope else other_files(site, AGENT, own)
    return (own, *(path for path in others if any(_own_entries(path))))


def is_installed(site: Site) -> bool:
    return home(site).is_dir()


def connect(site: Site) -> Plan:
    changes = tuple(filter(None, (_connected(site, path) for path in hook_files(site))))
    return Plan(changes=changes, notes=(_trust_remedy(site) or RESTART_HINT,))


def _connected(site: Site, path: Path) -> FileChange | None:
    real = resolve_links(path)
    current = read_state(real)
    rest = _without_ours(current, path)
    if rest is not None:
        hint = "move them to another file of this folder: Hooktray writes this one"
        raise HooktrayError(f"{path}: holds hooks that are not Hooktray's", hint=hint)
    hooks = desired(site.relay)
    present = {event for event, _, _ in _own_entries(path)}
    hooks["hooks"] = {
        event: entries for event, entries in hooks["hooks"].items() if event in present or site.needs(AGENT, event)
    }
    after = File(text=new_document(hooks), mode=current.mode if isinstance(current, File) else 0o600)
    if current == after:
        return None
    backup = site.backups.as_written(real, current)
    origin = backup.before if backup else rest
    return FileChange(path=real, before=current, after=after, origin=origin, display_path=path)


def disconnect(site: Site) -> Plan:
    return Plan(changes=tuple(filter(None, (_disconnected(site, path) for path in hook_files(site)))))


def _disconnected(site: Site, path: Path) -> FileChange | None:
    """What was there before; what is not ours, if it was edited since."""
    real = resolve_links(path)
    current = read_state(real)
    backup = site.backups.as_written(real, current)
    after = backup.before if backup and backup.agent == AGENT else _without_ours(current, path)
    return None if after == current else FileChange(path=real, before=current, after=after, display_path=path)


def _without_ours(state: FileState, path: Path) -> FileState:
    """The file without our entries; None when nothing else is in it."""
    if not isinstance(state, File) or is_blank(state.text):
        return state if isinstance(state, File) and state.text else None
    document = JsonText(state.text, str(path))
    spans = list(entries(document))
    ours = {span for _, span, value in spans if parse_entry(value)}
    if not ours:
        return state
    settings: Any = document.value
    if len(ours) == len(spans) and set(settings) <= {"version", "hooks"}:
        return None
    return File(text=document.apply(_cuts(document, ours)), mode=state.mode)


def _cuts(document: JsonText, removed: set[JsonSpan]) -> list[TextEdit]:
    hooks = document.member(document.root, "hooks")
    edits: list[TextEdit] = []
    empty: list[JsonSpan] = []
    for event in document.children(hooks.value) if hooks else []:
        spans = [one for one in document.children(event.value) if one in removed]
        if spans and len(spans) == len(document.children(event.value)):
            empty.append(event)
        elif spans:
            edits += document.remove(event.value, spans)
    return edits + (document.remove(hooks.value, empty) if hooks and empty else [])


def entries(document: JsonText) -> Iterator[tuple[str, JsonSpan, Mapping[str, Any]]]:
    """Each entry of the file: its event, its place and its value. ConfigError for another structure."""
    if not document.is_at(document.root, "{"):
        raise document.error(document.root, "expected an object with hooks", OBJECT_HINT)
    hooks = document.member(document.root, "hooks")
    if hooks and not document.is_at(hooks.value, "{"):
        raise document.error(hooks.value, '"hooks" is not an object', "mend it; nothing was written")
    for event in document.children(hooks.value) if hooks else []:
        if not document.is_at(event.value, "["):
            raise document.error(event.value, f'"{event.key}" is not a list', "mend it; nothing was written")
        for entry in document.children(event.value):
            value = json.loads(document.source(entry)) if document.is_at(entry.value, "{") else {}
            yield event.key, entry, value


def parse_entry(entry: Mapping[str, Any]) -> relay_command.RelayCommand | None:
    """Our relay command in this entry; None when it is not ours."""
    words = entry_words(entry)
    command = relay_command.parse(words) if words else None
    return command if command and command.agent == AGENT else None


def entry_words(entry: Mapping[str, Any]) -> str | Sequence[str]:
    """The entry's command: a line for a shell, or words."""
    program, args = entry.get("exec"), entry.get("args")
    if isinstance(program, str):
        return [program, *map(str, args if isinstance(args, list) else [])]
    line = entry.get("command")
    return line if isinstance(line, str) else ""


def desired(relay: tuple[str, ...]) -> dict[str, Any]:
    """All of our file. The time-outs are those that our deadlines are derived from."""
    hooks = {
        event: [{"type": "command", **_command((*relay, AGENT, event)), "timeout": int(spec.timeout)}]
        for event, spec in EVENTS.items()
        if event not in UNCONNECTED_EVENTS
    }
    return {"version": 1, "hooks": hooks}


def _command(words: tuple[str, ...]) -> dict[str, Any]:
    if sys.platform == "win32":  # a line would run in PowerShell
        program, *rest = relay_command.cmd_argv(words)
        return {"exec": program, "args": rest}
    return {"command": relay_command.shell_line(words, replaces_shell=False)}


def relay_entries(site: Site) -> tuple[RelayEntry, ...]:
    hooks = desired(site.relay)["hooks"] if site.relay else {}
    return tuple(
        RelayEntry(
            event=NAMES.get(event, event),
            argv=_argv(entry),
            path=str(path),
            state_folder=command.state_folder,
            required_files=command.required_files,
            up_to_date=entry in hooks.get(event, ()),
        )
        for path in hook_files(site)
        for event, entry, command in _own_entries(path)
    )


def _own_entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any], relay_command.RelayCommand]]:
    text = read_or_empty(path)
    for event, _, entry in entries(JsonText(text, str(path))) if not is_blank(text) else ():
        if command := parse_entry(entry):
            yield event, entry, command


def _argv(entry: Mapping[str, Any]) -> tuple[str, ...]:
    words = entry_words(entry)
    if not isinstance(words, str):
        return tuple(words)
    return ("cmd.exe", "/d", "/c", *shlex.split(words)) if sys.platform == "win32" else ("/bin/sh", "-c", words)


def contents(path: Path, state: FileState) -> tuple[EntryContent, ...]:
    text = state.text if isinstance(state, File) else b""
    return tuple(
        EntryContent(event=NAMES.get(event, event), handler=entry)
        for event, _, entry in (entries(JsonText(text, str(path))) if not is_blank(text) else ())
        if parse_entry(entry)
    )


def connect_options(site: Site, files: Sequence[str]) -> str:
    """The scope of these files, unless they are the user's."""
    if not files or str(home(site) / FILE) in files:
        return ""
    return f" --scope project in {Path(files[0]).parents[2]}"


def trust(site: Site) -> str:
    """Whether the agent runs our entries, as far as its files say; else what prevents it.

    The user's hooks always run. A project's run when the user trusts its folder.
    """
    for path in (home(site) / SETTINGS, hook_file(site), *_project_settings(site)):
        if _object(path).get(OFF_SWITCH) is True:
            return f"off: Copilot CLI runs no hook: take `{OFF_SWITCH}` out of {path}"
    remedy = _trust_remedy(site)
    return f"off: {remedy}" if remedy else "trusted"


def switch_files(site: Site) -> tuple[Path, ...]:
    return (home(site) / SETTINGS, home(site) / CONFIG, hook_file(site), *_project_settings(site))


def _trust_remedy(site: Site) -> str:
    """What the user has to do before the project's hooks run; "" when there is nothing to do.

    With entries in the user's file too, nothing goes unguarded.
    """
    if site.scope == "project":
        folders = [site.cwd]
    elif site.scope or any(_own_entries(home(site) / FILE)):
        folders = []
    else:
        folders = [path.parents[2] for path in hook_files(site)[1:]]
    listed = _object(home(site) / CONFIG).get(TRUSTED)
    trusted = {str(Path(one)) for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
    untrusted = [str(one) for one in folders if trusted.isdisjoint(map(str, (one, *one.parents)))]
    if not untrusted:
        return ""
    where = ", ".join(untrusted)
    return f"start `copilot` in {where} and say that you trust it: until then no hook of the project runs"


def _project_settings(site: Site) -> tuple[Path, ...]:
    folder = site.cwd / ".github" / "copilot"
    return (folder / "settings.json", folder / "settings.local.json")


def _object(path: Path) -> Mapping[str, Any]:
    text = read_or_empty(path)
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    return value if isinstance(value, dict) else {}


def probe_payload(session: str, cwd: str) -> Mapping[str, Any]:
    return {"hook_event_name": PROBE_EVENT, "session_id": session, "timestamp": PROBE_TIME, "cwd": cwd}
