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
from tray.model.decision import Status
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
    book = place.stores().ledger.state
    return not book.approved and bool(book.tampered)


def a_ledger_that_was_rolled_back(place: Place) -> bool:
    """Nothing new is in force, and it is told."""
    _edit(place, "DELETE FROM ledger")
    book = place.stores().ledger.state
    return not book.approved and bool(book.tampered)


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
    home = place.folder / "elsewhere"
    elsewhere = locate(str(home))
    elsewhere.prepare()
    approve(place.paths, elsewhere, "guard", "kept")
    shutil.copytree(elsewhere.copies, place.paths.copies, dirs_exist_ok=True)
    _replace(place, elsewhere.database)
    shutil.rmtree(home)
    book = place.stores().ledger.state
    return not book.approved and bool(book.tampered)


def a_row_with_its_link(place: Place) -> bool:
    """Written as the product writes it, from a copy of the database, and put back without the rest."""
    home = place.folder / "elsewhere"
    elsewhere = locate(str(home))
    elsewhere.prepare()
    shutil.copy2(place.paths.database, elsewhere.database)
    shutil.copy2(place.paths.database.with_name(LEDGER), elsewhere.state)
    approve(place.paths, elsewhere, "guard")
    shutil.copytree(elsewhere.copies, place.paths.copies, dirs_exist_ok=True)
    _replace(place, elsewhere.database)
    shutil.rmtree(home)
    book = place.stores().ledger.state
    return not book.approved and bool(book.tampered)


def a_link_in_the_ledgers_place(place: Place) -> bool:
    aside = place.folder / "aside.db"
    _replace(place, aside, leave=True)
    place.paths.database.symlink_to(aside)
    done = place.live.cli("list")
    return done.returncode == 1 and b"not a link" in done.stderr


def other_bytes_in_the_approved_copy(place: Place) -> bool:
    ran = place.folder / "ran"
    for copy in [path for path in place.paths.copies.rglob("*") if path.is_file()]:  # else it is restored
        copy.parent.chmod(0o700)
        copy.chmod(0o700)
        copy.write_text(f"#!/bin/sh\ntouch {ran}\n")
    place.live.script("kept.sh", "exit 1")  # while the script holds what was approved, its copy is made anew
    before = len(place.live.log())
    place.live.relay("claude-code", "PreToolUse", {"hook_event_name": "PreToolUse", "tool_name": "Bash"})
    newest = place.live.wait_log(before + 1)[0]
    place.live.script("kept.sh", "exit 0")
    statuses = [hook["status"] for hook in newest["hooks"]]
    return not ran.exists() and statuses == [Status.FAILED.value]


def _replace(place: Place, by: Path, *, leave: bool = False) -> None:
    """Another file in the database's place; with `leave`, ours becomes that file, and nothing is there."""
    database = place.paths.database
    if leave:
        shutil.move(database, by)
    else:
        shutil.copy2(by, database)
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


ATTEMPTS: tuple[Callable[[Place], bool], ...] = (
    a_database_of_an_earlier_day,
    a_ledger_that_was_rolled_back,
    a_link_in_the_ledgers_place,
    a_row_that_was_altered,
    a_row_with_its_link,
    other_bytes_in_the_approved_copy,
    the_command_without_a_tray,
    the_ledger_of_another_home,
)


# ---- a ledger as others have it


def _controls(tally: Tally, place: Place) -> None:
    """Rows alone decide there: an altered one and another home's count without a word."""
    guard = place.key("guard")
    _edit(place, "UPDATE ledger SET key = ? WHERE act = 'approve'", guard)
    tally.control("a list that believes its rows: altered", guard in _listed(place))
    _edit(place, "DELETE FROM ledger")
    tally.control("a list that believes its rows: rolled back", not _listed(place))
    the_ledger_of_another_home(place)
    tally.control("a list that believes its rows: another home's, and one with its link", guard in _listed(place))


def _listed(place: Place) -> set[str]:
    with sqlite3.connect(place.paths.database) as connection:
        rows = connection.execute("SELECT key FROM ledger WHERE act = 'approve'").fetchall()
    connection.close()
    return {str(key) for (key,) in rows}
