"""Connects OpenCode: a plugin of ours in its folder of plugins, `plugin.js` with the relay and the time limits in it.

<XDG_CONFIG_HOME>/opencode/plugins/hooktray.js, in a project .opencode/plugins/hooktray.js
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents import relay_command
from tray.agents.connection import EntryContent, Site, other_files
from tray.agents.opencode.protocol import EVENTS, ID, MARK, NAME
from tray.agents.own_file import ScopedFileConnector
from tray.agents.settings_connector import OwnEntry
from tray.edit.file_changes import File, FileState, read_state

PLUGIN = Path(__file__).parent / "plugin.js"
RELAY_LINE = re.compile(rb"^const RELAY = (\[.*\])$", re.MULTILINE)
HEAD = b"// Hooktray's plugin for OpenCode"  # how the file begins, whatever was changed behind it


class OpenCodeConnector(ScopedFileConnector, frozen=True, kw_only=True):
    """Writes one plugin, which asks about every event. OpenCode loads every plugin of the folder."""

    def text(self, site: Site, present: frozenset[str]) -> bytes:
        return self.desired(site.relay)[next(iter(EVENTS))]

    def rest(self, state: FileState, path: Path) -> FileState:
        is_ours = isinstance(state, File) and (state.text.startswith(HEAD) or _relay_words(state.text))
        return None if is_ours else state

    def other_paths(self, site: Site) -> Iterator[Path]:
        """Yields Hooktray's plugins in other projects, including plugins whose relay command is damaged."""
        for path in other_files(site, ID, self.settings_path(site)):
            if self.rest(read_state(path), path) is None:
                yield path

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        words = _relay_words(text)
        if command := relay_command.parse_for(ID, words):
            handler = {"command": shlex.join(words), "plugin": text.decode("utf-8", "replace")}
            for event in EVENTS:
                yield OwnEntry(event=event, value=text, command=command, argv=(*words, event), handler=handler)

    def desired(self, relay: tuple[str, ...]) -> Mapping[str, bytes]:
        """Returns the whole plugin for each event. The engine's deadlines follow from its time limits."""
        limits = {event: spec.timeout for event, spec in EVENTS.items()}
        text = PLUGIN.read_bytes().replace(b"\r\n", b"\n")
        text = text.replace(b"const RELAY = []", b"const RELAY = " + json.dumps([*relay, ID]).encode())
        text = text.replace(b"const LIMITS = {}", b"const LIMITS = " + json.dumps(limits).encode())
        return dict.fromkeys(EVENTS, text)

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        return tuple(replace(one, event="") for one in super().contents(path, state)[:1])

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return ()

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {**super().probe_payload(session, cwd), MARK: 1}


def _relay_words(text: bytes) -> Sequence[str]:
    """Returns the words that start the relay in Hooktray's plugin; none for any other file."""
    found = RELAY_LINE.search(text)
    try:
        words = json.loads(found[1]) if found else []
    except ValueError:
        return ()
    is_relay = all(isinstance(word, str) for word in words) and relay_command.parse_for(ID, words)
    return words if is_relay else ()


CONNECTOR = OpenCodeConnector(
    agent=ID,
    name=NAME,
    variable="XDG_CONFIG_HOME",
    usual=".config",
    folder="opencode",
    project_folder=".opencode",
    file=Path("plugins", "hooktray.js"),
    restart_hint=f"Sessions of {NAME} take it up when they start.",
    others=("is not Hooktray's plugin", "move it away: Hooktray writes this file"),
)
