"""Connects an agent by one entry an event in a list of a TOML or YAML file, and imports hooks from that list.

{event: "Stop", command: "[ -x … ] && exec … || …", timeout: 600}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tray.agents import relay_command
from tray.agents.connection import Extracted, HookCheck, Site
from tray.agents.settings_connector import OwnEntry, SettingsConnector
from tray.agents.settings_import import SettingsImporter
from tray.model.event import EventSpec

KEY = "hooks"  # the key of the list
HANDLER_KEYS = ("command", "timeout")


class ListEditor(Protocol):
    """A module that edits a list in one kind of text."""

    def items(self, text: bytes, path: str, key: str) -> list[Any]: ...
    def append(self, text: bytes, path: str, key: str, new: Sequence[Any]) -> bytes: ...
    def remove(
        self, text: bytes, path: str, key: str, unwanted: Sequence[Any], *, keeps_comments: bool = False
    ) -> bytes: ...


class ListConnector(SettingsConnector, frozen=True, kw_only=True):
    """Adds Hooktray's entries at the end of the list. An agent's connector names the file and the command."""

    agent: str
    editor: ListEditor
    events: Mapping[str, EventSpec]

    def command(self, relay: tuple[str, ...], event: str) -> str:
        return relay_command.shell_line((*relay, self.agent, event))

    def argv(self, command: str) -> tuple[str, ...]:
        return relay_command.shell_argv(command)

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        for entry in self.editor.items(text, str(path), KEY):
            if command := self.parse(entry):
                yield OwnEntry(
                    event=str(entry.get("event", "")),
                    value=entry,
                    command=command,
                    argv=self.argv(entry["command"]),
                    handler={key: entry[key] for key in HANDLER_KEYS if key in entry},
                    conditions={key: one for key, one in entry.items() if key not in ("event", *HANDLER_KEYS)},
                )

    def parse(self, entry: object) -> relay_command.RelayCommand | None:
        """Returns the relay command of Hooktray's entry; None for any other entry."""
        return relay_command.parse_for(self.agent, entry.get("command")) if isinstance(entry, dict) else None

    def desired(self, relay: tuple[str, ...]) -> dict[str, Any]:
        return {
            event: {"event": event, "command": self.command(relay, event), "timeout": int(spec.timeout)}
            for event, spec in self.events.items()
        }

    def create(self, site: Site, path: Path) -> bytes:
        return self.editor.append(b"", str(path), KEY, list(self.needed(site, self.desired(site.relay)).values()))

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        ours = list(self.own_entries(text, path))
        present = frozenset(one.event for one in ours)
        desired = list(self.needed(site, self.desired(site.relay), present).values())
        if [one.value for one in ours] == desired:
            return text
        return self.editor.append(self.strip(text, path), str(path), KEY, desired)

    def strip(self, text: bytes, path: Path) -> bytes:
        ours = [one.value for one in self.own_entries(text, path)]
        return self.editor.remove(text, str(path), KEY, ours, keeps_comments=True)


class ListImporter(SettingsImporter, frozen=True, kw_only=True):
    """Moves entries of the list without a change. `written` returns the text of a file with only these entries."""

    connector: ListConnector
    empty: bytes = b""

    def written(self, site: Site, text: bytes, entries: Sequence[Any], import_path: Path) -> bytes:
        raise NotImplementedError

    def stay_reason(self, site: Site, text: bytes, entry: Any, import_path: Path, check: HookCheck) -> str:
        """Returns why an entry stays; "" if Hooktray can run it as the agent does."""
        raise NotImplementedError

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        editor = self.connector.editor
        own = [entry for entry in editor.items(text, str(path), KEY) if not self.connector.parse(entry)]
        reasons = [self.stay_reason(site, text, entry, import_path, check) for entry in own]
        moved = [entry for entry, reason in zip(own, reasons, strict=True) if not reason]
        stays = editor.remove(text, str(path), KEY, moved)
        return stays, self.written(site, text, moved, import_path), len(moved), list(filter(None, reasons))
