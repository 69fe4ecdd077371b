"""Connects Cline's command line: an executable of ours for each event, beside those of its user.

Cline runs every file in ~/.cline/hooks whose name is an event, whatever its ending: those of its user stay
as they are, and ours end in `.bash`. What starts them is their first line, `#!/bin/sh`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.cline.protocol import EVENTS, ID, NAME
from tray.agents.connection import PROBE_EVENT, EntryContent, Plan, RelayEntry, Site
from tray.edit.file_changes import File, FileChange, FileState, read_state
from tray.errors import HooktrayError

FOLDER = ".cline"
HOME_VARIABLE = "CLINE_DIR"
ENDING = ".bash"
MODE = 0o755
RESTART_HINT = "Sessions of Cline take it up when they start."


def hooks_folder(site: Site) -> Path:
    return site.folder(HOME_VARIABLE, FOLDER) / "hooks"


def hook_file(site: Site, event: str) -> Path:
    return hooks_folder(site) / f"{event}{ENDING}"


def is_installed(site: Site) -> bool:
    return hooks_folder(site).parent.is_dir()


def connect(site: Site) -> Plan:
    if sys.platform == "win32":
        raise HooktrayError("Cline's hooks are connected on Linux and macOS only", hint="connect it where it runs")
    changes = []
    for event in EVENTS:
        path = hook_file(site, event)
        current, after = read_state(path), File(text=_shim(site, event), mode=MODE)
        command = parse_file(current)
        if current is not None and command is None:
            hint = f"rename it to {event}.sh, which {NAME} runs as well, and try again; nothing was written"
            raise HooktrayError(f"{path}: is a hook of yours, in the place of Hooktray's", hint=hint)
        if current != after and (command or site.needs(ID, event)):
            changes.append(FileChange(path=path, before=current, after=after, origin=None))
    return Plan(changes=tuple(changes), notes=(RESTART_HINT,))


def disconnect(site: Site) -> Plan:
    return Plan(
        changes=tuple(
            FileChange(path=path, before=state, after=None) for _, path, state, _ in _own_files(site)
        )
    )  # fmt: skip


def relay_entries(site: Site) -> tuple[RelayEntry, ...]:
    return tuple(
        RelayEntry(
            event=event,
            argv=("/bin/sh", str(path)),
            path=str(path),
            state_folder=command.state_folder,
            required_files=command.required_files,
            up_to_date=bool(site.relay) and state == File(text=_shim(site, event), mode=MODE),
        )
        for event, path, state, command in _own_files(site)
    )


def _own_files(site: Site) -> Iterator[tuple[str, Path, FileState, relay_command.RelayCommand]]:
    for event in EVENTS:
        path = hook_file(site, event)
        state = read_state(path)
        if command := parse_file(state):
            yield event, path, state, command


def _shim(site: Site, event: str) -> bytes:
    return relay_command.shim((*site.relay, ID, event), otherwise="cat >/dev/null")


def parse_file(state: FileState) -> relay_command.RelayCommand | None:
    """The relay command of our executable; None for any other."""
    if not isinstance(state, File) or len(state.text) > 4096 or not state.text.startswith(b"#!/bin/sh\n"):
        return None
    command = relay_command.parse(state.text.decode("utf-8", "replace").strip().splitlines()[-1])
    return command if command and command.agent == ID else None


def contents(path: Path, state: FileState) -> tuple[EntryContent, ...]:
    command = parse_file(state)
    if command is None or not isinstance(state, File):
        return ()
    return (EntryContent(event=command.event, handler={"command": state.text.decode("utf-8", "replace")}),)


def trust(site: Site) -> str:
    return "trusted"  # it runs whatever is there


def switch_files(site: Site) -> tuple[Path, ...]:
    return ()


def probe_payload(session: str, cwd: str) -> Mapping[str, Any]:
    return {"hookName": PROBE_EVENT, "taskId": session, "workspaceRoots": [cwd]}
