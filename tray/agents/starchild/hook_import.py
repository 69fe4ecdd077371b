"""Starchild's hooks go below us and come back entry by entry, each as it was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tray.agents.connection import Extracted, HookCheck, Site
from tray.agents.settings_import import SettingsImporter
from tray.agents.starchild.connector import CONNECTOR, HOOKS_FILE, hooks_enabled, parse_entry, workspace
from tray.agents.starchild.protocol import AGENT
from tray.agents.starchild.source import WORKSPACE, parse
from tray.edit.yaml_edit import append, items, remove, verbatim_items
from tray.errors import HooktrayError

UNSUPPORTED = "Hooktray cannot run them there"


class StarchildImporter(SettingsImporter, frozen=True):
    """Moves the entries of `shell_hooks.yaml`."""

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        """What stays, what goes, how many entries go, and why each other stays."""
        if hooks_enabled(site) is False:
            hint = "`/hooks on` there switches them on"
            raise HooktrayError(f"{path}: Starchild runs none of its hooks as it stands", hint=hint)
        entries = [entry for entry in items(text, str(path), "hooks") if not parse_entry(entry)]
        folder = str(workspace(site))
        reasons = [_stay_reason(entry, folder, import_path, check) for entry in entries]
        moved = [entry for entry, reason in zip(entries, reasons, strict=True) if not reason]
        stays = remove(text, str(path), "hooks", moved)
        imported = verbatim_items(text, "hooks", moved)
        head = f"{WORKSPACE}: {json.dumps(folder, ensure_ascii=False)}\n"
        goes = append(head.encode(), str(import_path), "hooks", imported)
        return stays, goes, len(moved), [reason for reason in reasons if reason]

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        """The settings with every imported entry behind those that are there."""
        moved = items(imported, str(import_path), "hooks")  # its error names the place that cannot be read
        return append(text, str(path), "hooks", verbatim_items(imported, "hooks", moved))


def _stay_reason(entry: Any, folder: str, import_path: Path, check: HookCheck) -> str:
    """Why an entry stays; "" when it would run below us without any warning."""
    document = {WORKSPACE: folder, "hooks": [entry]}
    source = parse(json.dumps(document, ensure_ascii=False).encode(), import_path)
    if source.warnings or len(source.hooks) != 1:
        return UNSUPPORTED
    return check.problem(source.hooks[0])


IMPORTER = StarchildImporter(agent=AGENT, file_name=HOOKS_FILE, connector=CONNECTOR, empty=b"")
