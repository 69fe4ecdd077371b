"""Reads approvals from outside the ledger: from a database that was set aside or lost, and from an import.

None of them is in force. SQLite reads the file that was set aside without changing it. The file may contain anything,
so the size of its values, the number of its rows and the time to read it are limited.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from tray.lazy_dataclass import dataclass, field
from tray.store.approval_file import Export, is_plain, read_exports, render, write
from tray.store.checkpoint import APPROVALS, read_checkpoint
from tray.store.db import files_set_aside
from tray.store.ledger import CHECKPOINT, EMPTY_HEAD, READ, ApprovedHook, LedgerAction, Row, chain_value, fold
from tray.store.switch import HOOK_OFF

IMPORTED = "imported-approvals.json"  # beside the database
MAX_FILES = 5  # files set aside that are read, the newest
FILE_SECONDS = 3.0  # for one file
MAX_ROWS = 20_000  # of one ledger
MAX_VALUE_SIZE = 1 << 20  # bytes of one value
STEPS = 10_000  # instructions of SQLite between two looks at the clock
TYPES: tuple[tuple[type, ...], ...] = ((int,), (int, float), *((str,),) * 7)
ACTS = frozenset(LedgerAction)
OFF_KEYS = "SELECT key FROM switch WHERE key GLOB ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierApprovals:
    """Approvals from files that were set aside, a lost database or an import. None of them is in force.

    They name what a person approved before, so that the same content can be offered again.
    """

    approved: Mapping[str, ApprovedHook] = field(default_factory=dict)  # by key
    lost: Mapping[str, ApprovedHook] = field(default_factory=dict)  # of these, what was approved here
    files: tuple[str, ...] = ()  # where they come from, for people
    partial: bool = False  # rows are missing: among them may be one that revoked a hook


@dataclass(frozen=True, slots=True)
class _FileApprovals:
    """What one file holds: `decided` are the hooks with any entry in it."""

    approved: Mapping[str, ApprovedHook]
    decided: frozenset[str]
    partial: bool


def read_earlier(database: Path) -> EarlierApprovals:
    """Returns the approvals of a lost database, of files set aside and of an import: the last one of each hook."""
    approved: dict[str, ApprovedHook] = {}
    approved.update(_read_copy(_lost_copy(database)))
    files = files_set_aside(database)[-MAX_FILES:]
    partial = False
    for file in files:
        found = _read_file(file)
        partial = partial or found.partial
        if found.partial:
            approved.update(_read_copy(file.with_name(f"{file.name}.{APPROVALS}")))
        for key in found.decided:
            approved.pop(key, None)
        approved.update(found.approved)
    imported = _read_copy(database.with_name(IMPORTED))
    names = tuple(file.name for file in files)
    return EarlierApprovals(approved={**approved, **imported}, lost=approved, files=names, partial=partial)


def import_approvals(database: Path, exports: Sequence[Export]) -> None:
    """Keep them as proposals, in the place of those that were imported before. Raises StoreError."""
    write(database.with_name(IMPORTED), render(exports, ""))


def keep_lost(database: Path, *, adds: bool) -> None:
    """Keep what was approved last, since rows of the ledger are lost and it will be written anew.

    `adds`: what was kept of an earlier loss stays as well. Raises StoreError.
    """
    last, kept = database.with_name(APPROVALS), _lost_copy(database)
    files = (kept, last) if adds else (last,)
    exports = {one.approved.hook.key: one for file in files for one in read_exports(file)}
    if exports:
        write(kept, render(tuple(exports.values()), ""))


def _lost_copy(database: Path) -> Path:
    """Where the approvals of a database that is gone are kept (checkpoint.py)."""
    return database.with_name(f"{database.name}.gone.{APPROVALS}")


def _read_copy(file: Path) -> Mapping[str, ApprovedHook]:
    """The approvals in a file that Hooktray wrote beside the database; none when it is not there or altered."""
    return {one.approved.hook.key: one.approved for one in read_exports(file)}


def _read_file(file: Path) -> _FileApprovals:
    rows: list[Row] = []
    off: frozenset[str] = frozenset()
    whole = False
    with suppress(sqlite3.Error, OSError), closing(_open(file)) as connection:
        rows, whole = _rows(connection)
        off = _switched_off(connection)
    sound, unbroken = _verified_rows(rows, read_checkpoint(file.with_name(f"{file.name}.{CHECKPOINT}")))
    state = fold(sound, {}, "")
    approved = {
        key: one
        for key, one in state.approved.items()
        if key not in off and (key, one.digest) not in state.denied and is_plain(one.hook)
    }
    decided = frozenset({*state.approved, *state.revoked, *(key for key, _ in state.denied)})
    return _FileApprovals(approved, decided, not (whole and unbroken))


def _open(file: Path) -> sqlite3.Connection:
    """To read only. No lock of ours is on this file, and no other connection of ours."""
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=1.0)
    try:
        end = time.monotonic() + FILE_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_SIZE)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "writable_schema = ON", "mmap_size = 0"):
            # A writable schema lets SQLite pass over what it cannot read there.
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _rows(connection: sqlite3.Connection) -> tuple[list[Row], bool]:
    """The ledger from its beginning to the damage, and from its end back to it; and whether that is all of it."""
    found: dict[int, Row] = {}
    whole = True
    for direction in ("", " DESC"):
        try:
            for raw in connection.execute(f"{READ}{direction} LIMIT {MAX_ROWS + 1}"):
                row = _row(raw)
                if row is not None:
                    found[row[0]] = row
                whole = whole and row is not None
        except sqlite3.Error:
            whole = False
        if whole:
            break
    return [found[seq] for seq in sorted(found)][:MAX_ROWS], whole and len(found) <= MAX_ROWS


def _row(raw: tuple[object, ...]) -> Row | None:
    """The row as Hooktray would have written it; None for any other."""
    if len(raw) != len(TYPES) or not all(isinstance(value, kind) for value, kind in zip(raw, TYPES, strict=True)):
        return None
    seq, at, act, key, digest, definition, position, way, chain = raw
    try:
        place = json.loads(str(position))
    except (ValueError, RecursionError):
        return None
    if act not in ACTS or not isinstance(place, list) or [type(number) for number in place] != [int, int]:
        return None
    return (seq, at, act, key, digest, definition, position, way, chain)  # type: ignore[return-value]


def _verified_rows(rows: Sequence[Row], notes: Sequence[str]) -> tuple[list[Row], bool]:
    """The rows without those that are not as they were written, and whether none is missing.

    Each row is compared with the one before it, if that one can be read, and all rows with the notes kept with the
    file. If the notes are about another ledger, no row counts; no row after the last noted one counts either.
    """
    heads = [head for line in notes if (head := line.split(" "))[0].isdigit() and line != EMPTY_HEAD]
    last = max((int(head[0]) for head in heads), default=0)
    if not all(_matches_checkpoint(row, heads) for row in rows):
        return [], False
    kept: list[Row] = []
    unbroken = True
    before: Row | None = None
    for row in rows:
        is_next = row[0] == (before[0] if before else 0) + 1
        is_link = row[8] == chain_value(before[8] if before else "", row[1:8])
        if (is_link or not is_next) and row[0] <= last:
            kept.append(row)
        unbroken = unbroken and is_link and row[0] <= last
        before = row
    is_last = bool(notes) and (kept[-1][0] if kept else 0) in (0, *(int(head[0]) for head in heads))
    return kept, unbroken and is_last and bool(kept or not heads)


def _matches_checkpoint(row: Row, heads: Sequence[Sequence[str]]) -> bool:
    """Whether the notes do not contradict this row: they name the last row and the link of the first one."""
    ends = [head[1] for head in heads if int(head[0]) == row[0]]
    firsts = [head[2] for head in heads if row[0] == 1 and len(head) > 2]
    return row[8] in (ends or [row[8]]) and row[8] in (firsts or [row[8]])


def _switched_off(connection: sqlite3.Connection) -> frozenset[str]:
    """The hooks that the menu had switched off: they are not offered together with the others."""
    with suppress(sqlite3.Error):
        return frozenset(_keys(connection))
    return frozenset()


def _keys(connection: sqlite3.Connection) -> Iterator[str]:
    for (key,) in connection.execute(f"{OFF_KEYS} LIMIT {MAX_ROWS}", (f"{HOOK_OFF}*",)):
        if isinstance(key, str):
            yield key.removeprefix(HOOK_OFF)
