"""Imports the hooks of a Claude-shaped agent, and undoes that, by whole groups and byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tray.agents.claude_shape.connector import ShapedConnector
from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.claude_shape.settings_text import add_groups, handlers, parse_handler, remove_handlers
from tray.agents.connection import Extracted, HookCheck, Site
from tray.agents.settings_import import UNSUPPORTED, SettingsImporter, stay_reason
from tray.edit.json_edit import OBJECT_HINT, JsonText, RawJson
from tray.errors import HooktrayError
from tray.model.hook import Hook


class GroupImport(SettingsImporter, frozen=True, kw_only=True):
    """Takes groups out of a settings file, and puts them back."""

    connector: ShapedConnector
    reader: ShapedReader

    @classmethod
    def of(cls, connector: ShapedConnector, reader: ShapedReader) -> Self:
        """The importer of the connector's settings file."""
        name = Path(connector.file.name).name
        return cls(agent=connector.shape.agent, file_name=name, connector=connector, reader=reader)

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        """The text that stays, the text that moves, how many handlers move, and why each other one stays."""
        document, file = JsonText(text, str(path)), self.connector.file
        if not isinstance(document.value, dict):
            raise document.error(document.root, "expected an object of settings", OBJECT_HINT)
        if file.is_off(document.value) or (document.first_comment_line and not file.takes_comments):
            hint = "`hooktray agents` says why"
            raise HooktrayError(f"{path}: {self.connector.name} runs none of its hooks as it stands", hint=hint)
        groups, removed, reasons = self._movable(document, import_path, check)
        goes = add_groups(JsonText(b"{\n}\n", str(import_path)), groups, file.key, is_flat=file.is_flat)
        stays = remove_handlers(document, removed, file.key, is_flat=file.is_flat)
        return stays, goes, len(removed), reasons

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        """The settings with the imported groups appended."""
        document, file = JsonText(imported, str(import_path)), self.connector.file
        spans = handlers(document, file.key, is_flat=file.is_flat)
        groups = {(each.event.key, each.group): RawJson(document.source(each.group)) for each in spans}
        return add_groups(JsonText(text, str(path)), _by_event(groups), file.key, is_flat=file.is_flat)

    def own_reason(self, event: str, hooks: Sequence[Hook]) -> str:
        """A reason of this agent why a group stays; "" when there is none."""
        return ""

    def _movable(
        self, document: JsonText, import_path: Path, check: HookCheck
    ) -> tuple[dict[str, list[RawJson]], set[int], list[str]]:
        """Groups that move as a whole, their handlers' numbers, and why each other handler stays."""
        file, agent = self.connector.file, self.connector.shape.agent
        spans = list(handlers(document, file.key, is_flat=file.is_flat))
        own = [(index, each) for index, each in enumerate(spans) if not parse_handler(each.value, agent)]
        mixed = {each.group for each in spans if parse_handler(each.value, agent)}
        groups = {(each.event.key, each.group): RawJson(document.source(each.group)) for _, each in own}
        reasons = {
            group: UNSUPPORTED if group[1] in mixed else self._stay_reason(group[0], raw, import_path, check)
            for group, raw in groups.items()
        }
        removed = {index for index, each in own if not reasons[each.event.key, each.group]}
        staying = [reasons[each.event.key, each.group] for index, each in own if index not in removed]
        return _by_event({group: raw for group, raw in groups.items() if not reasons[group]}), removed, staying

    def _stay_reason(self, event: str, group: RawJson, import_path: Path, check: HookCheck) -> str:
        """Why a group stays; "" when Hooktray can run all of its hooks as the agent does, without a warning."""
        file, events = self.connector.file, self.connector.shape.events
        text = f"{{{json.dumps(event)}: [{group.text}]}}"
        found = self.reader.parse((f"{{{json.dumps(file.key)}: {text}}}" if file.key else text).encode(), import_path)
        own = self.own_reason(event, found.hooks)
        return own or stay_reason(found, events, check, unconnected=file.unconnected_events)


def _by_event(groups: Mapping[tuple[str, Any], RawJson]) -> dict[str, list[RawJson]]:
    events: dict[str, list[RawJson]] = {}
    for (event, _), raw in groups.items():
        events.setdefault(event, []).append(raw)
    return events
