"""Builds everything once, starts it, stops it in order; the only room that knows all the parts.

Here are the parts that the one-shot engine and the reading commands share with the tray; live.py is the tray.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tray
from tray.engine.ears import Ears, Later, Rows
from tray.engine.pipeline import Engine
from tray.engine.protection.places import Places
from tray.engine.protection.rule import Protection
from tray.engine.questions import Questions
from tray.engine.runners.command import Background, Gone
from tray.engine.typed import Answers, nobody
from tray.paths import Paths
from tray.store.copies import Copies
from tray.store.db import Database, open_db
from tray.store.journal import Journal
from tray.store.ledger import Ledger
from tray.store.retention import Limits, Retention
from tray.store.sessions import Sessions
from tray.store.switch import Switch
from tray.threads import Quit

if TYPE_CHECKING:  # reading sources takes longer to import than all the rest, and who only judges events reads none
    from tray.engine.approval.roster import Roster
    from tray.settings import Llm

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What is kept on disk."""

    database: Database
    journal: Journal
    ledger: Ledger
    switch: Switch
    copies: Copies
    places: Places  # what is protected from agents
    sessions: Sessions


def stores(
    paths: Paths,
    *,
    migrate: bool,
    offline: bool = False,
    trouble: Callable[[str], None] = log.warning,
    limits: Callable[[], Limits] = Limits,
) -> Stores:
    """`limits`: how much the journal keeps; only the tray's deletes anything."""
    database = open_db(paths.database, migrate=migrate)
    return Stores(
        database=database,
        journal=Journal(database, offline=offline, trouble=trouble, retention=Retention(limits)),
        ledger=Ledger(database),
        switch=Switch(database),
        copies=Copies(paths.copies),
        places=protected(paths, os.environ),
        sessions=Sessions(database),
    )


def engine(
    kept: Stores,
    ears: Ears,
    later: Later,
    background: Background | None,
    *,
    llm: Callable[[], Llm | None],
    rows: Rows | None = None,
    ending: Gone | None = None,
    offline: bool = False,
    questions: Questions | None = None,
    exceptions: Callable[[], Sequence[str]] = tuple,
    answers: Answers = nobody,
    port: Callable[[], int] = lambda: 0,
    quit: Quit | None = None,
) -> Engine:
    """The same engine for the tray and for the one-shot `hooktray once`, which brings `rows` of its own.

    `ending` becomes readable when the tray ends: hooks that no agent waits for are then cancelled. `quit` has how far
    its end has come, for events whose agent waits.
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
        llm=llm,
        ending=ending,
        offline=offline,
        questions=questions,
        protection=Protection(places=kept.places, exceptions=exceptions, port=port),
        answers=answers,
        quit=quit,
    )


def protected(paths: Paths, environment: Mapping[str, str]) -> Places:
    """Our folders, and our program where it is installed; a checkout stays open to those who work on it."""
    program = Path(tray.__file__).parent
    installed = (str(program),) if program.parent.name in ("site-packages", "dist-packages") else ()
    own = (str(paths.config.parent), str(paths.state), str(paths.logs), *installed)
    return Places(
        own=tuple(dict.fromkeys((*own, *map(os.path.realpath, own)))),
        home=environment.get("HOME") or str(Path.home()),
        x_code=environment.get("X_CODE_HOME", ""),
    )


def llm(paths: Paths, kept: Stores) -> Llm | None:
    """The model that a person confirmed, as the file says it at this moment."""
    from tray.engine.approval import confirming
    from tray.sources import configuration

    return confirming.llm(configuration.load(paths).settings, kept.ledger.book)


def roster(paths: Paths, kept: Stores) -> Roster:
    """What the sources propose, held against the ledger."""
    from tray.engine.approval.roster import Roster
    from tray.sources import configuration
    from tray.store import salvage
    from tray.store.tried import Tried

    return Roster(
        lambda: configuration.load(paths),
        lambda: configuration.touched(paths),
        kept.ledger,
        kept.copies,
        Tried(paths.state),
        salvage.earlier(paths.database),
    )


def limits(found: Roster) -> Limits:
    """How much the journal keeps, as the file says it at this moment."""
    kept = found.configuration.settings.journal
    return Limits(days=kept.days, rows=kept.rows, megabytes=kept.megabytes)
