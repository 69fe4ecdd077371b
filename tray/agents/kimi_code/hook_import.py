"""Imports Kimi Code's hooks, table by table, and puts them back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tray.agents.connection import HookCheck, Site
from tray.agents.kimi_code import source
from tray.agents.kimi_code.connector import CONNECTOR
from tray.agents.kimi_code.protocol import EVENTS, ID, SETTINGS
from tray.agents.list_entries import KEY, ListImporter
from tray.agents.settings_import import stay_reason
from tray.edit import toml_edit


class KimiImporter(ListImporter, frozen=True):
    """Moves the tables of `config.toml`."""

    def written(self, site: Site, text: bytes, entries: Sequence[Any], import_path: Path) -> bytes:
        wanted = [index for index, one in enumerate(toml_edit.items(text, "", KEY)) if one in entries]
        return "\n".join(toml_edit.block(text, str(import_path), KEY, index) for index in wanted).encode()

    def stay_reason(self, site: Site, text: bytes, entry: Any, import_path: Path, check: HookCheck) -> str:
        return stay_reason(source.parse(self.written(site, text, [entry], import_path), import_path), EVENTS, check)

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        moved: list[Any] = toml_edit.items(imported, str(import_path), KEY)
        return toml_edit.append(text, str(path), KEY, moved)


IMPORTER = KimiImporter(agent=ID, file_name=SETTINGS.name, connector=CONNECTOR)
