"""Connects OpenCode: a plugin of ours in its folder of plugins, `plugin.js` with the relay and the time limits in it.

<XDG_CONFIG_HOME>/opencode/plugins/hooktray.js, in a project .opencode/plugins/hooktray.js
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import PROBE_EVENT, EntryContent, Plan, RelayEntry, Site, other_files
from tray.agents.opencode.protocol import EVENTS, ID, MARK, NAME
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.errors import HooktrayError

PLUGIN = Path(__file__).parent / "plugin.js"
FILE = Path("plugins", "hooktray.js")
SCOPES = ("user", "project")
MODE = 0o600
RELAY_LINE = re.compile(rb"^const RELAY = (\[.*\])$", re.MULTILINE)
HEAD = b"// Hooktray's plugin for OpenCode"  # how the file begins, whatever was changed behind it
RESTART_HINT = f"Sessions of {NAME} take it up when they start."


def plugin_file(site: Site) -> Path:
    """The place of our plugin."""
    scope = site.scope or "user"
    if scope not in SCOPES:
        raise HooktrayError(f"{NAME} has no scope `{scope}`", hint=f"write one of: {', '.join(SCOPES)}")
    return home(site) / FILE if scope == "user" else site.cwd / ".opencode" / FILE


def home(site: Site) -> Path:
    """The folder of the user's settings."""
    return site.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def is_installed(site: Site) -> bool:
    return home(site).is_dir()


def plugin_files(site: Site) -> tuple[Path, ...]:
    """The plugin of this scope; without a scope, the user's and those of projects."""
    own = plugin_file(site)
    others = () if site.scope else other_files(site, ID, own)
    return (own, *(path for path in others if _is_ours(read_state(path))))


def connect(site: Site) -> Plan:
    changes = tuple(filter(None, (_connected(site, path) for path in plugin_files(site))))
    return Plan(changes=changes, notes=(RESTART_HINT,))


def _connected(site: Site, path: Path) -> FileChange | None:
    real = resolve_links(path)
    current = read_state(real)
    if current is not None and not _is_ours(current):
        hint = "move it away: Hooktray writes this file"
        raise HooktrayError(f"{path}: is not Hooktray's plugin", hint=hint)
    after = File(text=desired(site.relay), mode=current.mode if isinstance(current, File) else MODE)
    if current == after:
        return None
    return FileChange(path=real, before=current, after=after, origin=None, display_path=path)


def disconnect(site: Site) -> Plan:
    return Plan(changes=tuple(filter(None, (_disconnected(path) for path in plugin_files(site)))))


def _disconnected(path: Path) -> FileChange | None:
    """The whole file goes, because all of it is ours."""
    real = resolve_links(path)
    current = read_state(real)
    return FileChange(path=real, before=current, after=None, display_path=path) if _is_ours(current) else None


def desired(relay: tuple[str, ...]) -> bytes:
    """All of our file. The time limits are those that our deadlines are derived from."""
    limits = {event: spec.timeout for event, spec in EVENTS.items()}
    text = PLUGIN.read_bytes().replace(b"\r\n", b"\n")
    text = text.replace(b"const RELAY = []", b"const RELAY = " + json.dumps([*relay, ID]).encode())
    return text.replace(b"const LIMITS = {}", b"const LIMITS = " + json.dumps(limits).encode())


def _is_ours(state: FileState) -> bool:
    return isinstance(state, File) and (state.text.startswith(HEAD) or _relay(state) is not None)


def _relay(state: FileState) -> relay_command.RelayCommand | None:
    """The relay command in our plugin; None for any other file."""
    found = RELAY_LINE.search(state.text) if isinstance(state, File) else None
    try:
        words = json.loads(found[1]) if found else []
    except ValueError:
        return None
    command = relay_command.parse(words) if words and all(isinstance(word, str) for word in words) else None
    return command if command and command.agent == ID else None


def relay_entries(site: Site) -> tuple[RelayEntry, ...]:
    """The one plugin asks about every event."""
    return tuple(entry for path in plugin_files(site) for entry in _entries(site, path))


def _entries(site: Site, path: Path) -> tuple[RelayEntry, ...]:
    state = read_state(resolve_links(path))
    command = _relay(state)
    if command is None or not isinstance(state, File):
        return ()
    words = tuple(json.loads(_line(state)))
    return tuple(
        RelayEntry(
            event=event,
            argv=(*words, event),
            path=str(path),
            state_folder=command.state_folder,
            required_files=command.required_files,
            up_to_date=bool(site.relay) and state.text == desired(site.relay),
        )
        for event in EVENTS
    )


def _line(state: File) -> bytes:
    found = RELAY_LINE.search(state.text)
    return found[1] if found else b"[]"


def contents(path: Path, state: FileState) -> tuple[EntryContent, ...]:
    if not _relay(state) or not isinstance(state, File):
        return ()
    command = shlex.join(json.loads(_line(state)))
    return (EntryContent(event="", handler={"command": command, "plugin": state.text.decode("utf-8", "replace")}),)


def connect_options(site: Site, files: Sequence[str]) -> str:
    """The scope of these files, unless they are the user's."""
    if not files or str(home(site) / FILE) in files:
        return ""
    return f" --scope project in {Path(files[0]).parents[2]}"


def trust(site: Site) -> str:
    return "trusted"  # it loads whatever plugin is there


def switch_files(site: Site) -> tuple[Path, ...]:
    return ()


def probe_payload(session: str, cwd: str) -> Mapping[str, Any]:
    return {"hook_event_name": PROBE_EVENT, MARK: 1, "session_id": session, "cwd": cwd}
