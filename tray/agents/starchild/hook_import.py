"""Imports Starchild's hooks, entry by entry, and puts them back, each as it was written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tray.agents.connection import Extracted, HookCheck, Site
from tray.agents.list_entries import KEY, ListImporter
from tray.agents.settings_import import UNSUPPORTED
from tray.agents.starchild.connector import CONNECTOR, HOOKS_FILE, hooks_enabled, workspace
from tray.agents.starchild.protocol import AGENT
from tray.agents.starchild.source import WORKSPACE, parse
from tray.edit.yaml_edit import append, items, verbatim_items
from tray.errors import HooktrayError


class StarchildImporter(ListImporter, frozen=True):
    """Moves the entries of `shell_hooks.yaml`."""

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        if hooks_enabled(site) is False:
            hint = "`/hooks on` there switches them on"
            raise HooktrayError(f"{path}: Starchild runs none of its hooks as it stands", hint=hint)
        return super().extract(site, text, path, import_path, check)

    def written(self, site: Site, text: bytes, entries: Sequence[Any], import_path: Path) -> bytes:
        head = f"{WORKSPACE}: {json.dumps(str(workspace(site)), ensure_ascii=False)}\n"
        return append(head.encode(), str(import_path), KEY, verbatim_items(text, KEY, entries))

    def stay_reason(self, site: Site, text: bytes, entry: Any, import_path: Path, check: HookCheck) -> str:
        document = {WORKSPACE: str(workspace(site)), KEY: [entry]}
        source = parse(json.dumps(document, ensure_ascii=False).encode(), import_path)
        if source.warnings or len(source.hooks) != 1:
            return UNSUPPORTED
        return check.problem(source.hooks[0])

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        moved = items(imported, str(import_path), KEY)  # its error names the place that cannot be read
        return append(text, str(path), KEY, verbatim_items(imported, KEY, moved))


IMPORTER = StarchildImporter(agent=AGENT, file_name=HOOKS_FILE, connector=CONNECTOR)
