"""Builds everything once, starts it, stops it in order; the only room that knows all the parts.

Here are the parts that the one-shot engine and the reading commands share with the tray; live.py is the tray.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from tray.engine.ears import Ears, Later, Rows
from tray.engine.pipeline import Engine
from tray.engine.questions import Questions
from tray.engine.roster import Roster
from tray.engine.runners.command import Background, Gone
from tray.paths import Paths
from tray.sources import configuration
from tray.store.copies import Copies
from tray.store.db import Database, open_db
from tray.store.journal import Journal
from tray.store.ledger import Ledger
from tray.store.sessions import Sessions
from tray.store.switch import Switch

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What is kept on disk."""

    database: Database
    journal: Journal
    ledger: Ledger
    switch: Switch
    copies: Copies
    sessions: Sessions


def stores(
    paths: Paths, *, migrate: bool, offline: bool = False, trouble: Callable[[str], None] = log.warning
) -> Stores:
    database = open_db(paths.database, migrate=migrate)
    return Stores(
        database=database,
        journal=Journal(database, offline=offline, trouble=trouble),
        ledger=Ledger(database),
        switch=Switch(database),
        copies=Copies(paths.copies),
        sessions=Sessions(database),
    )


def engine(
    kept: Stores,
    ears: Ears,
    later: Later,
    background: Background | None,
    *,
    rows: Rows | None = None,
    ending: Gone | None = None,
    offline: bool = False,
    questions: Questions | None = None,
) -> Engine:
    """The same engine for the tray and for the one-shot `hooktray once`, which brings `rows` of its own.

    `ending` becomes readable when the tray ends: hooks that nobody waits for are then cancelled.
    """
    return Engine(
        ledger=kept.ledger,
        copies=kept.copies,
        switch=kept.switch,
        sessions=kept.sessions,
        rows=rows or kept.journal,
        ears=ears,
        later=later,
        background=background,
        ending=ending,
        offline=offline,
        questions=questions,
    )


def roster(paths: Paths, kept: Stores) -> Roster:
    """What the sources propose, held against the ledger."""
    return Roster(lambda: configuration.load(paths), lambda: configuration.touched(paths), kept.ledger, kept.copies)
