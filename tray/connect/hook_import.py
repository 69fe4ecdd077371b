"""Importing: the user's own hooks leave an agent's settings and go on below us, as a source; `--undo` puts them back.

They are kept as they were written, in <config>/imported/AGENT/, in a file that hooktray.yaml names for that agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tray.connect import claude_code, import_claude, import_starchild, import_x_code, starchild
from tray.connect.plan import Extracted, FindProblem, Plan, RelayEntry, Site, source_change
from tray.edit.backups import Backups
from tray.edit.file_changes import File, FileChange, read_state, resolve_links
from tray.edit.json_edit import is_blank
from tray.errors import HooktrayError

SHELLEY_HINT = (
    "`hooktray connect shelley` does it: your own executables become hooks below Hooktray; "
    "`hooktray disconnect shelley` puts them back"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookImporter:
    """How one agent's hooks are moved. `extract` returns what stays, what goes, how many go, and why each other
    stays; it writes nothing."""

    settings: Callable[[Site], Path]
    relay_entries: Callable[[Site], Sequence[RelayEntry]]
    extract: Callable[[Site, bytes, Path, Path, FindProblem], Extracted]
    restore: Callable[[bytes, Path, bytes, Path], bytes]
    empty: bytes  # a settings file with nothing in it


IMPORTERS: dict[str, HookImporter] = {
    "claude-code": HookImporter(
        settings=claude_code.settings_path,
        relay_entries=claude_code.relay_entries,
        extract=import_claude.extract,
        restore=import_claude.restore,
        empty=b"{}\n",
    ),
    "starchild": HookImporter(
        settings=starchild.settings_path,
        relay_entries=starchild.relay_entries,
        extract=import_starchild.extract,
        restore=import_starchild.restore,
        empty=b"",
    ),
}


def import_backups(site: Site) -> Backups:
    """What the settings said before, apart from what `connect` wrote there."""
    return Backups(site.paths.state / "imports")


def import_path(site: Site, agent: str) -> Path:
    """Where they are meanwhile; the file is called as the agent's own."""
    name = "settings.json" if agent == "claude-code" else "shell_hooks.yaml"
    return site.paths.config.parent / "imported" / agent / name


def import_hooks(site: Site, agent: str, problem: FindProblem) -> Plan:
    """Move what can run below us; the rest stays where it is, and the notes say why."""
    if agent == import_x_code.AGENT:
        return import_x_code.import_hooks(site, problem)
    importer, destination = _importer(site, agent), import_path(site, agent)
    display_path = importer.settings(site)
    path = resolve_links(display_path)
    settings, earlier = read_state(path), read_state(destination)
    if earlier is not None:
        hint = f"`hooktray import-hooks {agent} --undo` puts them back first"
        raise HooktrayError(f"{destination}: holds hooks that were imported before", hint=hint)
    text = settings.text if isinstance(settings, File) else b""
    nothing: Extracted = b"", b"", 0, []
    extracted = nothing if is_blank(text) else importer.extract(site, text, path, destination, problem)
    stays, goes, moved, reasons = extracted
    if not isinstance(settings, File) or not (moved or reasons):
        raise HooktrayError(f"{path}: no hook of yours is in it", hint="there is nothing to import")
    if not moved:
        raise HooktrayError(f"{path}: no hook in it can be imported", hint="; ".join(dict.fromkeys(reasons)))
    after = File(text=stays, mode=settings.mode)
    changes = [
        FileChange(path=destination, before=None, after=File(text=goes)),
        FileChange(path=path, before=settings, after=after, origin=settings, display_path=display_path),
        source_change(site, _entry(site, agent), present=True),
    ]
    notes = [f"{number} of your hooks stay: {reason}." for reason, number in Counter(reasons).items()]
    hooks = "hook" if moved == 1 else "hooks"
    notes.append(
        f"{moved} {hooks} moved; none runs until you have approved it in the tray's menu. Each then runs once on a "
        f"test event; `hooktray import-hooks {agent} --undo` puts all of them back."
    )
    if not importer.relay_entries(site):
        notes.append(f"Until `hooktray connect {agent}` no event reaches them.")
    return Plan(changes=tuple(filter(None, changes)), notes=tuple(notes))


def undo_import(site: Site, agent: str) -> Plan:
    """Put them back: the old bytes if nobody edited since, else each hook behind what is there now."""
    if agent == import_x_code.AGENT:
        return import_x_code.undo_import(site, import_backups(site))
    importer, source = _importer(site, agent), import_path(site, agent)
    backups = import_backups(site)
    # The settings may be those of another folder.
    backup = next((each for each in backups.of_agent(agent) if each.path != source), None)
    display_path = backup.path if backup else importer.settings(site)
    path, imported = resolve_links(display_path), read_state(source)
    settings, import_backup = read_state(path), backups.get(source)
    if not isinstance(imported, File):
        raise HooktrayError(
            f"{source}: there is nothing to put back", hint=f"`hooktray import-hooks {agent}` comes first"
        )
    if backup and backup.after == settings and import_backup and import_backup.after == imported:
        after = backup.before
    else:
        has_text = isinstance(settings, File) and not is_blank(settings.text)
        current = settings if isinstance(settings, File) and has_text else File(text=importer.empty)
        after = replace(current, text=importer.restore(current.text, path, imported.text, source))
    changes = [
        FileChange(path=path, before=settings, after=after, display_path=display_path),
        FileChange(path=source, before=imported, after=None),
        source_change(site, _entry(site, agent), present=False),
    ]
    return Plan(changes=tuple(filter(None, changes)))


def import_reminder(site: Site, agent: str) -> str:
    """What somebody who disconnects should know of imported hooks; "" when there are none."""
    has_plugins = agent == import_x_code.AGENT and import_x_code.imported_plugins(site)
    if has_plugins or (agent in IMPORTERS and import_path(site, agent).exists()):
        return f"Your imported hooks hear nothing then; `hooktray import-hooks {agent} --undo` puts them back."
    return ""


def _importer(site: Site, agent: str) -> HookImporter:
    if agent == "shelley":
        raise HooktrayError("hooks of shelley are not moved by this command", hint=SHELLEY_HINT)
    if site.scope != "user":
        raise HooktrayError("a project's hooks stay with their project", hint="leave out --scope")
    return IMPORTERS[agent]


def _entry(site: Site, agent: str) -> Mapping[str, Any]:
    return {agent: str(import_path(site, agent)), "agent": agent}
