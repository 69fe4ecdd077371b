"""Imports Antigravity's hooks, and undoes that, by whole named hooks and byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tray.agents.connection import Extracted, HookCheck, Site
from tray.agents.google_antigravity.connector import CONNECTOR, OWN, handlers
from tray.agents.google_antigravity.protocol import EVENTS, ID, UNCONNECTED_EVENTS
from tray.agents.google_antigravity.source import parse
from tray.agents.settings_import import SettingsImporter, stay_reason
from tray.edit.json_edit import OBJECT_HINT, JsonEntry, JsonSpan, JsonText, RawJson


class AntigravityImporter(SettingsImporter, frozen=True):
    """Moves the named hooks of `hooks.json`."""

    def extract(self, site: Site, text: bytes, path: Path, import_path: Path, check: HookCheck) -> Extracted:
        """The text that stays, the text that moves, how many hooks move, and why each other one stays."""
        document = JsonText(text, str(path))
        if not document.is_at(document.root, "{"):
            raise document.error(document.root, "expected an object of named hooks", OBJECT_HINT)
        named_hooks: Any = document.value
        spans: list[JsonSpan] = []
        moved, reasons = 0, list[str]()
        for span in document.children(document.root):
            number = len(list(handlers(named_hooks[span.key])))
            if span.key == OWN or not number:
                continue
            why = _stay_reason(document, span, import_path, check)
            if why:
                reasons += [why] * number
            else:
                spans.append(span)
                moved += number
        return document.apply(document.remove(document.root, spans)), _goes(document, spans), moved, reasons

    def restore(self, text: bytes, path: Path, imported: bytes, import_path: Path) -> bytes:
        """The file with the imported named hooks appended."""
        source = JsonText(imported, str(import_path))
        return _appended(JsonText(text, str(path)), source, source.children(source.root))


def _goes(document: JsonText, spans: list[JsonSpan]) -> bytes:
    return _appended(JsonText(b"{\n}\n", document.path), document, spans)


def _appended(target: JsonText, source: JsonText, spans: Sequence[JsonSpan]) -> bytes:
    entries: list[JsonEntry] = [(span.key, RawJson(source.source(span))) for span in spans]
    return target.apply(target.add(target.root, entries))


def _stay_reason(document: JsonText, span: JsonSpan, import_path: Path, check: HookCheck) -> str:
    """Why a named hook stays; "" when Hooktray can run all of it as Antigravity does."""
    found = parse(_goes(document, [span]), import_path)
    unsupported = "Hooktray cannot run all of a named hook there"
    if not found.hooks:
        return unsupported
    return stay_reason(found, EVENTS, check, unconnected=UNCONNECTED_EVENTS, unsupported=unsupported)


IMPORTER = AntigravityImporter(agent=ID, file_name="hooks.json", connector=CONNECTOR)
