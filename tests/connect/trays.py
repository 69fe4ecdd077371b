"""Running trays whose hooks a person has approved, on machines without a desktop."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from live import Live
from plain import Plain
from user_controls import user_controls

from tray.approvals.callers.person import find_origin
from tray.approvals.catalog import HookCatalog, HookState
from tray.engine.stores import open_stores
from tray.execution.ancestry import ancestors
from tray.paths import locate

by_person = pytest.mark.skipif(
    find_origin((), ancestors(os.getpid())) != "", reason="an agent runs these tests, and agents may not connect"
)


def installed(folder: Path) -> Live:
    """An installation whose tray does not run."""
    live = Live(Plain(folder), folder / "h")
    locate(str(live.home)).prepare()
    return live


def started(folder: Path, hooks: Sequence[Mapping[str, Any]], scripts: Mapping[str, str]) -> Live:
    """A running tray; `close` its place."""
    live = installed(folder)
    for name, text in scripts.items():
        live.script(name, text)
    live.configure({"hooks": list(hooks)})
    approve_all(live)
    live.start("--headless")
    return live


def approve_all(
    live: Live, wanted: Callable[[HookState], bool] = lambda state: True, grants: Sequence[str] = ()
) -> None:
    """What a person does, as nobody clicks here; `grants` are variables that each hook gets."""
    paths = locate(str(live.home))
    stores = open_stores(paths, create=True)
    catalog = HookCatalog(paths, stores.ledger, stores.copies)
    catalog.refresh()
    consent = user_controls(stores, catalog)
    for one in filter(wanted, catalog.states):
        consent.approve(one.key, one.digest, "test")
        if grants:
            consent.grant(one.key, grants, "test")
    stores.journal.close()
