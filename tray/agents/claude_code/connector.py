"""Claude Code: a matcher group of our own for each event, in the user's, the project's or its local settings.

"PreToolUse": [{"hooks": [{"type": "command", "command": "[ -x … ] && exec … || …", "timeout": 600}]}]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.claude_code.events import AGENT, EVENTS, UNCONNECTED_EVENTS
from tray.agents.claude_code.settings_edit import add_groups, handlers, remove_handlers
from tray.agents.connection import (
    PROBE_EVENT,
    Plan,
    RelayEntry,
    Site,
    connect_change,
    disconnect_change,
    other_files,
    read_or_empty,
)
from tray.edit.file_changes import FileChange
from tray.edit.json_edit import JsonText, TextEdit, is_blank, new_document
from tray.errors import HooktrayError

SCOPES = {"user": "settings.json", "project": "settings.json", "local": "settings.local.json"}
TRUST_HINT = (
    "Running sessions take it up. In a folder that is new to Claude Code it first asks whether you trust that."
)


def settings_path(site: Site) -> Path:
    scope = site.scope or "user"
    if scope not in SCOPES:
        raise HooktrayError(f"unknown scope `{scope}`", hint=f"write one of: {', '.join(SCOPES)}")
    folder = site.folder("CLAUDE_CONFIG_DIR", ".claude") if scope == "user" else site.cwd / ".claude"
    return folder / SCOPES[scope]


def connect_options(site: Site, files: Sequence[str]) -> str:
    """The scope of these files, unless they are the user's."""
    if not files or str(settings_path(replace(site, scope="user"))) in files:
        return ""
    path = Path(files[0])
    scope = "local" if path.name == SCOPES["local"] else "project"
    return f" --scope {scope} in {path.parents[1]}"


def _settings_paths(site: Site) -> tuple[Path, ...]:
    """The file of this scope; without a scope the user's, and all others that we wrote."""
    own = settings_path(site)
    others = () if site.scope else other_files(site, AGENT, own)
    return (own, *(path for path in others if any(_relay_entries(path, {}))))


def is_installed(site: Site) -> bool:
    return site.folder("CLAUDE_CONFIG_DIR", ".claude").is_dir()


def connect(site: Site) -> Plan:
    paths, groups = _settings_paths(site), desired_groups(site.relay)
    changes = [_edited(site, path, groups) for path in paths]
    problems = tuple(filter(None, map(_comment_problem, paths)))
    return Plan(changes=tuple(filter(None, changes)), notes=problems or (TRUST_HINT,))


def _edited(site: Site, path: Path, groups: Mapping[str, Any]) -> FileChange | None:
    return connect_change(
        site,
        path,
        lambda: new_document({"hooks": groups}),
        lambda text: _add(_upgrade(text, str(path), groups), str(path), groups),
        lambda text: _strip(text, str(path)),
    )


def disconnect(site: Site) -> Plan:
    paths = _settings_paths(site)
    changes = [disconnect_change(site, AGENT, path, partial(_strip, path=str(path))) for path in paths]
    return Plan(changes=tuple(filter(None, changes)))


def relay_entries(site: Site) -> tuple[RelayEntry, ...]:
    desired = desired_groups(site.relay) if site.relay else {}
    return tuple(entry for path in _settings_paths(site) for entry in _relay_entries(path, desired))


def _relay_entries(path: Path, desired: Mapping[str, Any]) -> Iterator[RelayEntry]:
    text = read_or_empty(path)
    for handler in handlers(JsonText(text, str(path))) if not is_blank(text) else ():
        event = handler.event.key
        if command := handler.relay:
            yield RelayEntry(
                event=event,
                argv=_argv(handler.value),
                path=str(path),
                state_folder=command.state_folder,
                required_files=command.required_files,
                up_to_date=event in desired and handler.value == desired[event][0]["hooks"][0],
            )


def trust(site: Site) -> str:
    """What keeps the agent from running our entries, or that nothing does, as far as its files say.

    Its sessions at a terminal hold all hooks back until the folder is trusted; `claude -p` asks nobody.
    """
    if problem := _comment_problem(settings_path(site)):
        return f"off: {problem}"
    for scope in SCOPES:
        path = settings_path(replace(site, scope=scope))
        if _read(path).get("disableAllHooks") is True:
            return f"off: Claude Code runs no hook: take `disableAllHooks` out of {path}"
    projects = _read(site.folder("CLAUDE_CONFIG_DIR") / ".claude.json").get("projects")
    every = projects if isinstance(projects, dict) else {}
    known = {folder: project for folder, project in every.items() if isinstance(project, dict)}
    folders = map(str, (site.cwd, *site.cwd.parents))
    if any(known.get(folder, {}).get("hasTrustDialogAccepted") is True for folder in folders):
        return "trusted here"
    if str(site.cwd) in known and site.cwd != site.home:  # from home, the menu looks at all folders alike
        return f"asks: start `claude` in {site.cwd} and say that you trust it: until then no hook runs"
    return ""


def _read(path: Path) -> Mapping[str, Any]:
    text = read_or_empty(path)
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    return value if isinstance(value, dict) else {}


def probe_payload(session: str, cwd: str) -> Mapping[str, Any]:
    return {"session_id": session, "cwd": cwd, "hook_event_name": PROBE_EVENT}


def _comment_problem(path: Path) -> str:
    """Claude Code takes a file with comments for none at all."""
    text = read_or_empty(path)
    line = JsonText(text, str(path)).first_comment_line if not is_blank(text) else 0
    return f"Claude Code reads no settings with comments: remove the one in {path}:{line}" if line else ""


def desired_groups(relay: tuple[str, ...]) -> dict[str, Any]:
    """Our group for each event; time-outs are the agent's own limits, which our deadlines are made from."""
    groups = {}
    for event, spec in EVENTS.items():
        if event not in UNCONNECTED_EVENTS:
            seconds = int(spec.timeout) if spec.timeout == int(spec.timeout) else spec.timeout
            command = _handler((*relay, AGENT, event))
            groups[event] = [{"hooks": [{"type": "command", **command, "timeout": seconds}]}]
    return groups


def _add(text: bytes, path: str, groups: Mapping[str, Any]) -> bytes:
    """The text with our groups for the events that have none of ours yet."""
    document = JsonText(text, path)
    connected = {handler.event.key for handler in handlers(document) if handler.relay}
    missing = {event: group for event, group in groups.items() if event not in connected}
    return add_groups(document, missing) if missing else text


def _upgrade(text: bytes, path: str, groups: Mapping[str, Any]) -> bytes:
    """Our entries as they are written today, in their place; duplicates and outdated ones are removed."""
    document, seen, removed = JsonText(text, path), set[str](), set[int]()
    edits: list[TextEdit] = []
    for index, handler in enumerate(handlers(document)):
        event = handler.event.key
        if not handler.relay:
            continue
        if event in seen or event not in groups:
            removed.add(index)
            continue
        seen.add(event)
        desired = groups[event][0]["hooks"][0]
        edits += [] if handler.value == desired else [document.replace(handler.handler, desired)]
    return remove_handlers(JsonText(document.apply(edits), path), removed) if edits or removed else text


def _strip(text: bytes, path: str) -> bytes:
    """The text without any entry of ours."""
    document = JsonText(text, path)
    return remove_handlers(document, {index for index, handler in enumerate(handlers(document)) if handler.relay})


def _handler(words: tuple[str, ...]) -> dict[str, Any]:
    if sys.platform == "win32":  # there it runs whichever shell it finds
        program, *rest = relay_command.cmd_argv(words)
        return {"command": program, "args": rest}
    return {"command": relay_command.shell_line(words)}


def _argv(handler: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(handler.get("args"), list):
        return (handler["command"], *handler["args"])
    return ("/bin/sh", "-c", handler["command"])
