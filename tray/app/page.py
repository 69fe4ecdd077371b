"""Puts the page together; it costs nothing until somebody opens it."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tray.app import Stores, engine, llm
from tray.app.choices import choices, choose
from tray.desktop.face import Face
from tray.desktop.hand import Hand
from tray.engine.approval.controls import Controls
from tray.engine.approval.roster import Roster
from tray.engine.callers.clicking import Finding
from tray.engine.replay import Twice, twice
from tray.engine.runners.command import Gone
from tray.engine.trial import Nobody
from tray.model.decision import Record
from tray.page.opening import Page
from tray.page.parts import Parts, Wired
from tray.paths import Paths
from tray.store.statistics import Statistics
from tray.threads import Chores, Loop

LOOKING = 2.0  # seconds that a page waits for a fresh look at the sources or the menu

T = TypeVar("T")


def page(
    paths: Paths,
    kept: Stores,
    roster: Roster,
    controls: Controls,
    threads: tuple[Loop, Chores],
    refresh: Callable[[], None],
    objects: Callable[[int], Finding | None],
    open_file: Callable[[Path], None],
    ending: Gone,
    menu: Callable[[], tuple[Face, Hand]],
) -> Page:
    """`ending` becomes readable when the tray ends, and ends what a replay runs; `menu` is there when one looks."""
    loop, chores = threads
    parts = Parts(
        journal=kept.journal,
        statistics=Statistics(kept.database),
        roster=roster,
        copies=kept.copies,
        controls=controls,
        look=lambda: _there(chores, refresh),
        objects=objects,
        replay=replaying(paths, kept, roster, ending),
        choices=lambda: _there(chores, lambda: choices(menu()[0])) or (),
        choose=lambda id, on: bool(_there(chores, lambda: choose(*menu(), id, on))),
        wired=lambda: wired(paths, kept),
    )
    return Page(loop.loop, parts, paths.state, open_file)


def replaying(paths: Paths, kept: Stores, roster: Roster, ending: Gone | None) -> Callable[[Record], Twice]:
    """Asks the hooks in force about a recorded event, through an engine that tells nobody and keeps nothing."""
    nobody = Nobody()
    judge = engine(
        kept, nobody, nobody.later, None, llm=lambda: llm(paths, kept), rows=nobody, ending=ending,
        exceptions=lambda: roster.exceptions,
    )  # fmt: skip
    return lambda record: twice(judge, record, dict(os.environ))


def wired(paths: Paths, kept: Stores) -> dict[str, Wired]:
    """How each agent stands; nothing is sent."""
    from tray.app.wiring import standing  # not needed to start

    return {
        one.agent: Wired(installed=one.installed, connected=one.connected, advice=one.advice)
        for one in standing(paths, kept.journal)
    }


def _there(chores: Chores, work: Callable[[], T]) -> T | None:
    """Work on the thread of the menu and of the sources' news, waited for; None when that took too long."""
    done: queue.SimpleQueue[T] = queue.SimpleQueue()
    chores.do(lambda: done.put(work()))
    with contextlib.suppress(queue.Empty):
        return done.get(timeout=LOOKING)
    return None
