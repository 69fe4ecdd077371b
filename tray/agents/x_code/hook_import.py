"""X-Code's plugins are switched off there and named as sources here: whole plugins that have nothing but hooks.

Nothing is moved: X-Code replaces what lies in its cache with each update of a plugin, and leaves `enabledPlugins` of
only its settings.json. A plugin that brings skills, agents, commands or servers too would lose them, so it stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents.connection import HookCheck, Plan, Site, config_change, read_or_empty
from tray.agents.x_code import connector
from tray.agents.x_code.protocol import AGENT
from tray.agents.x_code.source import MANIFESTS, read
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.json_edit import OBJECT_HINT, JsonText, is_blank, new_document
from tray.edit.yaml_edit import append, items, remove
from tray.errors import HooktrayError
from tray.files import user_file

KEY = "enabledPlugins"
OTHER_PARTS = {
    "skills": ("skills",),
    "agents": ("agents",),
    "commands": ("commands",),
    "mcpServers": (".mcp.json", "mcp.json"),
    "userConfig": (),
}


def import_hooks(site: Site, check: HookCheck) -> Plan:
    """Switch off what can run below us, and name it as a source; the rest stays as it is, and the notes say why."""
    others = connector.other_plugins(site)
    plugins = [(name, folder, _stay_reason(site, name, folder, check)) for name, folder in others]
    moved = {name: folder for name, folder, why in plugins if not why}
    stays = tuple(f"{name} stays: {why}." for name, _, why in plugins if why)
    if not moved:
        why = "; ".join(stays).rstrip(".") or f"no plugin is named in {connector.registry_path(site)}"
        raise HooktrayError("no hook of x-code can be imported", hint=why)
    display_path, text = connector.settings_path(site), read_or_empty(site.paths.config)
    path = resolve_links(display_path)
    settings = read_state(path)
    mode = settings.mode if isinstance(settings, File) else 0o600
    after = File(text=_off(settings, path, sorted(moved)), mode=mode)
    named = imported_plugins(site).values()  # by an import that was ended half-way
    entries = [_entry(folder) for folder in moved.values() if folder not in named]
    sources = [_sources_change(site, append(text, str(site.paths.config), "sources", entries))] if entries else []
    approval = f"{', '.join(moved)}: none of its hooks runs until you have approved it in the tray's menu."
    notes = [*stays, approval, connector.RESTART_HINT]
    if not connector.CONNECTOR.relay_entries(site):
        notes.append(f"Until `hooktray connect {AGENT}` no event reaches them.")
    change = FileChange(path=path, before=settings, after=after, origin=settings, display_path=display_path)
    # The sources come first: an import that ends between the two can be finished or put back.
    return Plan(changes=(*sources, change), notes=tuple(notes))


def undo_import(site: Site) -> Plan:
    """Switch them on again: the old bytes if the file was not edited since, else just what we wrote."""
    plugins = imported_plugins(site)
    if not plugins:
        raise HooktrayError("there is nothing to put back", hint=f"`hooktray import-hooks {AGENT}` comes first")
    display_path = connector.settings_path(site)
    path = resolve_links(display_path)
    settings, backup = read_state(path), site.backups.get(path)
    before = backup.before if backup else None
    is_as_written = backup and backup.is_as_written(settings)
    after = before if is_as_written else _on(settings, path, list(plugins), before)
    entries = [_entry(folder) for folder in plugins.values()]
    text = remove(read_or_empty(site.paths.config), str(site.paths.config), "sources", entries)
    change = FileChange(path=path, before=settings, after=after, display_path=display_path)
    changes = [] if after == settings else [change]
    return Plan(changes=(*changes, _sources_change(site, text)), notes=(connector.RESTART_HINT,))


def has_imported(site: Site) -> bool:
    return bool(imported_plugins(site))


def imported_plugins(site: Site) -> dict[str, Path]:
    """The plugins that hooktray.yaml names as `import-hooks` writes them, by their name."""
    cache = connector.plugins_folder(site) / "cache"
    found = {}
    for entry in items(read_or_empty(site.paths.config), str(site.paths.config), "sources"):
        folder = Path(str(entry.get(AGENT, ""))) if isinstance(entry, dict) else Path()
        if entry == _entry(folder) and folder.is_relative_to(cache) and len(folder.relative_to(cache).parts) == 3:
            market, name, _ = folder.relative_to(cache).parts
            found[f"{name}@{market}"] = folder
    return found


def _stay_reason(site: Site, name: str, folder: Path, check: HookCheck) -> str:
    """Why a plugin cannot be imported; "" when it can."""
    manifest = next((folder / one for one in MANIFESTS if (folder / one).is_file()), None)
    if manifest is None:
        return f"no plugin is in {folder}"
    settings = connector.settings_path(site)
    if _switches(read_or_empty(settings), settings).get(name) is False:
        return "it was imported before" if name in imported_plugins(site) else "it is switched off"
    try:
        declared: Any = JsonText(user_file(manifest), str(manifest)).value
        other_parts = [
            key
            for key, usual in OTHER_PARTS.items()
            if declared.get(key) or any((folder / one).exists() for one in usual)
        ]
        if other_parts:
            return f"it brings {', '.join(other_parts)} too, which would go with its hooks"
        source = read(folder, (), {})
    except FileNotFoundError:
        return "it has no hooks"
    except (OSError, HooktrayError, AttributeError):
        return "what it declares cannot be read"
    if source.warnings or any(hook.inactive for hook in source.hooks):
        return "Hooktray cannot run all of its hooks"
    return next(filter(None, map(check.problem, source.hooks)), "") if source.hooks else "it has no hooks"


def _switches(text: bytes, path: Path) -> Mapping[str, Any]:
    value = JsonText(text, str(path)).value if not is_blank(text) else {}
    switches = value.get(KEY) if isinstance(value, dict) else None
    return switches if isinstance(switches, dict) else {}


def _off(settings: FileState, path: Path, names: Sequence[str]) -> bytes:
    """The settings with these plugins switched off."""
    if not isinstance(settings, File) or is_blank(settings.text):
        return new_document({KEY: dict.fromkeys(names, False)})
    document = JsonText(settings.text, str(path))
    switches = _object(document)
    if switches is None:
        return document.apply(document.add(document.root, [(KEY, dict.fromkeys(names, False))]))
    spans = {name: document.member(switches, name) for name in names}
    edits = [document.replace(span, False) for span in spans.values() if span]
    added = document.add(switches, [(name, False) for name, span in spans.items() if span is None])
    return document.apply(edits + added)


def _on(settings: FileState, path: Path, names: Sequence[str], before: FileState) -> FileState:
    """The settings as they are now, in which these plugins are on as they were before: by name, or by silence."""
    if not isinstance(settings, File) or is_blank(settings.text):
        return settings
    document = JsonText(settings.text, str(path))
    switches = _object(document)
    if switches is None:
        return settings
    explicit = _switches(before.text, path) if isinstance(before, File) else {}
    spans = [(name, span) for name in names if (span := document.member(switches, name))]
    removed = [span for name, span in spans if name not in explicit]
    edits = [document.replace(span, explicit[name]) for name, span in spans if name in explicit]
    edits += document.remove(switches, removed) if removed else []
    return File(text=document.apply(edits), mode=settings.mode)


def _object(document: JsonText) -> int | None:
    """Where the switches begin; None when there are none yet."""
    if not document.is_at(document.root, "{"):
        raise document.error(document.root, "expected an object of settings", OBJECT_HINT)
    member = document.member(document.root, KEY)
    if member and not document.is_at(member.value, "{"):
        raise document.error(member.value, f'"{KEY}" is not an object', "mend it; nothing was written")
    return member.value if member else None


def _sources_change(site: Site, text: bytes) -> FileChange:
    """The change that gives hooktray.yaml its new list of sources."""
    return config_change(site, read_state(resolve_links(site.paths.config)), text)


def _entry(folder: Path) -> Mapping[str, str]:
    return {AGENT: str(folder), "agent": AGENT}
