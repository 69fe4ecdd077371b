"""The journal's writer when things go wrong: locked, full, damaged, killed, or simply nothing to do."""

from __future__ import annotations

import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from desk import wait
from msgspec.structs import replace
from store.writing import ROW, Problems, append, locked
from threadless import no_thread_left

from tray.store.db import Database, open_db
from tray.store.journal import Journal
from tray.store.writer import MAX_ROWS, Committed

LONG = 60.0  # seconds
APPENDER = """
import pathlib, sys
from msgspec.structs import replace
from tests.store.writing import ROW
from tray.store.db import open_db
from tray.store.journal import Journal
from tray.store.writer import Committed
journal = Journal(open_db(pathlib.Path(sys.argv[1]), create=False), wait=10.0)
number = 0
while True:
    number += 1
    id = f"{sys.argv[2]}-{number}"
    journal.append(replace(ROW, id=f"{id}-plain"), commit=False)
    if journal.append(replace(ROW, id=id, payload="x" * 1000), commit=True) is Committed.DONE:
        sys.stdout.write(id + "\\n")
        sys.stdout.flush()
"""


def test_a_blocked_writer_delays_one_answer_and_no_other(database: Database) -> None:
    with closing(Journal(database, wait=1.0, listener=Problems())) as journal:
        append(journal, "warm")
        wait(lambda: journal.count() == 1)
        late = journal.late_count  # 0, but where the disk takes a second for one row
        with locked(database):
            plain, _ = append(journal, "plain", commit=False)
            first, first_took = append(journal, "first")
            later = [append(journal, f"later{number}") for number in range(20)]

        assert (plain, first) == (Committed.QUEUED, Committed.LATE)
        assert {said for said, _ in later} == {Committed.LATE}
        assert first_took >= 1.0
        assert statistics.median(took for _, took in later) < first_took / 2
        assert journal.late_count == late + 21

        wait(lambda: journal.count() == 23)
        wait(lambda: append(journal, "again")[0] is Committed.DONE)
    assert [record.id for record in journal.recent(3)] == ["again", "later19", "later18"]


def test_one_trouble_is_told_once(database: Database) -> None:
    problems = Problems()
    with closing(Journal(database, wait=0.01, listener=problems)) as journal:
        with locked(database):
            for number in range(50):
                append(journal, f"e{number}")
            wait(lambda: any("locked" in text for text in problems.texts))
        wait(lambda: journal.count() == 50)
        with locked(database):
            append(journal, "once more")
            wait(lambda: journal.late_count == 51)

    assert sorted(text.split(": ")[-1] for text in problems.texts) == ["database is locked", "writing takes too long"]


def test_rows_beyond_the_bound_are_dropped_and_counted_for_good(database: Database) -> None:
    with closing(Journal(database, listener=Problems())) as journal:
        with locked(database):
            said = [append(journal, f"e{number}", commit=False)[0] for number in range(MAX_ROWS + 7)]
            assert journal.dropped == 7

        assert said == [Committed.QUEUED] * MAX_ROWS + [Committed.DROPPED] * 7
        wait(lambda: journal.count() == MAX_ROWS, LONG)
    assert Journal(database).dropped == 7


def test_large_rows_are_bounded_by_size_as_well(database: Database) -> None:
    with closing(Journal(database, listener=Problems())) as journal:
        with locked(database):
            big = replace(ROW, payload="x" * 65_000)
            said = [journal.append(replace(big, id=f"e{number}"), commit=False) for number in range(1100)]
        kept = said.count(Committed.QUEUED)

        assert 1000 < kept < 1100
        assert said[kept:] == [Committed.DROPPED] * (1100 - kept)
        wait(lambda: journal.count() == kept, LONG)


def test_a_full_disk_loses_no_row_that_fits_later_and_is_told_once(database: Database) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('ballast', ?)", ("x" * 400_000,))
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    problems = Problems()
    full = replace(database, pragmas=(f"max_page_count = {pages}",))

    with closing(Journal(full, listener=problems)) as journal:
        for number in range(100):
            said, _ = append(journal, f"e{number}")
            assert said in (Committed.DONE, Committed.LATE)
        wait(lambda: any("full" in text for text in problems.texts))
        with database.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = 'ballast'")
        wait(lambda: journal.count() == 100)

    assert sum("full" in text for text in problems.texts) == 1
    assert journal.dropped == 0
    assert quick_check(database.path) == "ok"


@pytest.mark.parametrize("words", ["attempt to write a readonly database", "database or disk is full"])
def test_a_database_that_takes_no_row_is_named_until_it_takes_one(database: Database, words: str) -> None:
    with closing(Journal(database, listener=Problems())) as journal:
        append(journal, "e1")
        wait(lambda: journal.count() == 1)
        assert journal.problem == ""

        with database.write() as connection:
            connection.execute(f"CREATE TRIGGER no BEFORE INSERT ON journal BEGIN SELECT RAISE(FAIL, '{words}'); END")
        append(journal, "e2")
        wait(lambda: journal.problem != "")
        assert journal.problem.startswith(f"{database.path}: {words}\n  ")

        with database.write() as connection:
            connection.execute("DROP TRIGGER no")
        wait(lambda: journal.problem == "")
        assert journal.count() == 2


def test_a_damaged_journal_never_stops_anyone_and_is_set_aside_at_the_next_start(database: Database) -> None:
    with closing(Journal(database)) as journal:
        for number in range(500):
            append(journal, f"e{number}", commit=False)
    damage(database, "journal_session")
    problems = Problems()

    with closing(Journal(database, listener=problems)) as journal:
        said = [append(journal, f"after{number}")[0] for number in range(10)]
        wait(lambda: any("malformed" in text for text in problems.texts))
        journal.close(limit=0.1)

    assert set(said) == {Committed.LATE}
    again = open_db(database.path, create=True)
    assert again.damaged is not None
    with closing(Journal(again, wait=10.0)) as journal:
        assert append(journal, "fresh")[0] is Committed.DONE
    assert open_db(database.path, create=True).damaged is None


def test_closing_writes_what_waits_and_refuses_what_comes_after(database: Database) -> None:
    journal = Journal(database)
    for number in range(500):
        append(journal, f"e{number}", commit=False)

    journal.close(LONG)

    assert journal.count() == 500
    assert append(journal, "too late")[0] is Committed.DROPPED
    assert "journal" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_writer_loses_no_row_it_confirmed(database: Database) -> None:
    confirmed: list[str] = []
    for kill in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(database.path), str(kill)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            words = [process.stdout.readline() for _ in range(20 + 17 * kill)]
            process.send_signal(signal.SIGKILL)
            words += process.stdout.readlines()
        confirmed += [word.strip() for word in words if word.endswith("\n")]

    journal = Journal(open_db(database.path, create=True))
    assert len(confirmed) >= 3 * 20
    assert [id for id in confirmed if journal.get(id) is None] == []
    assert [id for id in confirmed if journal.get(f"{id}-plain") is None] == []
    assert quick_check(database.path) == "ok"


def quick_check(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        word: str = connection.execute("PRAGMA quick_check").fetchone()[0]
    return word


def damage(database: Database, name: str) -> None:
    with database.connect() as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
    with database.path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


@pytest.mark.skipif(sys.platform == "win32", reason="the size of a thread's stack has a limit there")
def test_a_row_whose_thread_cannot_start_is_written_with_the_next_one(database: Database) -> None:
    with closing(Journal(database, wait=10.0)) as journal:
        with no_thread_left(), pytest.raises(RuntimeError, match="can't start new thread"):
            append(journal, "first")

        assert append(journal, "second")[0] is Committed.DONE
        assert [row.id for row in journal.recent(2)] == ["second", "first"]
