"""Connects Cline's command line: an executable of ours for each event, beside those of its user.

Cline runs every file in ~/.cline/hooks whose name is an event, whatever its ending: those of its user stay
as they are, and ours end in `.bash`. What starts them is their first line, `#!/bin/sh`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tray.agents.cline.protocol import EVENTS, ID, NAME
from tray.agents.connection import PROBE_EVENT, Plan, Site
from tray.agents.executables import ExecutablesConnector
from tray.edit.file_changes import FileChange, read_state
from tray.errors import HooktrayError


class ClineConnector(ExecutablesConnector, frozen=True, kw_only=True):
    """Writes Hooktray's files beside the user's own."""

    def folder(self, site: Site) -> Path:
        return site.folder("CLINE_DIR", ".cline") / "hooks"

    def events(self, site: Site) -> Iterable[str]:
        return EVENTS

    def path(self, site: Site, event: str) -> Path:
        return self.folder(site) / f"{event}.bash"

    def connect(self, site: Site) -> Plan:
        if sys.platform == "win32":
            raise HooktrayError(
                "Cline's hooks are connected on Linux and macOS only", hint="connect it where it runs"
            )
        changes = []
        for event in EVENTS:
            path = self.path(site, event)
            current, after = read_state(path), self.executable(site, event)
            if current is not None and not self.parse(current):
                hint = f"rename it to {event}.sh, which {NAME} runs as well, and try again; nothing was written"
                raise HooktrayError(f"{path}: is a hook of yours, in the place of Hooktray's", hint=hint)
            if current != after and (current is not None or site.needs(ID, event)):
                changes.append(FileChange(path=path, before=current, after=after, origin=None))
        return Plan(changes=tuple(changes), notes=("Sessions of Cline take it up when they start.",))

    def disconnect(self, site: Site) -> Plan:
        changes = [FileChange(path=path, before=state, after=None) for path, state, *_ in self.own_files(site)]
        return Plan(changes=tuple(changes))

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {"hookName": PROBE_EVENT, "taskId": session, "workspaceRoots": [cwd]}


CONNECTOR = ClineConnector(agent=ID, starter=("/bin/sh",))
