"""Self-approval while no tray runs: what an agent can do to the files, and what the next start makes of it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

from desk.wait import wait

from torture.frame import Tally
from torture.place import Place, approve
from tray.paths import locate
from tray.store.checkpoint import LEDGER
from tray.store.ledger import LedgerAction


def offline(tally: Tally, place: Place) -> None:
    """Each of them on the state as it was, then the state is put back."""
    place.live.quit()
    kept = place.folder / "state"
    shutil.copytree(place.paths.state, kept, symlinks=True)
    for _ in range(tally.many(1, 25)):
        for attempt in ATTEMPTS:
            tally.attack(attempt.__name__, attempt(place))
            wait(partial(_deleted, place.paths.state), what="the state is gone: an engine may still write there")
            shutil.copytree(kept, place.paths.state, symlinks=True)
    _controls(tally, place)


def _deleted(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _edit(place: Place, statement: str, *words: object) -> None:
    with sqlite3.connect(place.paths.database) as connection:
        connection.execute(statement, words)
    connection.close()


def the_command_without_a_tray(place: Place) -> bool:
    done = place.live.cli("approve", "guard")
    return done.returncode == 1 and place.held()


def a_row_that_was_altered(place: Place) -> bool:
    _edit(place, "UPDATE ledger SET key = ? WHERE act = 'approve'", place.key("guard"))
    return _lost(place)


def a_database_of_an_earlier_day(place: Place) -> bool:
    """A guard was revoked since, and somebody puts back the file in which it was approved: told."""
    aside = place.folder / "earlier.db"
    shutil.copy2(place.paths.database, aside)
    kept = place.stores()
    approved = kept.ledger.state.approved[place.key("kept")]
    kept.ledger.append(
        LedgerAction.REVOKE, place.key("kept"), approved.digest, definition="", position=(0, 0), channel="torture"
    )
    kept.journal.close()
    _replace(place, aside)
    return bool(place.stores().ledger.state.tampered)


def the_ledger_of_another_home(place: Place) -> bool:
    """There an agent has approved what it likes, with our own programs; its database and its copies come over."""
    _come_over(place)
    return _lost(place)


def a_row_with_its_link(place: Place) -> bool:
    """Written as the product writes it, from a copy of the database, and put back without the rest."""
    _come_over(place, place.paths.database, place.paths.database.with_name(LEDGER))
    return _lost(place)


def _come_over(place: Place, *files: Path) -> None:
    """Approves the guard in another home with these files, and puts that home's database and copies in place."""
    home = place.folder / "elsewhere"
    elsewhere = locate(str(home))
    elsewhere.prepare()
    for file in files:
        shutil.copy2(file, elsewhere.state)
    approve(place.paths, elsewhere, "guard", "kept")
    shutil.copytree(elsewhere.copies, place.paths.copies, dirs_exist_ok=True)
    _replace(place, elsewhere.database)
    shutil.rmtree(home)


def _lost(place: Place) -> bool:
    """Nothing new is in force, and it is told."""
    book = place.stores().ledger.state
    return not book.approved and bool(book.tampered)


def _replace(place: Place, by: Path) -> None:
    """Replaces the database by another file."""
    database = place.paths.database
    shutil.copy2(by, database)
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


ATTEMPTS: tuple[Callable[[Place], bool], ...] = (
    a_database_of_an_earlier_day,
    a_row_that_was_altered,
    a_row_with_its_link,
    the_command_without_a_tray,
    the_ledger_of_another_home,
)


# ---- a ledger as others have it


def _controls(tally: Tally, place: Place) -> None:
    """Rows alone decide there: an altered one and another home's count without a word."""
    guard = place.key("guard")
    _edit(place, "UPDATE ledger SET key = ? WHERE act = 'approve'", guard)
    tally.control("a list that believes its rows: altered", guard in _listed(place))
    the_ledger_of_another_home(place)
    tally.control("a list that believes its rows: another home's, and one with its link", guard in _listed(place))


def _listed(place: Place) -> set[str]:
    with sqlite3.connect(place.paths.database) as connection:
        rows = connection.execute("SELECT key FROM ledger WHERE act = 'approve'").fetchall()
    connection.close()
    return {str(key) for (key,) in rows}
