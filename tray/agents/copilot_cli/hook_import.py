"""Imports Copilot CLI's hooks by whole files of its folder of hooks, and puts them back byte for byte."""

from __future__ import annotations

from pathlib import Path

from tray.agents.connection import HookCheck, Plan, Site, source_change
from tray.agents.copilot_cli.connector import CONNECTOR
from tray.agents.copilot_cli.events import AGENT, EVENTS, UNCONNECTED_EVENTS
from tray.agents.copilot_cli.source import READER
from tray.agents.settings_import import check_scope, stay_reason
from tray.edit.file_changes import File, FileChange, read_state, resolve_links
from tray.errors import HooktrayError


def import_folder(site: Site) -> Path:
    return site.paths.config.parent / "imported" / AGENT


def import_hooks(site: Site, check: HookCheck) -> Plan:
    """Move the files whose hooks Hooktray can all run. The others stay in place, and the notes say why."""
    check_scope(site)
    folder = import_folder(site)
    if has_imported(site):
        hint = f"`hooktray import-hooks {AGENT} --undo` puts them back first"
        raise HooktrayError(f"{folder}: holds hooks that were imported before", hint=hint)
    files = _own_files(site)
    reasons = {path: _stay_reason(path, folder / path.name, check) for path in files}
    moved = [path for path, why in reasons.items() if not why]
    stays = tuple(f"{path.name} stays: {why}." for path, why in reasons.items() if why)
    if not moved:
        why = "; ".join(stays).rstrip(".") or f"no other file is in {CONNECTOR.home(site) / 'hooks'}"
        raise HooktrayError(f"no hook of {AGENT} can be imported", hint=why)
    changes = [change for path in moved for change in _moved(path, folder / path.name)]
    return Plan(changes=(*changes, *_source(site, present=True)), notes=(*stays, *_notes(site, moved)))


def _own_files(site: Site) -> list[Path]:
    """The user's files of hooks, without ours."""
    folder = CONNECTOR.home(site) / "hooks"
    return [path for path in sorted(folder.glob("*.json")) if path != CONNECTOR.settings_path(site)]


def _moved(path: Path, target: Path) -> list[FileChange]:
    real = resolve_links(path)
    state = read_state(real)
    assert isinstance(state, File)  # it was read
    return [
        FileChange(path=target, before=None, after=File(text=state.text)),
        FileChange(path=real, before=state, after=None, origin=state, display_path=path),
    ]


def _stay_reason(path: Path, target: Path, check: HookCheck) -> str:
    """Why a file stays; "" when Hooktray can run all of its hooks as the agent does."""
    state = read_state(resolve_links(path))
    if not isinstance(state, File):
        return "it is not a file"
    try:
        found = READER.parse(state.text, target)
    except HooktrayError as error:
        return str(error)
    if not found.hooks:
        return "no hook is in it"
    unsupported = "Hooktray cannot run all of its hooks there"
    return stay_reason(found, EVENTS, check, unconnected=UNCONNECTED_EVENTS, unsupported=unsupported)


def _notes(site: Site, moved: list[Path]) -> tuple[str, ...]:
    names = ", ".join(path.name for path in moved)
    note = (
        f"moves {names}; none of its hooks runs until you have approved it in the tray's menu. Each then runs once "
        f"on a test event; `hooktray import-hooks {AGENT} --undo` puts all of them back."
    )
    unconnected = f"Until `hooktray connect {AGENT}` no event reaches them."
    return (note,) if CONNECTOR.relay_entries(site) else (note, unconnected)


def undo_import(site: Site) -> Plan:
    """Put the files back where they were."""
    check_scope(site)
    files = sorted(import_folder(site).glob("*.json"))
    if not files:
        hint = f"`hooktray import-hooks {AGENT}` comes first"
        raise HooktrayError(f"{import_folder(site)}: there is nothing to put back", hint=hint)
    changes = [change for path in files for change in _restored(site, path)]
    return Plan(changes=(*changes, *_source(site, present=False)), notes=(CONNECTOR.restart_hint,))


def _restored(site: Site, path: Path) -> list[FileChange]:
    display_path = CONNECTOR.home(site) / "hooks" / path.name
    real, state = resolve_links(display_path), read_state(path)
    assert isinstance(state, File)
    current, backup = read_state(real), site.backups.get(real)
    if current is not None:
        hint = f"rename it, and run `hooktray import-hooks {AGENT} --undo` again"
        raise HooktrayError(f"{display_path}: is there again, and would be overwritten", hint=hint)
    before = backup.before if backup else None
    mode = before.mode if isinstance(before, File) else 0o600
    return [
        FileChange(path=real, before=None, after=File(text=state.text, mode=mode), display_path=display_path),
        FileChange(path=path, before=state, after=None),
    ]


def has_imported(site: Site) -> bool:
    return any(import_folder(site).glob("*.json"))


def _source(site: Site, *, present: bool) -> tuple[FileChange, ...]:
    change = source_change(site, {AGENT: str(import_folder(site)), "agent": AGENT}, present=present)
    return (change,) if change else ()
