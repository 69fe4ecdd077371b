"""Connects agents to Hooktray and disconnects them: carries out what their connectors planned."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cache

from tray.agents.agent import Connector
from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.edit.backups import Backups
from tray.edit.file_changes import apply, read_state, remove_folders
from tray.errors import HooktrayError
from tray.paths import unwritable_error

LOCK = "connections.lock"  # in the state folder
LOCK_TIMEOUT = 20.0  # seconds to wait for another process that writes


@cache
def connectors() -> Mapping[str, Connector]:
    """The agents that can be connected."""
    return {agent.id: agent.connector() for agent in AGENTS.values() if agent.connector}


def apply_connect(site: Site, agent: str, plan: Plan, backups: Backups | None = None) -> None:
    """Carry out a plan to connect: the old contents are in our backups before anything is touched."""
    backups = backups or site.backups
    with _lock(site):
        if all(read_state(change.path) == change.after for change in plan.changes):
            return  # another process made the same changes first
        earlier = [(change.path, backups.get(change.path)) for change in plan.changes]
        backups.record(agent, plan.changes, ())
        try:
            folders = apply(plan.changes)
        except BaseException:
            for path, backup in earlier:
                backups.save(backup) if backup else backups.delete(path)
            raise
        backups.record(agent, plan.changes, folders)


def apply_disconnect(site: Site, agent: str, plan: Plan, backups: Backups | None = None) -> None:
    """Carry out a plan to disconnect, and forget what we knew of these files."""
    backups = backups or site.backups
    with _lock(site):
        if all(read_state(change.path) == change.after for change in plan.changes):
            return
        folders = [folder for backup in backups.of_agent(agent) for folder in backup.folders]
        apply(plan.changes)
        with contextlib.suppress(OSError):
            for change in plan.changes:
                backups.delete(change.path)
        remove_folders(folders)


def forget(site: Site, agent: str) -> None:
    """Forget the files that have no entry of ours any more, so that nobody is told that it is gone."""
    with _lock(site):
        for backup in site.backups.of_agent(agent):
            with contextlib.suppress(HooktrayError, OSError):
                if not connectors()[agent].contents(backup.path, read_state(backup.path)):
                    site.backups.delete(backup.path)


@contextlib.contextmanager
def lock_connections(site: Site, *, timeout: float) -> Iterator[bool]:
    """Keep `connect` and `disconnect` from writing meanwhile; whether that came about within so many seconds."""
    from filelock import FileLock, Timeout

    lock = FileLock(site.paths.state / LOCK, timeout=timeout)
    try:
        lock.acquire()
    except (Timeout, OSError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextlib.contextmanager
def _lock(site: Site) -> Iterator[None]:
    """One at a time, so that another command or the menu cannot overwrite a backup."""
    from filelock import FileLock, Timeout  # not needed to look

    try:
        lock = FileLock(site.paths.state / LOCK, timeout=LOCK_TIMEOUT).acquire()
    except Timeout as error:
        message = "another `hooktray connect` or `disconnect` is at work"
        raise HooktrayError(message, hint="wait for its end and try again; nothing was written") from error
    except OSError as error:
        raise unwritable_error(site.paths.state, error) from error
    with lock:
        yield
