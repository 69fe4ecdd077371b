"""What is kept on disk: opens the stores that the tray, the one-shot engine and the commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

import tray
from tray.execution.hook_runs import HookRuns
from tray.paths import Paths
from tray.protection.protected_paths import SITE_NAMES, Environments, ProtectedPaths, agent_homes, find_environments
from tray.store.copies import Copies
from tray.store.db import BUSY_TIMEOUT, OFFLINE_BUSY_TIMEOUT, Database, open_db
from tray.store.journal import Journal, JournalOwner
from tray.store.ledger import Ledger
from tray.store.retention import Retention
from tray.store.sessions import SessionRows, Sessions
from tray.store.switch import Switch

HOOK_RUNS = "hook-runs"  # the folder of the hooks that one-shot engines run


class Stores(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept on disk."""

    database: Database
    journal: Journal
    ledger: Ledger
    switch: Switch
    copies: Copies
    protected_paths: ProtectedPaths  # what is protected from agents
    sessions: Sessions
    session_rows: SessionRows  # as people see them
    runs: HookRuns  # of hooks, as every engine of this process knows them


def open_stores(
    paths: Paths,
    *,
    create: bool | None = None,
    database: Database | None = None,
    offline: bool = False,
    owner: JournalOwner | None = None,
) -> Stores:
    """Returns the stores in `database`; without one, `open_db` opens it, with `create`. Raises StoreError.

    `offline`: for the one-shot engine. `owner`: the tray, whose journal is the only one that deletes rows.
    """
    busy = OFFLINE_BUSY_TIMEOUT if offline else BUSY_TIMEOUT
    database = database or open_db(paths.database, create=create, busy=busy)
    return Stores(
        database=database,
        journal=Journal(database, offline=offline, listener=owner, retention=Retention(owner)),
        ledger=Ledger(database),
        switch=Switch(database),
        copies=Copies(paths.copies),
        protected_paths=find_protected_paths(paths, os.environ),
        sessions=Sessions(database),
        session_rows=SessionRows(database),
        runs=HookRuns(paths.state / HOOK_RUNS, publish=offline),
    )


def find_protected_paths(paths: Paths, environment: Mapping[str, str]) -> ProtectedPaths:
    """Our folders, and our program where it is installed; a checkout stays open to those who work on it."""
    program = Path(tray.__file__).parent
    installed = (str(program),) if program.parent.name in SITE_NAMES else ()
    environments = _environments(str(program.parent))
    folders = (paths.config.parent, paths.state, paths.logs, paths.relay_folder)
    own = (*map(str, folders), *installed, *environments.own)
    return ProtectedPaths(
        own=tuple(dict.fromkeys(path.replace(os.sep, "/") for path in (*own, *map(os.path.realpath, own)))),
        home=environment.get("HOME") or str(Path.home()),
        agent_homes=agent_homes(environment),
        environments=environments,
    )


def _environments(own: str) -> Environments:
    """The Python environments from which this process takes its code."""
    packages = [one for one in dict.fromkeys((own, *sys.path)) if os.path.basename(one) in SITE_NAMES]  # noqa: PTH119
    above = (str(folder) for one in packages for folder in Path(one).parents[:4])
    roots = dict.fromkeys(folder for folder in above if os.path.exists(f"{folder}/pyvenv.cfg"))  # noqa: PTH110
    library = os.path.dirname(os.__file__)  # noqa: PTH120 - of the interpreter
    found = find_environments(packages, tuple(roots), [library])
    program = os.path.dirname(sys.executable)  # noqa: PTH120
    return replace(found, own=(*found.own, program)) if getattr(sys, "frozen", False) else found
