"""X-Code CLI: one plugin of the user's, called hooktray, that registers all ten events.

<plugins>/cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json and its record in <plugins>/installed_plugins.json
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.connection import (
    PROBE_EVENT,
    EntryContent,
    Plan,
    RelayEntry,
    Site,
    connect_change,
    disconnect_change,
    read_or_empty,
)
from tray.agents.native_runs import declared_in
from tray.agents.x_code.protocol import AGENT, EVENTS
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.json_edit import JsonText, is_blank, new_document
from tray.errors import HooktrayError
from tray.model.hook import Hook

ID = "hooktray@local"
MANIFEST = "plugin.json"
VERSION = "1.0.0"  # of the plugin's shape: its folder stays the same when Hooktray is updated
RESTART_HINT = "Running sessions take it up with `/plugin refresh`, new ones by themselves."


def plugins_folder(site: Site) -> Path:
    """The folder of all plugins."""
    return site.folder("XC_PLUGINS_DIR") if "XC_PLUGINS_DIR" in site.environment else _home(site) / "plugins"


def manifest_path(site: Site) -> Path:
    return plugins_folder(site) / "cache" / "local" / "hooktray" / VERSION / ".x-code-plugin" / MANIFEST


def registry_path(site: Site) -> Path:
    return plugins_folder(site) / "installed_plugins.json"


def settings_path(site: Site) -> Path:
    return _home(site) / "settings.json"


def is_installed(site: Site) -> bool:
    return _home(site).is_dir()


def connect(site: Site) -> Plan:
    manifest = desired_manifest(site.relay)
    present = {entry.event for entry in relay_entries(site)}
    manifest["hooks"] = {
        event: hooks for event, hooks in manifest["hooks"].items() if event in present or site.needs(AGENT, event)
    }
    plugin = file_change(site, manifest_path(site), new_document(manifest))
    change = connect_change(site, registry_path(site), REGISTRY)
    return Plan(changes=tuple(filter(None, (plugin, change))), notes=(RESTART_HINT,))


def disconnect(site: Site) -> Plan:
    own = resolve_links(manifest_path(site))
    change = disconnect_change(site, AGENT, registry_path(site), REGISTRY)
    current = read_state(own)
    backup = site.backups.get(own)  # edits of the plugin's own manifest go with the plugin
    origin = backup.before if backup else None if _is_ours(current) else current
    plugin = FileChange(path=own, before=current, after=origin) if current not in (None, origin) else None
    return Plan(changes=tuple(filter(None, (change, plugin))))


def relay_entries(site: Site) -> tuple[RelayEntry, ...]:
    text = read_or_empty(manifest_path(site))
    if not text.strip() or not _is_registered(site):
        return ()
    declared = _object(text, manifest_path(site)).get("hooks")
    hooks = declared if isinstance(declared, dict) else {}
    desired = desired_manifest(site.relay)["hooks"] if site.relay else {}
    return tuple(
        RelayEntry(
            event=event,
            argv=_argv(handler["command"]),
            path=str(manifest_path(site)),
            state_folder=command.state_folder,
            required_files=command.required_files,
            up_to_date=handler in desired.get(event, ()),
        )
        for event, group in hooks.items()
        for handler in (group if isinstance(group, list) else ())
        if isinstance(handler, dict) and isinstance(handler.get("command"), str)
        if (command := relay_command.parse(handler["command"]))
    )


def contents(path: Path, state: FileState) -> tuple[EntryContent, ...]:
    """Of the plugin's manifest, or its record in the list of plugins."""
    text = state.text if isinstance(state, File) else b""
    value = JsonText(text, str(path)).value if text.strip() else None
    if path.name != MANIFEST:
        found = value.get("plugins") if isinstance(value, dict) else None
        records = (
            [one for one in found if isinstance(one, dict) and one.get("id") == ID] if isinstance(found, list) else []
        )
        return tuple(EntryContent(event="", handler={**one, "installedAt": ""}) for one in records)
    if not isinstance(value, dict):
        return ()
    hooks = value.get("hooks")
    about = {key: one for key, one in value.items() if key != "hooks"}
    return tuple(
        EntryContent(event=event, handler=handler, conditions=about)
        for event, group in (hooks.items() if isinstance(hooks, dict) else ())
        for handler in (group if isinstance(group, list) else ())
        if isinstance(handler, dict) and relay_command.parse(str(handler.get("command", "")))
    )


def switch_files(site: Site) -> tuple[Path, ...]:
    return (site.cwd / ".x-code" / "settings.local.json", settings_path(site))


def _argv(command: str) -> tuple[str, ...]:
    return ("cmd.exe", "/d", "/c", *shlex.split(command)) if sys.platform == "win32" else ("/bin/sh", "-c", command)


def trust(site: Site) -> str:
    """A plugin is on unless the user's or the project's settings switch it off."""
    for path in (site.cwd / ".x-code" / "settings.local.json", settings_path(site)):
        text = read_or_empty(path)
        enabled = _object(text, path).get("enabledPlugins")
        if isinstance(enabled, dict) and isinstance(enabled.get(ID), bool):
            return "trusted" if enabled[ID] else f"off: {path} switches `{ID}` off; type `/plugin enable {ID}` there"
    return "trusted"


def probe_payload(session: str, cwd: str) -> Mapping[str, Any]:
    return {"event": PROBE_EVENT, "session": {"sessionId": session, "cwd": cwd}}


def other_plugins(site: Site) -> list[tuple[str, Path]]:
    """The name and the folder of every other plugin that is installed here."""
    text = read_or_empty(registry_path(site))
    records = _object(text, registry_path(site)).get("plugins")
    plugins = []
    for record in records if isinstance(records, list) else []:
        if isinstance(record, dict) and record.get("id") != ID:
            parts = [str(record.get(key) or "") for key in ("marketplace", "name", "version")]
            plugins.append((str(record.get("id")), (plugins_folder(site) / "cache").joinpath(*parts)))
    return plugins


def runs_own(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True for a hook of a plugin that is on. Plugins, also a project's, are on until settings switch them off."""
    if not connected:
        return False
    path, text = declared_in(hook), read_or_empty(settings_path(site))
    enabled = _object(text, settings_path(site)).get("enabledPlugins")
    off = {name for name, on in enabled.items() if on is False} if isinstance(enabled, dict) else ()
    folders = [folder for name, folder in other_plugins(site) if name not in off]
    if hook.match.project:
        folders.append(Path(hook.match.project, ".x-code", "plugins"))
    return any(path.is_relative_to(resolve_links(folder)) for folder in folders)


def desired_manifest(relay: tuple[str, ...]) -> dict[str, Any]:
    """The plugin's manifest. Time limits are the agent's own; a larger number would make it drop all hooks."""
    hooks = {
        event: [
            {
                "command": relay_command.shell_line((*relay, AGENT, event)),
                "timeout": int(spec.timeout * 1000),
                "failurePolicy": "allow",
                "description": "hooktray",
            }
        ]
        for event, spec in EVENTS.items()
    }
    about = "Tells Hooktray of every event. Written by `hooktray connect`; `hooktray disconnect` takes it away."
    return {"name": "hooktray", "version": VERSION, "description": about, "hooks": hooks}


def file_change(site: Site, path: Path, text: bytes) -> FileChange | None:
    """The change that makes a file of our own; None when it is there already."""
    real = resolve_links(path)
    current, after = read_state(real), File(text=text, mode=0o600)
    if current == after:
        return None
    backup = site.backups.as_written(real, current)
    origin = backup.before if backup else None if _is_ours(current) else current
    return FileChange(path=real, before=current, after=after, origin=origin, display_path=path)


def _is_ours(state: FileState) -> bool:
    return isinstance(state, File) and b"Written by `hooktray connect`" in state.text


def _object(text: bytes, path: Path) -> dict[str, Any]:
    """The object that a file of X-Code's holds; empty for none."""
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    return value if isinstance(value, dict) else {}


def _home(site: Site) -> Path:
    return site.folder("X_CODE_HOME", ".x-code")


def _is_registered(site: Site) -> bool:
    text = read_or_empty(registry_path(site))
    plugins = _object(text, registry_path(site)).get("plugins")
    return isinstance(plugins, list) and any(isinstance(one, dict) and one.get("id") == ID for one in plugins)


class PluginRegistry:
    """Our plugin's record in the text of the list of installed plugins."""

    def create(self, site: Site, path: Path) -> bytes:
        return new_document({"schemaVersion": "1", "plugins": [_record(site)]})

    def add(self, site: Site, text: bytes, path: Path) -> bytes:
        document, record = JsonText(text, str(path)), _record(site)
        if not isinstance(document.value, dict) or not isinstance(document.value.get("plugins", []), list):
            raise HooktrayError(
                f"{path}:1:1: is not a list of plugins as X-Code keeps it", hint="mend it; nothing was written"
            )
        plugins = document.member(document.root, "plugins")
        if plugins is None:
            return document.apply(document.add(document.root, [("plugins", [record])]))
        value: Any = document.value
        for span, plugin in zip(document.children(plugins.value), value["plugins"], strict=True):
            if isinstance(plugin, dict) and plugin.get("id") == ID:
                same = {**plugin, "installedAt": ""} == {**record, "installedAt": ""}
                return text if same else document.apply([document.replace(span, record)])
        return document.apply(document.add(plugins.value, [(None, record)]))

    def strip(self, text: bytes, path: Path) -> bytes:
        document = JsonText(text, str(path))
        value = document.value
        plugins = document.member(document.root, "plugins") if isinstance(value, dict) else None
        if not isinstance(value, dict) or plugins is None or not document.is_at(plugins.value, "["):
            return text
        both = zip(document.children(plugins.value), value["plugins"], strict=True)
        removed = [span for span, plugin in both if isinstance(plugin, dict) and plugin.get("id") == ID]
        return document.apply(document.remove(plugins.value, removed)) if removed else text


def _record(site: Site) -> dict[str, Any]:
    return {
        "id": ID,
        "name": "hooktray",
        "marketplace": "local",
        "version": VERSION,
        "source": {"kind": "local", "path": str(manifest_path(site).parents[1])},
        "installedAt": site.now,
        "installScope": "user",
    }


REGISTRY = PluginRegistry()
