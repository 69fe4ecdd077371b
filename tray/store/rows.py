"""A Record as a row of the journal and back, and the one query that reads rows; pure."""

from __future__ import annotations

import binascii
import functools
import json
import sqlite3
from typing import Any

from tray.lazy_dataclass import dataclass
from tray.model.decision import Answer, Record, Verdict
from tray.model.event import EventKind

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
LARGE = {"payload": "''", "answer": "'{}'", "masks": "'[]'"}  # what a list of rows does without
BRIEF = f"SELECT {', '.join(LARGE.get(name, name) for name in COLUMNS)} FROM journal"
KINDS = frozenset(kind.value for kind in EventKind)
HAS_FAILURE = (
    "EXISTS (SELECT 1 FROM json_each(hooks) WHERE json_extract(value, '$.status') IN ('failed', 'timed_out'))"
)
LABEL = (  # the same as Record.label
    "CASE WHEN verdict = 3 THEN 'deny' WHEN verdict = 2 THEN 'ask'"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Which rows are wanted. What is empty does not count."""

    before: str = ""  # an id: only rows older than this one
    after: str = ""  # an id: only what came in since
    agent: str = ""
    event: str = ""  # a canonical name, else a native one
    session: str = ""
    project: str = ""
    hook: str = ""  # was asked
    text: str = ""  # stands in the payload, the reason, the outputs or the answer
    label: str = ""  # Record.label
    verdict: Verdict | None = None
    since: float | None = None  # seconds since the epoch


ALL_ROWS = RowFilter()


@functools.cache
def insert(count: int) -> str:
    """The statement that takes the values of so many rows, one row's after the other's.

    The first row of an event stays, so that writing one once more after a doubtful commit is harmless.
    """
    one = f"({', '.join('?' * len(COLUMNS))})"
    return f"INSERT INTO journal ({', '.join(COLUMNS)}) VALUES {', '.join([one] * count)} ON CONFLICT (id) DO NOTHING"


def values(record: Record) -> tuple[object, ...]:
    """What `insert` takes for it. Raises TypeError, ValueError or RecursionError for what JSON cannot hold."""
    found: list[object] = []
    for name in COLUMNS:
        value = getattr(record, name)
        if name in OBJECTS:
            value = _encode(value) if value else EMPTY[name]
        elif name == "payload" and len(value) > PAYLOAD_LIMIT // 4:  # four bytes a character, at most
            value = truncate(value)
        elif name == "verdict":
            value = int(value)
        found.append(_clean(value) if isinstance(value, str) and not value.isascii() else value)
    return tuple(found)


def record(row: sqlite3.Row) -> Record:
    named: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    for name in LISTS:  # most are empty, and a page is many rows
        named[name] = () if named[name] == "[]" else tuple(json.loads(named[name]))
    named["verdict"] = Verdict(named["verdict"])
    named["answer"] = {} if named["answer"] == "{}" else json.loads(named["answer"])
    named["offline"], named["test"] = bool(named["offline"]), bool(named["test"])
    return Record(**named)


def answer(row: sqlite3.Row) -> Answer | None:
    """The very bytes that the agent got, or None when the row does not hold them (masked, shortened, none given)."""
    words = json.loads(row["answer"])
    if not {"stdout", "stderr", "code"} <= words.keys() or not words.get("exact", True):
        return None
    return Answer(stdout=_bytes(words["stdout"]), stderr=_bytes(words["stderr"]), code=words["code"])


def query(limit: int, row_filter: RowFilter, *, brief: bool = False) -> tuple[str, dict[str, object]]:
    """The newest rows that fit. Ordered by seq and never by time: a wall clock may jump back."""
    named = {name: getattr(row_filter, name) for name in CONDITIONS if name != "kind"}
    wanted = {name: value for name, value in named.items() if value not in (None, "")}
    if wanted.get("event") in KINDS:
        wanted["kind"] = wanted.pop("event")
    where = " AND ".join(f"({CONDITIONS[name]})" for name in wanted)
    if "text" in wanted:
        wanted["text"] = f"%{_literal(str(wanted['text']))}%"
    found = f"{BRIEF if brief else SELECT}{f' WHERE {where}' if where else ''}"
    return f"{found} ORDER BY seq DESC LIMIT :limit", wanted | {"limit": limit}


def truncate(payload: str) -> str:
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


def _literal(text: str) -> str:
    for char in "\\%_":
        text = text.replace(char, f"\\{char}")
    return _clean(text)
