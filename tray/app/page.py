"""Puts the page together; it costs nothing until somebody opens it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tray.app import Stores
from tray.desktop.opener import open_file
from tray.engine.controls import Controls
from tray.engine.roster import Roster
from tray.page.opening import Page
from tray.page.parts import Parts
from tray.paths import Paths
from tray.store.statistics import Statistics
from tray.threads import Chores, Loop

LOOKING = 2.0  # seconds that a page waits for a fresh look at the sources


def page(
    paths: Paths,
    kept: Stores,
    roster: Roster,
    controls: Controls,
    threads: tuple[Loop, Chores],
    refresh: Callable[[], None],
    trusts: Callable[[int], bool],
) -> Page:
    loop, chores = threads
    parts = Parts(
        journal=kept.journal,
        statistics=Statistics(kept.database),
        roster=roster,
        copies=kept.copies,
        controls=controls,
        look=lambda: _wait(chores, refresh),
        trusts=trusts,
    )
    return Page(loop.loop, parts, paths.state, open_file)


def _wait(chores: Chores, refresh: Callable[[], None]) -> None:
    """Look at the sources where their news is told: whoever looks first is the one that tells."""
    looked = threading.Event()
    chores.do(refresh)
    chores.do(looked.set)
    looked.wait(LOOKING)
