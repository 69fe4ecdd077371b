"""The journal: the record of every event, decision and answer, newest first; and a Record as a row of it."""

from __future__ import annotations

import binascii
import functools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.errors import StoreError
from tray.model.decision import Answer, Record, Verdict
from tray.model.event import PROBE_PREFIX, EventKind
from tray.store.db import Database
from tray.store.retention import JournalSettings, Retention
from tray.store.writer import Committed, JournalListener, JournalWriter, WriteJob, add_dropped, merge_dropped, report

PAGE_ROWS = 500

LAST_EVENT = (
    f"SELECT at FROM journal WHERE agent = ? AND NOT test AND session NOT GLOB '{PROBE_PREFIX}*'"
    " ORDER BY seq DESC LIMIT 1"
)
SET_ALERTED = "UPDATE journal SET alerted = ? WHERE id IN (SELECT value FROM json_each(?))"
# The end of a payload that was cut is missing; it may have contained the id of the call.
CALL_VERDICT = (
    "SELECT iif(instr(payload, :call), verdict, 0) FROM journal"
    f" WHERE agent = :agent AND session = :session AND kind = '{EventKind.TOOL_BEFORE}' AND NOT test"
    " AND (instr(payload, :call) OR payload LIKE '% bytes_')"
    " ORDER BY instr(payload, :call) > 0 DESC, seq DESC LIMIT 1"
)
UNJUDGED = (
    f"SELECT count(*) AS n, max(seq) AS last FROM journal WHERE verdict = {Verdict.UNJUDGED:d} AND at >= :since"
    " GROUP BY agent ORDER BY last"
)
INSERT_FIRST = "INSERT INTO meta VALUES (?, 1) ON CONFLICT (key) DO NOTHING"
SET_OFFLINE_SEEN = (
    "INSERT INTO meta VALUES ('offline_seen', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)

PAYLOAD_LIMIT = 64 * 1024  # bytes of a payload that are kept; its digest is of the whole
LISTS = ("hooks", "rewrites", "notes", "adjustments", "masks")
OBJECTS = frozenset({*LISTS, "answer"})  # kept as JSON
EMPTY = {**dict.fromkeys(LISTS, "[]"), "answer": "{}"}
COLUMNS = (
    *("id", "at", "agent", "session", "project", "event", "kind", "verdict", "reason", "ms", *LISTS),
    *("problem", "payload", "digest", "masked", "answer", "offline", "alerted", "test"),
    *("cwd", "ledger", "wait_ms", "hooks_ms", "tool", "subject"),
)
SELECT = f"SELECT {', '.join(COLUMNS)} FROM journal"
LARGE = {"payload": "''", "answer": "'{}'", "masks": "'[]'"}  # columns that a list of rows leaves out
BRIEF = f"SELECT {', '.join(LARGE.get(name, name) for name in COLUMNS)} FROM journal"
LIKE_ESCAPES = str.maketrans({char: f"\\{char}" for char in "\\%_"})
KINDS = frozenset(kind.value for kind in EventKind)
HAS_FAILURE = (
    "EXISTS (SELECT 1 FROM json_each(hooks) WHERE json_extract(value, '$.status') IN ('failed', 'timed_out'))"
)
LABEL = (  # the same as Record.label
    "CASE WHEN verdict = -1 THEN 'unjudged' WHEN verdict = 3 THEN 'deny' WHEN verdict = 2 THEN 'ask'"
    f" WHEN problem <> '' OR {HAS_FAILURE} THEN 'trouble' WHEN rewrites <> '[]' THEN 'rewrite'"
    " WHEN verdict = 1 THEN 'allow' ELSE 'abstain' END"
)
CONDITIONS = {
    "before": "seq < (SELECT seq FROM journal WHERE id = :before)",
    "after": "seq > (SELECT seq FROM journal WHERE id = :after)",
    "agent": "agent = :agent",
    "event": "event = :event",
    "kind": "kind = :kind",
    "session": "session = :session",
    "project": "project = :project",
    "verdict": "verdict = :verdict",
    "label": f"{LABEL} = :label",
    "since": "at >= :since",
    "hook": "EXISTS (SELECT 1 FROM json_each(hooks) WHERE json_extract(value, '$.name') = :hook)",
    "text": " OR ".join(f"{name} LIKE :text ESCAPE '\\'" for name in ("payload", "reason", "hooks", "answer")),
}


class RowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows are wanted. What is empty does not count."""

    before: str = ""  # an id: only rows older than this one
    after: str = ""  # an id: only what came in since
    agent: str = ""
    event: str = ""  # a canonical name, else a native one
    session: str = ""
    project: str = ""
    hook: str = ""  # was asked
    text: str = ""  # is in the payload, the reason, the outputs or the answer
    label: str = ""  # Record.label
    verdict: Verdict | None = None
    since: float | None = None  # seconds since the epoch


ALL_ROWS = RowFilter()
OFFLINE_MARK = "answered-without-tray"  # a file in the state folder: the one-shot engine wrote rows beside a tray


class JournalOwner(JournalListener, JournalSettings, Protocol):
    """Has the settings of the journal, and reports its problems to the user."""


class Journal(JournalWriter):
    """Appends through one writer thread, which the first row starts; reads on the caller's thread.

    `wait` is how long an answer that blocks or rewrites waits for its row (law 7). `offline` marks the rows as
    answered without the tray. Without `retention` all rows are kept.
    """

    def __init__(
        self,
        database: Database,
        *,
        wait: float = 0.05,
        offline: bool = False,
        listener: JournalListener | None = None,
        retention: Retention | None = None,
    ) -> None:
        super().__init__(database, insert_statement, wait=wait, listener=listener, retention=retention)
        self._offline = offline

    def append(self, record: Record, *, commit: bool) -> Committed:
        """Take a row. With `commit`, it is on disk when this returns DONE; LATE means: go on, it will be."""
        values = self._values(record)
        if values is None:
            with self._work_ready:
                self._drop(True)
            return Committed.DROPPED
        size = 0
        for value in values:
            if isinstance(value, str):
                size += len(value)
        return self.submit(WriteJob(values, size), commit=commit)

    def append_now(self, record: Record, *, wait: float = 5.0) -> Committed:
        """Write a row on this thread, without the writer; trying once more after LATE is harmless.

        A caller that does not try again calls `count_dropped`.
        """
        values = self._values(record)
        if values is None:
            return Committed.DROPPED
        try:
            with self._database.write(busy=wait) as connection:
                connection.execute(insert_statement(1), values)
        except StoreError as e:
            report(e.message, self._listener)
            return Committed.LATE
        return Committed.DONE

    def _values(self, record: Record) -> tuple[object, ...] | None:
        """Returns the values of the row; None, after a report, if they cannot be stored."""
        try:
            return row_values(replace(record, offline=True) if self._offline else record)
        except (TypeError, ValueError, RecursionError) as e:
            report(f"a row of the journal cannot be stored: {e}", self._listener)
            return None

    def count_dropped(self) -> None:
        """Count a row that was not written, without the writer."""
        add_dropped(self._database, 1)

    def set_alerted(self, ids: Sequence[str], word: str) -> None:
        """Note what became of the alert for these events."""
        text = json.dumps(ids)
        self.submit(WriteJob((word, text), len(text), SET_ALERTED))

    def recent(self, limit: int = 50, wanted: RowFilter = ALL_ROWS, *, brief: bool = False) -> list[Record]:
        """The newest rows that fit; the next page begins `before` the last row of this one.

        `brief` leaves out what is large and no list shows: payloads, answers, masks.
        """
        sql, values = query_rows(limit, wanted, brief=brief)
        with self._database.connect() as connection:
            return [_record(row) for row in connection.execute(sql, values)]

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
            found = connection.execute(f"{SELECT} WHERE id = ?", (id,)).fetchall()
            if not found:
                bounds = (id, id + chr(0x10FFFF))
                found = connection.execute(f"{SELECT} WHERE id > ? AND id < ? LIMIT 2", bounds).fetchall()
        return _record(found[0]) if len(found) == 1 else None

    def answer_of(self, id: str, *, digest: str = "") -> Answer | None:
        """The answer already given to this event, so that it is decided once; `digest` = only for this payload."""
        with self._database.connect() as connection:
            row = connection.execute("SELECT answer, digest FROM journal WHERE id = ?", (id,)).fetchone()
        if row is None or digest not in ("", row["digest"]):
            return None
        words = json.loads(row["answer"])  # the exact bytes, unless they were masked or shortened, or there were none
        if not {"stdout", "stderr", "code"} <= words.keys() or not words.get("exact", True):
            return None
        return Answer(stdout=_bytes(words["stdout"]), stderr=_bytes(words["stderr"]), code=words["code"])

    def call_verdict(self, agent: str, session: str, call: str) -> Verdict | None:
        """Returns the verdict on a tool call before it ran; None if no row has this id of the agent's.

        Returns ABSTAIN if only a row whose payload was cut may have it.
        """
        wanted = {"agent": agent, "session": session, "call": call}
        with self._database.connect() as connection:
            row = connection.execute(CALL_VERDICT, wanted).fetchone()
        return Verdict(row[0]) if row else None

    def unjudged(self, since: float) -> list[tuple[int, Record]]:
        """Returns for each agent with calls unjudged since then the number of rows, and the last row."""
        with self._database.connect() as connection:
            found = connection.execute(UNJUDGED, {"since": since}).fetchall()
            brief = f"{BRIEF} WHERE seq = ?"
            return [(row["n"], _record(connection.execute(brief, (row["last"],)).fetchone())) for row in found]

    def last_events(self, agents: Iterable[str]) -> dict[str, float]:
        """When each of these agents sent its last event, our own test events not counted."""
        with self._database.connect() as connection:
            rows = {agent: connection.execute(LAST_EVENT, (agent,)).fetchone() for agent in agents}
        return {agent: row["at"] for agent, row in rows.items() if row}

    def has_session(self, session: str) -> bool:
        """True if an event of this session has a row."""
        return bool(self.recent(1, RowFilter(session=session)))

    def count(self) -> int:
        with self._database.connect() as connection:
            number: int = connection.execute("SELECT count(*) FROM journal").fetchone()[0]
        return number

    def offline_rows(self) -> list[Record]:
        """The one-shot engine's rows that no earlier call returned, the oldest first."""
        with self._database.write() as connection:
            last = connection.execute("SELECT max(seq) FROM journal").fetchone()[0] or 0
            seen = connection.execute("SELECT value FROM meta WHERE key = 'offline_seen'").fetchone()
            bounds = (seen["value"] if seen else 0, last)
            sql = f"{SELECT} WHERE offline = 1 AND seq > ? AND seq <= ? ORDER BY seq"
            found = connection.execute(sql, bounds).fetchall()
            connection.execute(SET_OFFLINE_SEEN, (last,))
        return [_record(row) for row in found]

    def is_first(self, key: str) -> bool:
        """Whether this is the first call ever for `what`, of which the user is notified once. In doubt it is."""
        try:
            with self._database.write() as connection:
                return connection.execute(INSERT_FIRST, (f"notified {key}",)).rowcount == 1
        except StoreError as e:
            report(e.message, self._listener)
            return True

    def prune(self) -> None:
        """Begin to delete what is too old or too much; it is also done after every so many rows."""
        merge_dropped(self._database)
        super().prune()


# ---- a row, and the one query that reads rows; pure ----


@functools.cache
def insert_statement(count: int) -> str:
    """The statement that inserts so many rows; its values are those of one row after the other.

    A second row of an event is ignored, so that a row may be written again after a doubtful commit.
    """
    one = f"({', '.join('?' * len(COLUMNS))})"
    return f"INSERT INTO journal ({', '.join(COLUMNS)}) VALUES {', '.join([one] * count)} ON CONFLICT (id) DO NOTHING"


def row_values(record: Record) -> tuple[object, ...]:
    """A row's values. Raises TypeError, ValueError or RecursionError for what JSON cannot hold."""
    found: list[object] = []
    for name in COLUMNS:
        value = getattr(record, name)
        if name in OBJECTS:
            value = _encode(value) if value else EMPTY[name]
        elif name == "payload" and len(value) > PAYLOAD_LIMIT // 4:  # four bytes a character, at most
            value = _truncate(value)
        elif name == "verdict":
            value = int(value)
        found.append(_clean(value) if isinstance(value, str) and not value.isascii() else value)
    return tuple(found)


def _record(row: sqlite3.Row) -> Record:
    named = dict(zip(COLUMNS, row, strict=True))
    for name in LISTS:  # most are empty, and a page is many rows
        named[name] = () if named[name] == "[]" else tuple(json.loads(named[name]))
    named["verdict"] = Verdict(named["verdict"])
    named["answer"] = {} if named["answer"] == "{}" else json.loads(named["answer"])
    named["offline"], named["test"] = bool(named["offline"]), bool(named["test"])
    return Record(**named)


def query_rows(limit: int, row_filter: RowFilter, *, brief: bool = False) -> tuple[str, dict[str, object]]:
    """The newest rows that fit. Ordered by seq and never by time: a wall clock may jump back."""
    named = {name: getattr(row_filter, name) for name in CONDITIONS if name != "kind"}
    wanted = {name: value for name, value in named.items() if value not in (None, "")}
    if wanted.get("event") in KINDS:
        wanted["kind"] = wanted.pop("event")
    where = " AND ".join(f"({CONDITIONS[name]})" for name in wanted)
    if "text" in wanted:
        wanted["text"] = f"%{_clean(str(wanted['text']).translate(LIKE_ESCAPES))}%"
    found = f"{BRIEF if brief else SELECT}{f' WHERE {where}' if where else ''}"
    return f"{found} ORDER BY seq DESC LIMIT :limit", wanted | {"limit": limit}


def _truncate(payload: str) -> str:
    """At most PAYLOAD_LIMIT bytes, saying so when something is missing."""
    whole = payload.encode("utf-8", "replace")
    if len(whole) <= PAYLOAD_LIMIT:
        return payload
    kept = whole[:PAYLOAD_LIMIT].decode("utf-8", "ignore")
    return f"{kept}… [cut: {PAYLOAD_LIMIT} of {len(whole)} bytes]"


def _json_default(value: object) -> object:
    """Bytes that are not text survive; anything else that JSON does not know is kept as people would read it."""
    return {"base64": binascii.b2a_base64(value, newline=False).decode()} if isinstance(value, bytes) else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, default=_json_default).encode


def _bytes(word: str | dict[str, str]) -> bytes:
    return word.encode() if isinstance(word, str) else binascii.a2b_base64(word["base64"])


def _clean(text: str) -> str:
    """SQLite refuses half a surrogate pair, and JSON from outside may hold one."""
    return text.encode("utf-8", "replace").decode()
