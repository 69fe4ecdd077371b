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
    """How one agent's hooks are moved. `extract` gives what stays, what goes and how many go, and for each that stays
    why; it writes nothing."""

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
    """Move what can run below us; the rest stays where it is, and is told."""
    if agent == import_x_code.AGENT:
        return import_x_code.import_hooks(site, problem)
    one, aside = _importer(site, agent), import_path(site, agent)
    shown = one.settings(site)
    path = resolve_links(shown)
    now, kept = read_state(path), read_state(aside)
    if kept is not None:
        hint = f"`hooktray import-hooks {agent} --undo` puts them back first"
        raise HooktrayError(f"{aside}: holds hooks that were imported before", hint=hint)
    text = now.text if isinstance(now, File) else b""
    nothing: Extracted = b"", b"", 0, []
    stays, goes, moved, why = nothing if is_blank(text) else one.extract(site, text, path, aside, problem)
    if not isinstance(now, File) or not (moved or why):
        raise HooktrayError(f"{path}: no hook of yours is in it", hint="there is nothing to import")
    if not moved:
        raise HooktrayError(f"{path}: no hook in it can be imported", hint="; ".join(dict.fromkeys(why)))
    after = File(text=stays, mode=now.mode)
    changes = [
        FileChange(path=aside, before=None, after=File(text=goes)),
        FileChange(path=path, before=now, after=after, origin=now, display_path=shown),
        source_change(site, _entry(site, agent), present=True),
    ]
    said = [f"{number} of your hooks stay: {reason}." for reason, number in Counter(why).items()]
    hooks = "hook" if moved == 1 else "hooks"
    said.append(
        f"{moved} {hooks} moved; none runs until you have approved it in the tray's menu. Each then runs once on a "
        f"test event; `hooktray import-hooks {agent} --undo` puts all of them back."
    )
    if not one.relay_entries(site):
        said.append(f"Until `hooktray connect {agent}` no event reaches them.")
    return Plan(changes=tuple(filter(None, changes)), notes=tuple(said))


def undo_import(site: Site, agent: str) -> Plan:
    """Put them back: the old bytes if nobody edited since, else each hook behind what is there now."""
    if agent == import_x_code.AGENT:
        return import_x_code.undo_import(site, import_backups(site))
    one, aside = _importer(site, agent), import_path(site, agent)
    book = import_backups(site)
    away = next((kept for kept in book.of_agent(agent) if kept.path != aside), None)  # it may be of another folder
    shown = away.path if away else one.settings(site)
    path, own = resolve_links(shown), read_state(aside)
    now, moved = read_state(path), book.get(aside)
    if not isinstance(own, File):
        raise HooktrayError(
            f"{aside}: there is nothing to put back", hint=f"`hooktray import-hooks {agent}` comes first"
        )
    if away and away.after == now and moved and moved.after == own:
        after = away.before
    else:
        there = now if isinstance(now, File) and not is_blank(now.text) else File(text=one.empty)
        after = replace(there, text=one.restore(there.text, path, own.text, aside))
    changes = [
        FileChange(path=path, before=now, after=after, display_path=shown),
        FileChange(path=aside, before=own, after=None),
        source_change(site, _entry(site, agent), present=False),
    ]
    return Plan(changes=tuple(filter(None, changes)))


def import_reminder(site: Site, agent: str) -> str:
    """What somebody who disconnects should know of imported hooks; "" when there are none."""
    there = agent == import_x_code.AGENT and import_x_code.imported_plugins(site)
    if there or (agent in IMPORTERS and import_path(site, agent).exists()):
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
