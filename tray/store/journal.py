"""The journal: the record of every event, decision and answer, newest first."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tray.errors import StoreError
from tray.lazy_dataclass import replace
from tray.model.decision import Answer, Record
from tray.store import dropped_rows, rows
from tray.store.db import Database
from tray.store.retention import Retention, keep_all
from tray.store.rows import ALL_ROWS, RowFilter
from tray.store.writer import Committed, JournalWriter, WriteJob

T = TypeVar("T")

PAGE_ROWS = 500

log = logging.getLogger(__name__)

SET_ALERTED = "UPDATE journal SET alerted = ? WHERE id IN (SELECT value FROM json_each(?))"
INSERT_FIRST = "INSERT INTO meta VALUES (?, 1) ON CONFLICT (key) DO NOTHING"
SET_OFFLINE_SEEN = (
    "INSERT INTO meta VALUES ('offline_seen', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)


class Journal:
    """Appends through one writer thread, which the first row starts; reads on the caller's thread.

    `wait` is how long an answer that blocks or rewrites waits for its row (law 7). With `offline` the rows are
    marked as written while the tray was not running. `warn` may neither block nor raise. Without `retention` all
    rows are kept.
    """

    def __init__(
        self,
        database: Database,
        *,
        wait: float = 0.05,
        offline: bool = False,
        warn: Callable[[str], None] = log.warning,
        retention: Retention | None = None,
    ) -> None:
        self._database = database
        self._offline = offline
        self._warn = warn
        prune_step = retention.prune_step if retention else keep_all
        self._writer = JournalWriter(database, wait=wait, warn=warn, prune_step=prune_step)

    @property
    def dropped(self) -> int:
        """Rows that could not be kept, ever."""
        return self._writer.dropped

    @property
    def late_count(self) -> int:
        """Answers that left before their row was committed, since the start."""
        return self._writer.late_count

    def append(self, record: Record, *, commit: bool) -> Committed:
        """Take a row. With `commit`, it is on disk when this returns DONE; LATE means: go on, it will be."""
        if self._offline:
            record = replace(record, offline=True)
        try:
            values = rows.values(record)
        except (TypeError, ValueError, RecursionError) as e:
            self._warn(f"a row of the journal cannot be stored: {e}")
            self._writer.count_dropped()
            return Committed.DROPPED
        size = 0
        for value in values:
            if isinstance(value, str):
                size += len(value)
        return self._writer.submit(WriteJob(values, size), commit=commit)

    def append_now(self, record: Record, *, wait: float = 5.0) -> Committed:
        """Write a row on this thread, without the writer; trying once more after LATE is harmless.

        A caller that does not try again calls `count_dropped`.
        """
        if self._offline:
            record = replace(record, offline=True)
        try:
            values = rows.values(record)
        except (TypeError, ValueError, RecursionError) as e:
            self._warn(f"a row of the journal cannot be stored: {e}")
            return Committed.DROPPED
        try:
            with self._database.write(busy=wait) as connection:
                connection.execute(rows.insert(1), values)
        except StoreError as e:
            self._warn(e.message)
            return Committed.LATE
        return Committed.DONE

    def count_dropped(self) -> None:
        """Count a row that was not written, without the writer."""
        dropped_rows.add(self._database, 1)

    def set_alerted(self, ids: Sequence[str], word: str) -> None:
        """Note what became of the alert for these events."""
        text = json.dumps(ids)
        self._writer.submit(WriteJob((word, text), len(text), SET_ALERTED))

    def swap(self, work: Callable[[], T]) -> T:
        """Do this while no row is written; afterwards rows go into the file that is at the path then."""
        return self._writer.swap(work)

    def close(self, limit: float = 5.0) -> None:
        """Write what waits, but give up after `limit` seconds."""
        self._writer.close(limit)

    def recent(self, limit: int = 50, wanted: RowFilter = ALL_ROWS, *, brief: bool = False) -> list[Record]:
        """The newest rows that fit; the next page begins `before` the last row of this one.

        `brief` leaves out what is large and no list shows: payloads, answers, masks.
        """
        sql, values = rows.query(limit, wanted, brief=brief)
        with self._database.connect() as connection:
            return [rows.record(row) for row in connection.execute(sql, values)]

    def iterate(self, wanted: RowFilter = ALL_ROWS) -> Iterator[Record]:
        """All rows that fit, newest first, a page at a time; what comes in meanwhile is left out."""
        page = self.recent(PAGE_ROWS, wanted)
        while page:
            yield from page
            page = self.recent(PAGE_ROWS, replace(wanted, before=page[-1].id))

    def get(self, id: str) -> Record | None:
        """The row of this id, or of the only id that begins so."""
        if not id:
            return None
        with self._database.connect() as connection:
            found = connection.execute(f"{rows.SELECT} WHERE id = ?", (id,)).fetchall()
            if not found:
                bounds = (id, id + chr(0x10FFFF))
                found = connection.execute(f"{rows.SELECT} WHERE id > ? AND id < ? LIMIT 2", bounds).fetchall()
        return rows.record(found[0]) if len(found) == 1 else None

    def answer_of(self, id: str, *, digest: str = "") -> Answer | None:
        """The answer already given to this event, so that it is decided once; `digest` = only for this payload."""
        with self._database.connect() as connection:
            row = connection.execute("SELECT answer, digest FROM journal WHERE id = ?", (id,)).fetchone()
        if row is None or digest not in ("", row["digest"]):
            return None
        return rows.answer(row)

    def count(self) -> int:
        with self._database.connect() as connection:
            number: int = connection.execute("SELECT count(*) FROM journal").fetchone()[0]
        return number

    def offline_rows(self) -> list[Record]:
        """What was written while the tray was not running and not returned by an earlier call, oldest first."""
        with self._database.write() as connection:
            last = connection.execute("SELECT max(seq) FROM journal").fetchone()[0] or 0
            seen = connection.execute("SELECT value FROM meta WHERE key = 'offline_seen'").fetchone()
            bounds = (seen["value"] if seen else 0, last)
            sql = f"{rows.SELECT} WHERE offline = 1 AND seq > ? AND seq <= ? ORDER BY seq"
            found = connection.execute(sql, bounds).fetchall()
            connection.execute(SET_OFFLINE_SEEN, (last,))
        return [rows.record(row) for row in found]

    def is_first(self, key: str) -> bool:
        """Whether this is the first call ever for `what`, of which a person is notified once. In doubt it is."""
        try:
            with self._database.write() as connection:
                return connection.execute(INSERT_FIRST, (f"notified {key}",)).rowcount == 1
        except StoreError as e:
            self._warn(e.message)
            return True

    def prune(self) -> None:
        """Begin to delete what is too old or too much; it is also done after every so many rows."""
        dropped_rows.merge_file(self._database)
        self._writer.prune()
