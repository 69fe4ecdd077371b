"""Connects agents to Hooktray and disconnects them: carries out what their connectors planned."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import cast

from tray.agents.agent import Agent, Connector
from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.edit.backups import Backup
from tray.edit.file_changes import FileChange, apply, read_state, remove_drafts, remove_folders
from tray.errors import PACKAGE_ERRORS, HooktrayError
from tray.file_lock import FileLock
from tray.paths import unwritable_error

LOCK = "connections.lock"  # in the state folder
LOCK_TIMEOUT = 20.0  # seconds to wait for another process that writes
WITHOUT_PACKAGE: Mapping[str, object] = {"is_installed": False, "switch_files": ()}  # when the package's code fails


class PackageConnector:
    """Wraps a connector from a Python package. If its code fails, most functions raise AgentError."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def __getattr__(self, function: str) -> Callable[..., object]:
        if function.startswith("_"):
            raise AttributeError(function)
        return partial(self._call, function)

    def _call(self, function: str, *arguments: object) -> object:
        try:
            assert self._agent.connector
            return getattr(self._agent.connector(), function)(*arguments)
        except HooktrayError:
            raise
        except PACKAGE_ERRORS as error:
            failure = AGENTS.failure(self._agent.id, function, error)
            if function in WITHOUT_PACKAGE:
                return WITHOUT_PACKAGE[function]
            raise failure from error


@cache
def connectors() -> Mapping[str, Connector]:
    """The agents that can be connected."""
    return {
        agent.id: cast("Connector", PackageConnector(agent)) if AGENTS.package(agent.id) else agent.connector()
        for agent in AGENTS.values()
        if agent.connector
    }


def apply_connect(site: Site, agent: str, plan: Plan) -> None:
    """Carry out a plan to connect or import: the old contents are in our backups before anything is touched."""
    with _lock(site):
        if all(read_state(change.path) == change.after for change in plan.changes):
            _record_present(site, agent)
            return  # another process made the same changes first
        _apply(site, agent, plan.changes, [change for change in plan.changes if change.backed_up])


def record_present(site: Site, agent: str) -> None:
    """Record our entries as they are now, where the records are lost. Raises HooktrayError."""
    with _lock(site):
        _record_present(site, agent)


def _record_present(site: Site, agent: str) -> None:
    """Nothing is known any more of what was there before: `disconnect` takes our entries out."""
    for change in connectors()[agent].disconnect(site).changes:
        if not site.backups.get(change.path):
            site.backups.save(Backup(agent=agent, path=change.path, before=change.after, after=change.before))


def apply_disconnect(site: Site, agent: str, plan: Plan) -> None:
    """Carry out a plan to disconnect or undo, and forget the files that have nothing of ours any more."""
    with _lock(site):
        known = site.backups.of_agent(agent)
        folders = [folder for backup in known for folder in backup.folders]
        _apply(site, agent, plan.changes, [change for change in plan.changes if change.keeps_ours])
        for path in (site.paths.config, *(backup.path for backup in known)):
            remove_drafts(path)
        remove_folders(folders)
        done = [change.path for change in plan.changes if not change.keeps_ours]
        for path in (*done, *_over(site, agent)):
            site.backups.delete(path)
        if any(change.after is None and change.display_path == site.paths.config for change in plan.changes):
            site.paths.last_good.unlink(missing_ok=True)  # what we made and took away again is not missed


def _over(site: Site, agent: str) -> Iterator[Path]:
    """The files about which we have notes although they are as before us: a crash came between."""
    for backup in site.backups.of_agent(agent):
        has_moved = backup.moved and backup.moved.path.exists()
        with contextlib.suppress(HooktrayError):  # a folder is there now
            if not has_moved and read_state(backup.path) == backup.before:
                yield backup.path


def _apply(site: Site, agent: str, changes: Sequence[FileChange], recorded: Sequence[FileChange]) -> None:
    """All changes or none, and our notes about those that are recorded."""
    backups = site.backups
    earlier = [(change.path, backups.get(change.path)) for change in recorded]
    try:
        for change in recorded:  # hooktray.yaml is not an agent's
            backups.begin("" if change.display_path == site.paths.config else agent, [change])
        apply(changes)
    except BaseException:
        for path, backup in earlier:
            with contextlib.suppress(HooktrayError):  # the first error is the one to tell
                backups.save(backup) if backup else backups.delete(path)
        raise
    backups.finish(recorded)


def forget(site: Site, agent: str) -> None:
    """Forget the files that have no entry of ours any more, so that their absence is not reported."""
    with _lock(site):
        for backup in site.backups.of_agent(agent):
            with contextlib.suppress(HooktrayError, OSError):
                if not backup.moved and not connectors()[agent].contents(backup.path, read_state(backup.path)):
                    site.backups.delete(backup.path)


@contextlib.contextmanager
def lock_connections(site: Site, *, timeout: float) -> Iterator[bool]:
    """Keep `connect` and `disconnect` from writing meanwhile; whether that came about within so many seconds."""
    lock = FileLock(site.paths.state / LOCK)
    try:
        acquired = lock.acquire(timeout)
    except OSError:
        acquired = False
    try:
        yield acquired
    finally:
        lock.release()


@contextlib.contextmanager
def _lock(site: Site) -> Iterator[None]:
    """One at a time, so that another command or the menu cannot overwrite a backup."""
    lock = FileLock(site.paths.state / LOCK)
    try:
        acquired = lock.acquire(LOCK_TIMEOUT)
    except OSError as error:
        raise unwritable_error(site.paths.state, error) from error
    if not acquired:
        message = "another `hooktray connect` or `disconnect` is at work"
        raise HooktrayError(message, hint="wait for its end and try again; nothing was written")
    try:
        yield
    finally:
        lock.release()
