"""Connects Kimi Code, and imports its hooks: a table for each event at the end of config.toml.

[[hooks]]
event = 'PreToolUse'
command = '[ -x … ] && exec … kimi-code PreToolUse || …'
timeout = 600
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.connection import HookCheck, Site, read_or_empty
from tray.agents.kimi_code.protocol import CLIENT, CLIENTS, EVENTS, ID, NAME, SETTINGS
from tray.agents.kimi_code.source import parse, table_problem
from tray.agents.list_entries import KEY, ListConnector, ListImporter
from tray.agents.settings_import import stay_reason
from tray.edit import toml_edit
from tray.errors import ConfigError


class KimiConnector(ListConnector, frozen=True, kw_only=True):
    """Kimi Code asks for no trust. One hook that it cannot read switches all hooks off, without a word."""

    def settings_path(self, site: Site) -> Path:
        return site.folder(SETTINGS.variable, SETTINGS.folder) / SETTINGS.name

    def notes(self, site: Site) -> tuple[str, ...]:
        off = self.trust(site).removeprefix("off: ")
        return (SETTINGS.restart_hint,) if off == "trusted" else (off,)

    def trust(self, site: Site) -> str:
        path = self.settings_path(site)
        try:
            hooks = toml_edit.items(read_or_empty(path), str(path), KEY)
        except ConfigError as error:
            return f"off: {NAME} runs no hook: {error.message}"
        for index, hook in enumerate(hooks):
            if problem := table_problem(hook):
                return (
                    f"off: {NAME} runs no hook because of one that it cannot read: {KEY}[{index}] in {path} {problem}"
                )
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {**super().probe_payload(session, cwd), CLIENT: CLIENTS[0]}


class KimiImporter(ListImporter, frozen=True):
    """Moves the tables of `config.toml`."""

    def written(self, site: Site, text: bytes, entries: Sequence[Any], import_path: Path) -> bytes:
        wanted = [index for index, one in enumerate(toml_edit.items(text, "", KEY)) if one in entries]
        return "\n".join(toml_edit.block(text, str(import_path), KEY, index) for index in wanted).encode()

    def stay_reason(self, site: Site, text: bytes, entry: Any, import_path: Path, check: HookCheck) -> str:
        return stay_reason(parse(self.written(site, text, [entry], import_path), import_path), EVENTS, check)

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        moved: list[Any] = toml_edit.items(imported, str(import_path), KEY)
        return toml_edit.append(text, str(path), KEY, moved)


CONNECTOR = KimiConnector(agent=ID, editor=toml_edit, events=EVENTS)
IMPORTER = KimiImporter(agent=ID, file_name=SETTINGS.name, connector=CONNECTOR)
