"""Imports Kimi Code's hooks, table by table, and puts them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tray.agents.connection import Extracted, HookCheck, Site
from tray.agents.kimi_code import source
from tray.agents.kimi_code.connector import CONNECTOR, KEY, parse_table
from tray.agents.kimi_code.protocol import EVENTS, ID, SETTINGS
from tray.agents.settings_import import SettingsImporter
from tray.edit import toml_edit

UNSUPPORTED = "Hooktray cannot run them there"


class KimiImporter(SettingsImporter, frozen=True):
    """Moves the tables of `config.toml`."""

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        """The text that stays, the text that moves, how many hooks move, and why each other one stays."""
        hooks = toml_edit.tables(text, str(path), KEY)
        own = [index for index, hook in enumerate(hooks) if not parse_table(hook)]
        reasons = {
            index: _stay_reason(toml_edit.block(text, str(path), KEY, index), import_path, check) for index in own
        }
        moved = [index for index in own if not reasons[index]]
        goes = "\n".join(toml_edit.block(text, str(path), KEY, index) for index in moved)
        stays = toml_edit.remove(text, str(path), KEY, [hooks[index] for index in moved])
        return stays, goes.encode(), len(moved), [reason for reason in reasons.values() if reason]

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        """The settings with the imported hooks appended."""
        moved: list[Any] = toml_edit.tables(imported, str(import_path), KEY)
        return toml_edit.append(text, str(path), KEY, moved)


def _stay_reason(block: str, import_path: Path, check: HookCheck) -> str:
    """Why a hook stays; "" when Hooktray can run it as the agent does, without a warning."""
    found = source.parse(block.encode(), import_path)
    if found.warnings or any(hook.inactive for hook in found.hooks):
        return UNSUPPORTED
    for hook in found.hooks:
        limit = EVENTS[hook.match.native].timeout
        if hook.timeout > limit and not EVENTS[hook.match.native].observe_only:
            return f"their `timeout` is longer than the {limit:g} s that our line has on {hook.match.native}"
    return next(filter(None, map(check.problem, found.hooks)), "")


IMPORTER = KimiImporter(agent=ID, file_name=SETTINGS.name, connector=CONNECTOR, empty=b"")
