"""Connects Antigravity, and imports its hooks. Its command line and its desktop app share the file.

~/.gemini/config/hooks.json: {"hooktray": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", …}]}],
                                           "Stop": [{"type": "command", "command": "[ -x … ] && … || { …; }"}]}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import Extracted, HookCheck, Site, read_or_empty
from tray.agents.google_antigravity.protocol import EVENTS, ID, OWN, TOOL_EVENTS, UNCONNECTED_EVENTS, neutral
from tray.agents.google_antigravity.source import parse
from tray.agents.settings_connector import OwnEntry, SettingsConnector
from tray.agents.settings_import import SettingsImporter, stay_reason
from tray.edit.json_edit import OBJECT_HINT, JsonEntry, JsonSpan, JsonText, RawJson, is_blank, new_document
from tray.errors import HooktrayError

RESTART_HINT = "Restart Antigravity: it reads the file when it starts, and `/hooks` shows what it found."


class AntigravityConnector(SettingsConnector, frozen=True):
    """Writes Hooktray's entries as one named hook of `hooks.json`."""

    agent: str = ID

    def settings_path(self, site: Site) -> Path:
        return site.home / ".gemini" / "config" / "hooks.json"

    def is_installed(self, site: Site) -> bool:
        folder = site.home / ".gemini"
        return any((folder / name).is_dir() for name in ("antigravity", "antigravity-cli", "config"))

    def notes(self, site: Site) -> tuple[str, ...]:
        return (RESTART_HINT,)

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        yield from _own_entries(_named(text, path))

    def desired(self, relay: tuple[str, ...]) -> dict[str, Any]:
        """Each line prints a neutral answer if Hooktray is gone: without a valid answer the agent refuses."""
        return {
            event: {
                "type": "command",
                "command": relay_command.answering_line((*relay, ID, event), neutral(event, b"").stdout),
                "timeout": int(spec.timeout),
            }
            for event, spec in EVENTS.items()
            if event not in UNCONNECTED_EVENTS
        }

    def trust(self, site: Site) -> str:
        """A named hook runs unless it is switched off."""
        path = self.settings_path(site)
        named = _named(read_or_empty(path), path)
        if isinstance(named, dict) and named.get("enabled") is False:
            return f"off: Antigravity runs no hook of Hooktray's: take `enabled` out of `{OWN}` in {path}"
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        """Of a call of the model; its payloads name no event."""
        return {"conversationId": session, "workspacePaths": [cwd], "artifactDirectoryPath": "", "modelName": ""}

    def create(self, site: Site, path: Path) -> bytes:
        return new_document({OWN: self._own_hook(site, None)})

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        """The text with our named hook as it is today."""
        document = _document(text, path)
        span = document.member(document.root, OWN)
        present = _value(document)[OWN] if span else None
        own = self._own_hook(site, present)
        if span is None:
            return document.apply(document.add(document.root, [(OWN, own)]))
        _refuse_others(document, present)
        return text if present == own else document.apply([document.replace(span, own)])

    def strip(self, text: bytes, path: Path) -> bytes:
        document = _document(text, path)
        span = document.member(document.root, OWN)
        if span is None or not any(_own_entries(_value(document)[OWN])):
            return text
        _refuse_others(document, _value(document)[OWN])
        return document.apply(document.remove(document.root, [span]))

    def _own_hook(self, site: Site, present: Any) -> dict[str, Any]:
        """Our named hook with the needed events, and with those that it has."""
        entries = self.needed(site, self.desired(site.relay), frozenset(one.event for one in _own_entries(present)))
        return {
            event: [{"matcher": "*", "hooks": [one]} if event in TOOL_EVENTS else one]
            for event, one in entries.items()
        }


def _value(document: JsonText) -> Any:
    """The named hooks."""
    return document.value


def _document(text: bytes, path: Path) -> JsonText:
    document = JsonText(text, str(path))
    if not document.is_at(document.root, "{"):
        raise document.error(document.root, "expected an object of named hooks", OBJECT_HINT)
    return document


def _refuse_others(document: JsonText, named: Any) -> None:
    """Raises HooktrayError if other hooks are below our name."""
    others = [handler for _, handler in handlers(named) if not relay_command.parse_for(ID, handler.get("command"))]
    if others:
        hint = f"give them another name than `{OWN}` and try again; nothing was written"
        raise HooktrayError(f"{document.path}: `{OWN}` holds hooks that are not Hooktray's", hint=hint)


def handlers(named: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each handler of a named hook, with its event."""
    for event, entries in named.items() if isinstance(named, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            found = inner if isinstance(inner, list) else [entry]
            yield from ((event, each) for each in found if isinstance(each, dict))


def _own_entries(named: Any) -> Iterator[OwnEntry]:
    switch = {"enabled": named["enabled"]} if isinstance(named, dict) and "enabled" in named else {}
    for event, handler in handlers(named):
        line = handler.get("command")
        if command := relay_command.parse_for(ID, line):
            yield OwnEntry(
                event=event,
                value=handler,
                command=command,
                argv=relay_command.shell_argv(str(line)),
                handler=handler,
                conditions=switch,
            )


def _named(text: bytes, path: Path) -> Any:
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    return value.get(OWN) if isinstance(value, dict) else None


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


CONNECTOR = AntigravityConnector()
IMPORTER = AntigravityImporter(agent=ID, file_name="hooks.json", connector=CONNECTOR)
