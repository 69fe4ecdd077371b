"""X-Code CLI: one plugin of the user's, called hooktray, that registers all ten events.

<plugins>/cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json and its record in <plugins>/installed_plugins.json
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.claude_shape.connector import read_object
from tray.agents.connection import PROBE_EVENT, EntryContent, Plan, RelayEntry, Site
from tray.agents.native_runs import declared_in
from tray.agents.own_file import OwnFileConnector
from tray.agents.settings_connector import OwnEntry, SettingsConnector
from tray.agents.x_code.protocol import AGENT, EVENTS
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.json_edit import JsonText, new_document
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


class PluginRegistry(SettingsConnector, frozen=True):
    """Our plugin's record in the text of the list of installed plugins."""

    agent: str = AGENT

    def settings_path(self, site: Site) -> Path:
        return registry_path(site)

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        text = state.text if isinstance(state, File) else b""
        records = _records(JsonText(text, str(path)).value if text.strip() else None)
        return tuple(
            EntryContent(event="", handler={**one, "installedAt": ""}) for one in records if one.get("id") == ID
        )

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


REGISTRY = PluginRegistry()


class XCodeConnector(OwnFileConnector, frozen=True, kw_only=True):
    """Writes the manifest of Hooktray's plugin. X-Code runs it if the registry has a record of the plugin."""

    def settings_path(self, site: Site) -> Path:
        return manifest_path(site)

    def is_installed(self, site: Site) -> bool:
        return _home(site).is_dir()

    def connect(self, site: Site) -> Plan:
        plan = super().connect(site)
        return Plan(changes=(*plan.changes, *REGISTRY.connect(site).changes), notes=plan.notes)

    def disconnect(self, site: Site) -> Plan:
        own = resolve_links(manifest_path(site))
        current, backup = read_state(own), site.backups.get(own)
        origin = backup.before if backup else self.rest(current, own)  # edits of the manifest go with the plugin
        changed = (FileChange(path=own, before=current, after=origin),) if current not in (None, origin) else ()
        return Plan(changes=(*REGISTRY.disconnect(site).changes, *changed))

    def rest(self, state: FileState, path: Path) -> FileState:
        is_ours = isinstance(state, File) and b"Written by `hooktray connect`" in state.text
        return None if is_ours else state

    def text(self, site: Site, present: frozenset[str]) -> bytes:
        about = "Tells Hooktray of every event. Written by `hooktray connect`; `hooktray disconnect` takes it away."
        hooks = {event: [one] for event, one in self.needed(site, self.desired(site.relay), present).items()}
        return new_document({"name": "hooktray", "version": VERSION, "description": about, "hooks": hooks})

    def desired(self, relay: tuple[str, ...]) -> dict[str, Any]:
        """Returns Hooktray's entry for each event. X-Code drops all hooks if a time limit exceeds its own."""
        return {
            event: {
                "command": relay_command.shell_line((*relay, AGENT, event)),
                "timeout": int(spec.timeout * 1000),
                "failurePolicy": "allow",
                "description": "hooktray",
            }
            for event, spec in EVENTS.items()
        }

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        value = JsonText(text, str(path)).value if text.strip() else {}
        hooks = value.get("hooks") if isinstance(value, dict) else {}
        about = {key: one for key, one in value.items() if key != "hooks"} if isinstance(value, dict) else {}
        for event, group in hooks.items() if isinstance(hooks, dict) else ():
            for handler in group if isinstance(group, list) else ():
                line = handler.get("command") if isinstance(handler, dict) else None
                if isinstance(line, str) and (command := relay_command.parse(line)):
                    yield OwnEntry(
                        event=event,
                        value=handler,
                        command=command,
                        argv=relay_command.shell_argv(line),
                        handler=handler,
                        conditions=about,
                    )

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        is_registered = any(one.get("id") == ID for one in _records(read_object(registry_path(site))))
        return super().relay_entries(site) if is_registered else ()

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        return super().contents(path, state) if path.name == MANIFEST else REGISTRY.contents(path, state)

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return (site.cwd / ".x-code" / "settings.local.json", settings_path(site))

    def trust(self, site: Site) -> str:
        """A plugin is on unless the user's or the project's settings switch it off."""
        for path in self.switch_files(site):
            enabled = read_object(path).get("enabledPlugins")
            if isinstance(enabled, dict) and isinstance(on := enabled.get(ID), bool):
                return "trusted" if on else f"off: {path} switches `{ID}` off; type `/plugin enable {ID}` there"
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {"event": PROBE_EVENT, "session": {"sessionId": session, "cwd": cwd}}


def other_plugins(site: Site) -> list[tuple[str, Path]]:
    """The name and the folder of every other plugin that is installed here."""
    plugins = []
    for record in _records(read_object(registry_path(site))):
        if record.get("id") != ID:
            parts = [str(record.get(key) or "") for key in ("marketplace", "name", "version")]
            plugins.append((str(record.get("id")), (plugins_folder(site) / "cache").joinpath(*parts)))
    return plugins


def runs_own(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True for a hook of a plugin that is on. Plugins, also a project's, are on until settings switch them off."""
    if not connected:
        return False
    path, enabled = declared_in(hook), read_object(settings_path(site)).get("enabledPlugins")
    off = {name for name, on in enabled.items() if on is False} if isinstance(enabled, dict) else ()
    folders = [folder for name, folder in other_plugins(site) if name not in off]
    if hook.match.project:
        folders.append(Path(hook.match.project, ".x-code", "plugins"))
    return any(path.is_relative_to(resolve_links(folder)) for folder in folders)


def _home(site: Site) -> Path:
    return site.folder("X_CODE_HOME", ".x-code")


def _records(registry: object) -> list[dict[str, Any]]:
    """Returns the records of the installed plugins."""
    found = registry.get("plugins") if isinstance(registry, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


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


CONNECTOR = XCodeConnector(agent=AGENT, restart_hint=RESTART_HINT, keeps_mode=False)
