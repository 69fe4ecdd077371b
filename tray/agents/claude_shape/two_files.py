"""Connects an agent that reads hooks from two files, of which the first hides the second's hooks of the same event.

Each of our groups goes into the file whose hooks of that event run already, so that it hides none of the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.agents.agent import HookImporter
from tray.agents.claude_shape.connector import ShapedConnector, read_object
from tray.agents.claude_shape.hook_import import GroupImport
from tray.agents.claude_shape.settings import SettingsFile
from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.claude_shape.shape import ClaudeShape
from tray.agents.connection import EntryContent, HookCheck, Plan, RelayEntry, Site
from tray.edit.file_changes import FileState


class TwoFiles(msgspec.Struct, frozen=True):
    """A Connector and a HookImporter. If `first.name` does not exist, the agent reads `instead`, if that exists."""

    shape: ClaudeShape
    first: SettingsFile
    instead: str
    second: SettingsFile
    name: str

    def _parts(self, site: Site) -> tuple[ShapedConnector, ShapedConnector]:
        """Returns a connector for each file, with the events whose hooks run from it."""
        folder = site.home / self.first.folder
        is_moved = (folder / self.instead).exists() and not (folder / self.first.name).exists()
        first = replace(self.first, name=self.instead) if is_moved else self.first
        above, below = (_events(folder / file.name, file) for file in (first, self.second))
        events = frozenset(self.shape.events)
        if not (folder / first.name).exists() and below:
            above = frozenset()  # nothing creates the file
        else:
            above |= events - below
        left_out = ((first, events - above), (self.second, events & above))
        files = (replace(file, unconnected_events=dict.fromkeys(names, "")) for file, names in left_out)
        one, other = (ShapedConnector(self.shape, file, self.name) for file in files)
        return one, other

    def is_installed(self, site: Site) -> bool:
        return self._parts(site)[0].is_installed(site)

    def connect(self, site: Site) -> Plan:
        parts = [one for one in self._parts(site) if one.settings_path(site).exists() or one.desired(site.relay)]
        return _joined(*(one.connect(site) for one in parts))

    def disconnect(self, site: Site) -> Plan:
        return _joined(*(one.disconnect(site) for one in self._parts(site)))

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        return tuple(chain.from_iterable(one.relay_entries(site) for one in self._parts(site)))

    def trust(self, site: Site) -> str:
        return next(filter(None, (one.trust(site) for one in self._parts(site))), "")

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return tuple(one.settings_path(site) for one in self._parts(site))

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        file = self.second if path.name == self.second.name else self.first
        return ShapedConnector(self.shape, file, self.name).contents(path, state)

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, str]:
        return ShapedConnector(self.shape, self.first, self.name).probe_payload(session, cwd)

    def import_hooks(self, site: Site, check: HookCheck) -> Plan:
        return self._importer(site).import_hooks(site, check)

    def undo_import(self, site: Site) -> Plan:
        return self._importer(site).undo_import(site)

    def has_imported(self, site: Site) -> bool:
        return self._importer(site).has_imported(site)

    def _importer(self, site: Site) -> HookImporter:
        """Returns the importer of the file whose hooks run: of the first one if both have hooks."""
        one, other = self._parts(site)
        part = one if one.settings_path(site).exists() else other
        return GroupImport.of(part, ShapedReader(self.shape, part.file, self.name))


def _events(path: Path, file: SettingsFile) -> frozenset[str]:
    """Returns the events that have hooks in the file."""
    fields = read_object(path)
    hooks = fields.get(file.key) if file.key else fields
    return frozenset(name for name, groups in hooks.items() if groups) if isinstance(hooks, dict) else frozenset()


def _joined(*plans: Plan) -> Plan:
    changes = tuple(chain.from_iterable(plan.changes for plan in plans))
    return Plan(changes=changes, notes=tuple(dict.fromkeys(chain.from_iterable(plan.notes for plan in plans))))
