"""How the journal's writer commits what waits together."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from desk import wait
from msgspec.structs import replace
from store.writing import ROW, Limited, Problems, append, locked

from tray.store.db import Database
from tray.store.journal import Journal, insert_statement
from tray.store.retention import Retention, RetentionLimits
from tray.store.writer import BATCH_ROWS


class Watched(Database):
    """Notes each statement, and whether a transaction of Python's was open when it began."""

    seen: list[tuple[str, bool]] = []

    def open(self, *, busy: float | None = None, mode: str = "rw") -> sqlite3.Connection:
        connection = super().open(busy=busy, mode=mode)
        connection.set_trace_callback(lambda sql: self.seen.append((sql, connection.in_transaction)))
        return connection


def test_python_is_in_no_transaction_of_the_writer_which_would_last_until_busy_threads_let_it_go_on(
    database: Database,
) -> None:
    watched = Watched(database.path)
    with closing(Journal(watched, retention=Retention(Limited(RetentionLimits(days=1e6, rows=200))))) as journal:
        with locked(database):
            for number in range(300):
                append(journal, f"e{number}", commit=False)
            journal.set_alerted(["e1"], "shown")
            append(journal, "after it", commit=False)
        wait(lambda: journal.count() == 301)
        journal.prune()
        wait(lambda: journal.count() == 200)

    assert {is_within for _, is_within in watched.seen} == {False}
    kinds = [sql.split()[0] for sql, _ in watched.seen]
    assert kinds[: kinds.index("UPDATE")].count("INSERT") < 20  # by 32, 16, 8, 4, 2, 1
    assert {"DELETE", "UPDATE"} <= set(kinds)


def test_what_fitted_of_many_rows_counts_as_written(database: Database) -> None:
    with database.connect() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    full = Journal(replace(database, pragmas=(f"max_page_count = {pages + 20}",)), listener=Problems())
    with locked(database):
        for number in range(500):
            append(full, f"e{number}", commit=False)
    wait(lambda: full.count() > 0)
    full.close(0.5)

    kept = full.count()
    assert 0 < kept < 500
    assert full.dropped == Journal(database).dropped == 500 - kept


def test_a_statement_takes_no_more_values_than_any_sqlite_allows() -> None:
    assert insert_statement(BATCH_ROWS).count("?") < 999


@pytest.mark.parametrize("count", [1, 31, 32, 33])
def test_rows_are_written_in_their_order_however_many_come_together(database: Database, count: int) -> None:
    ids = [f"e{number}" for number in range(count)]
    with closing(Journal(database, listener=Problems())) as journal:
        with locked(database):
            for id in ids:
                append(journal, id, commit=False)
        wait(lambda: journal.count() == count)

        assert [record.id for record in journal.recent(count)] == ids[::-1]
        assert {record.payload for record in journal.iterate()} == {ROW.payload}
