"""X-Code's plugins are switched off there and named as sources here: whole plugins that have nothing but hooks.

Nothing is moved: X-Code replaces what lies in its cache with each update of a plugin, and leaves `enabledPlugins` of
its settings.json alone. A plugin that brings skills, agents, commands or servers too would lose them, so it stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.connect import x_code
from tray.connect.plan import FindProblem, Plan, Site
from tray.edit.backups import Backups
from tray.edit.file_changes import File, FileChange, FileState, read_state, resolve_links
from tray.edit.json_edit import JsonText, is_blank, new_document
from tray.edit.yaml_edit import append, items, remove
from tray.errors import HooktrayError
from tray.sources.x_code import MANIFESTS, read

AGENT = x_code.AGENT
KEY = "enabledPlugins"
OTHER_PARTS = {
    "skills": ("skills",),
    "agents": ("agents",),
    "commands": ("commands",),
    "mcpServers": (".mcp.json", "mcp.json"),
    "userConfig": (),
}


def import_hooks(site: Site, problem: FindProblem) -> Plan:
    """Switch off what can run below us, and name it as a source; the rest stays as it is, and is told."""
    found = [(name, folder, _stay_reason(site, name, folder, problem)) for name, folder in x_code.other_plugins(site)]
    moved = {name: folder for name, folder, why in found if not why}
    stays = tuple(f"{name} stays: {why}." for name, _, why in found if why)
    if not moved:
        why = "; ".join(stays).rstrip(".") or f"no plugin is named in {x_code.registry_path(site)}"
        raise HooktrayError("no hook of x-code can be imported", hint=why)
    shown, text = x_code.settings_path(site), _sources(site)
    path = resolve_links(shown)
    now = read_state(path)
    after = File(text=_off(now, path, sorted(moved)), mode=now.mode if isinstance(now, File) else 0o600)
    named = append(text, str(site.paths.config), "sources", [_entry(folder) for folder in moved.values()])
    said = f"{', '.join(moved)}: none of its hooks runs until you have approved it in the tray's menu."
    notes = [*stays, said, x_code.RESTART_HINT]
    if not x_code.relay_entries(site):
        notes.append(f"Until `hooktray connect {AGENT}` no event reaches them.")
    change = FileChange(path=path, before=now, after=after, origin=now, display_path=shown)
    return Plan(changes=(change, _sources_change(site, named)), notes=tuple(notes))


def undo_import(site: Site, backups: Backups) -> Plan:
    """Switch them on again: the old bytes if nobody edited since, else just what we wrote."""
    there = imported_plugins(site)
    if not there:
        raise HooktrayError("there is nothing to put back", hint=f"`hooktray import-hooks {AGENT}` comes first")
    shown = x_code.settings_path(site)
    path = resolve_links(shown)
    now, kept = read_state(path), backups.get(path)
    after = kept.before if kept and kept.after == now else _on(now, path, list(there), kept.before if kept else None)
    ours = [_entry(folder) for folder in there.values()]
    text = remove(_sources(site), str(site.paths.config), "sources", lambda entry: entry in ours)
    changes = [] if after == now else [FileChange(path=path, before=now, after=after, display_path=shown)]
    return Plan(changes=(*changes, _sources_change(site, text)), notes=(x_code.RESTART_HINT,))


def imported_plugins(site: Site) -> dict[str, Path]:
    """The plugins that hooktray.yaml names as `import-hooks` writes them, by their name."""
    cache = x_code.plugins_folder(site) / "cache"
    found = {}
    for entry in items(_sources(site), str(site.paths.config), "sources"):
        folder = Path(str(entry.get(AGENT, ""))) if isinstance(entry, dict) else Path()
        if entry == _entry(folder) and folder.is_relative_to(cache) and len(folder.relative_to(cache).parts) == 3:
            market, name, _ = folder.relative_to(cache).parts
            found[f"{name}@{market}"] = folder
    return found


def _stay_reason(site: Site, name: str, folder: Path, problem: FindProblem) -> str:
    """Why a plugin cannot be imported; "" when it can."""
    manifest = next((folder / one for one in MANIFESTS if (folder / one).is_file()), None)
    if manifest is None:
        return f"no plugin is in {folder}"
    if _switches(site).get(name) is False:
        return "it is switched off"
    try:
        said = JsonText(manifest.read_bytes(), str(manifest)).value
        more = [
            key
            for key, usual in OTHER_PARTS.items()
            if said.get(key) or any((folder / one).exists() for one in usual)
        ]
        if more:
            return f"it brings {', '.join(more)} too, which would go with its hooks"
        found = read(folder, ())
    except FileNotFoundError:
        return "it has no hooks"
    except (OSError, HooktrayError, AttributeError):
        return "what it declares cannot be read"
    if found.warnings or any(hook.inactive for hook in found.hooks):
        return "Hooktray cannot run all of its hooks"
    return next(filter(None, map(problem, found.hooks)), "") if found.hooks else "it has no hooks"


def _switches(site: Site) -> Mapping[str, Any]:
    path = resolve_links(x_code.settings_path(site))
    now = read_state(path)
    value = JsonText(now.text, str(path)).value if isinstance(now, File) and not is_blank(now.text) else {}
    found = value.get(KEY) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _off(now: FileState, path: Path, names: Sequence[str]) -> bytes:
    """The settings with these plugins switched off."""
    if not isinstance(now, File) or is_blank(now.text):
        return new_document({KEY: dict.fromkeys(names, False)})
    sheet = JsonText(now.text, str(path))
    switches = _object(sheet)
    if switches is None:
        return sheet.apply(sheet.add(sheet.root, [(KEY, dict.fromkeys(names, False))]))
    spans = {name: sheet.member(switches, name) for name in names}
    edits = [sheet.replace(span, False) for span in spans.values() if span]
    return sheet.apply(edits + sheet.add(switches, [(name, False) for name, span in spans.items() if span is None]))


def _on(now: FileState, path: Path, names: Sequence[str], before: FileState) -> FileState:
    """The settings as they are now, in which these plugins are on as they were before: by name, or by silence."""
    if not isinstance(now, File) or is_blank(now.text):
        return now
    sheet = JsonText(now.text, str(path))
    switches = _object(sheet)
    if switches is None:
        return now
    spoken = dict(_explicit(before, path))
    spans = [(name, span) for name in names if (span := sheet.member(switches, name))]
    gone = [span for name, span in spans if name not in spoken]
    edits = [sheet.replace(span, spoken[name]) for name, span in spans if name in spoken]
    return File(text=sheet.apply(edits + (sheet.remove(switches, gone) if gone else [])), mode=now.mode)


def _explicit(before: FileState, path: Path) -> Iterator[tuple[str, Any]]:
    value = JsonText(before.text, str(path)).value if isinstance(before, File) and not is_blank(before.text) else {}
    yield from value.get(KEY, {}).items()


def _object(sheet: JsonText) -> int | None:
    """Where the switches begin; None when there are none yet."""
    if not sheet.is_at(sheet.root, "{"):
        raise sheet.error(sheet.root, "expected an object of settings", "nothing was written")
    found = sheet.member(sheet.root, KEY)
    if found and not sheet.is_at(found.value, "{"):
        raise sheet.error(found.value, f'"{KEY}" is not an object', "mend it; nothing was written")
    return found.value if found else None


def _sources(site: Site) -> bytes:
    found = read_state(resolve_links(site.paths.config))
    return found.text if isinstance(found, File) else b""


def _sources_change(site: Site, text: bytes) -> FileChange:
    """The change that gives hooktray.yaml its new list of sources."""
    path = resolve_links(site.paths.config)
    now = read_state(path)
    after = File(text=text, mode=now.mode if isinstance(now, File) else 0o600) if text.strip() else None
    return FileChange(path=path, before=now, after=after, display_path=site.paths.config, backed_up=False)


def _entry(folder: Path) -> Mapping[str, str]:
    return {AGENT: str(folder), "agent": AGENT}
