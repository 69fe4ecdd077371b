"""What is remembered of a session until it ends: marks, counts, and what hooks returned too late for their event.

The tray and the one-shot engine share it through the disk, so that each of them sees what the other one marked. A
session is kept under a digest of its name; an event that names no session is never remembered.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tray.clock import Clock
from tray.errors import StoreError
from tray.model.place import place_fields, place_from_fields
from tray.model.session import Session, SessionState
from tray.store.db import Database
from tray.text import redact

BUSY_TIMEOUT = 0.05  # seconds; an agent waits for the answer that waits for this
DAY = 86_400.0
CHANGE_FILE = "sessions.changes"  # beside the database
MAX_NOTES = 20  # of one session that wait; older ones are dropped
NOTE_LIMIT = 10_000  # characters of one
INCREMENT = (
    "INSERT INTO session_mark VALUES (?, ?, ?, 1, ?)"
    " ON CONFLICT (session, name) DO UPDATE SET count = count + 1, at = excluded.at"
)
SELECT_COUNT = "SELECT count FROM session_mark WHERE session = ? AND name = ?"
SELECT_NOTES = "SELECT seq, hook, text, wake FROM session_note WHERE session = ? AND wake >= ? ORDER BY seq"
DROP_OLDEST = (
    "DELETE FROM session_note WHERE session = ? AND seq NOT IN"
    " (SELECT seq FROM session_note WHERE session = ? ORDER BY seq DESC LIMIT ?)"
)
COLUMNS = ("agent", "session", "project", "name", "since", "machine", "usage_limit", "state", "ended")
UPSERT = (
    "INSERT INTO session VALUES"
    " (:agent, :session, :project, :name, :state, :since, :machine, :ended, :place, :usage_limit)"
    " ON CONFLICT (agent, session) DO UPDATE SET project = excluded.project, name = excluded.name,"
    " state = excluded.state, since = excluded.since, machine = excluded.machine,"
    " ended = excluded.ended, place = excluded.place, usage_limit = excluded.usage_limit"
)
CHANGE_FILE_LIMIT = 1 << 20  # bytes; then it begins anew
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # whatever is there delays no caller
NO_STAMP = (0, 0, 0)

Stamp = tuple[int, int, int]  # inode, bytes, nanoseconds of the last change
log = logging.getLogger(__name__)


class SessionNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook returned after its event had been answered. `wake`: it wants the agent to go on because of it."""

    hook: str
    text: str
    wake: bool = False


class Sessions:
    """Asks the database only for sessions that have something there: most events cost a look at one open file.

    All methods may be called from any thread and raise StoreError.
    """

    def __init__(self, database: Database, clock: Clock = time) -> None:
        self._database = database
        self._clock = clock
        self._changes = ChangeFile(database.path.with_name(CHANGE_FILE))
        self._last_stamp: Stamp | None = None
        self._with_entries: set[str] = set()  # of these something may be remembered
        self._with_notes: set[str] = set()  # for these a note may wait

    @property
    def empty(self) -> bool:
        """Whether nothing is remembered of any session; False while that is not known. Asked at each event."""
        if self._changes.stamp() != self._last_stamp:
            try:
                self._refresh()
            except StoreError:
                return False
        return not self._with_entries

    def reopen(self) -> None:
        """The folder is another one now: look for changes there."""
        self._changes = ChangeFile(self._database.path.with_name(CHANGE_FILE))
        self._last_stamp = None

    # ---- marks: a thing has happened in this session, or in this turn of it

    def mark(self, agent: str, session: str, name: str, *, turn: bool = False) -> bool:
        """True for the one caller whose mark it is, False when it was there; always True without a session.

        With `turn`, it goes with the turn, else with the session.
        """
        return not session or self.increment(agent, session, name, turn=turn) == 1

    def unmark(self, agent: str, session: str, name: str) -> None:
        """Forget a mark, or begin a count anew."""
        key = _key(agent, session)
        self._refresh()
        if key in self._with_entries:
            with self._write(key) as connection:
                connection.execute("DELETE FROM session_mark WHERE session = ? AND name = ?", (key, name))

    def marked(self, agent: str, session: str, name: str) -> bool:
        return name in self.marks(agent, session)

    def marks(self, agent: str, session: str) -> frozenset[str]:
        """The names of all marks and counts of this session."""
        key = _key(agent, session)
        self._refresh()
        if key not in self._with_entries:
            return frozenset()
        with self._database.connect() as connection:
            found = connection.execute("SELECT name FROM session_mark WHERE session = ?", (key,)).fetchall()
        return frozenset(row[0] for row in found)

    def increment(self, agent: str, session: str, name: str, *, turn: bool = False) -> int:
        """Count it once more: 1 the first time; always 0 without a session."""
        if not session:
            return 0
        key = _key(agent, session)
        with self._write(key) as connection:
            connection.execute(INCREMENT, (key, name, int(turn), self._clock.time()))
            number: int = connection.execute(SELECT_COUNT, (key, name)).fetchone()[0]
        return number

    # ---- notes: output that came too late, for a later event

    def add_note(self, agent: str, session: str, note: SessionNote) -> None:
        """Keep it for a later event of this session, redacted as all that the disk holds."""
        if not session:
            return
        key, text = _key(agent, session), redact(note.text[: 2 * NOTE_LIMIT]).text[:NOTE_LIMIT]
        with self._write(key) as connection:
            self._with_notes.add(key)
            connection.execute(
                "INSERT INTO session_note(session, hook, text, wake, at) VALUES (?, ?, ?, ?, ?)",
                (key, note.hook, text, int(note.wake), self._clock.time()),
            )
            connection.execute(DROP_OLDEST, (key, key, MAX_NOTES))

    def take_notes(self, agent: str, session: str, *, wake: bool = False) -> tuple[SessionNote, ...]:
        """What was left for this session, oldest first, to exactly one caller; `wake` = only what wakes."""
        key = _key(agent, session)
        self._refresh()
        if key not in self._with_notes:
            return ()
        with self._write(key) as connection:
            found = connection.execute(SELECT_NOTES, (key, int(wake))).fetchall()
            connection.executemany("DELETE FROM session_note WHERE seq = ?", [(row["seq"],) for row in found])
            if connection.execute(SELECT_NOTES, (key, 0)).fetchone() is None:
                self._with_notes.discard(key)  # while no other process can write
        return tuple(SessionNote(hook=row["hook"], text=row["text"], wake=bool(row["wake"])) for row in found)

    # ---- the end

    def clear(self, agent: str, session: str, *, turn: bool = False) -> None:
        """Forget the session, or with `turn` only what belongs to the turn that has ended."""
        key = _key(agent, session)
        self._refresh()
        if key not in self._with_entries:
            return
        with self._write(key) as connection:
            connection.execute("DELETE FROM session_mark WHERE session = ? AND turn >= ?", (key, int(turn)))
            if not turn:
                connection.execute("DELETE FROM session_note WHERE session = ?", (key,))
                self._with_entries.discard(key)
                self._with_notes.discard(key)

    def prune(self, days: float) -> None:
        """Forget what is older: a session whose end was never announced."""
        with self._database.write() as connection:
            for table in ("session_mark", "session_note"):
                connection.execute(f"DELETE FROM {table} WHERE at < ?", (self._clock.time() - days * DAY,))
            self._with_entries, self._with_notes = _sessions(connection)  # while no other process can write

    def _refresh(self) -> None:
        """See what was changed since we last looked, by whomever; what others forgot we go on looking for."""
        stamp = self._changes.stamp()
        if stamp == self._last_stamp:
            return
        with self._database.connect(busy=BUSY_TIMEOUT) as connection:
            known, noted = _sessions(connection)
        self._with_entries |= known
        self._with_notes |= noted
        self._last_stamp = stamp  # as it was before: a change that came meanwhile is looked for again

    @contextmanager
    def _write(self, key: str) -> Iterator[sqlite3.Connection]:
        try:
            with self._database.write(busy=BUSY_TIMEOUT) as connection:
                self._with_entries.add(key)
                yield connection
        except BaseException:  # what is there now is not sure
            self._with_entries.add(key)
            self._with_notes.add(key)
            raise
        finally:
            self._changes.mark_changed()


def _sessions(connection: sqlite3.Connection) -> tuple[set[str], set[str]]:
    """Those with anything, and those with a note."""
    noted = {row[0] for row in connection.execute("SELECT session FROM session_note")}
    return noted | {row[0] for row in connection.execute("SELECT session FROM session_mark")}, noted


def _key(agent: str, session: str) -> str:
    """Names of sessions are the agent's text: of any length, and perhaps not for the disk."""
    return hashlib.sha256(f"{agent}\0{session}".encode(errors="surrogatepass")).hexdigest()


class ChangeFile:
    """A file that grows by a byte with each change: its stamp shows whether anybody changed something.

    All methods may be called from any thread and raise nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: _File | None = None
        self._opening = threading.Lock()

    def stamp(self) -> Stamp:
        """Another one after each change. The file stays open: to walk down its path takes 40 µs of an event."""
        try:
            file = self._file or self._open()
            status = os.fstat(file.number)
            if not status.st_nlink:  # taken away: the next change makes another one
                status = os.fstat(self._open().number)
        except OSError:  # a link, or a disk that is full or only to be read
            try:
                status = self._path.lstat()
            except OSError:
                return NO_STAMP
        return (status.st_ino, status.st_size, status.st_mtime_ns)

    def mark_changed(self) -> None:
        """Best effort: without room for a byte, or without a file, its time shows the change."""
        try:
            file = _File(self._path, os.O_WRONLY | os.O_APPEND)
            status = os.fstat(file.number)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a file")
            if is_large := status.st_size >= CHANGE_FILE_LIMIT:
                os.ftruncate(file.number, 0)
            os.write(file.number, b".")
            if is_large:  # so may it have been for another one, which leaves it with the same size
                _touch(file.number if os.utime in os.supports_fd else self._path)
        except OSError:
            try:
                _touch(self._path)
            except OSError as error:
                log.warning("%s: other processes do not see what was changed now: %s", self._path, error)

    def _open(self) -> _File:
        with self._opening:
            self._file = _File(self._path, os.O_RDWR)  # an overlay shows a reader the file of before
            return self._file


class _File:
    """Open as long as a thread has it: another one may be looking at it when a new one takes its place."""

    number = -1

    def __init__(self, path: Path, mode: int) -> None:
        self.number = os.open(path, mode | os.O_CREAT | SAFE_FLAGS, 0o600)

    def __del__(self) -> None:
        if self.number >= 0:
            os.close(self.number)


def _touch(path: Path | int) -> None:
    now = time.time_ns()  # the kernel's own clock for files is milliseconds late
    if isinstance(path, int) or os.utime not in os.supports_follow_symlinks:
        os.utime(path, ns=(now, now))
    else:
        os.utime(path, ns=(now, now), follow_symlinks=False)


class SessionRows:
    """The sessions that the user sees: what each does and where it runs. The tray writes them; commands read them.

    One thread writes. All methods raise StoreError.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[Session, ...]:
        with self._database.connect() as connection:
            found = connection.execute("SELECT * FROM session").fetchall()
        return tuple(_session(row) for row in found)

    def put(self, session: Session) -> None:
        with self._database.write() as connection:
            place = json.dumps(place_fields(session.place))
            values = {name: getattr(session, name) for name in COLUMNS}
            connection.execute(UPSERT, values | {"place": place})

    def remove(self, sessions: Iterable[Session]) -> None:
        keys = [(one.agent, one.session) for one in sessions]
        with self._database.write() as connection:
            connection.executemany("DELETE FROM session WHERE agent = ? AND session = ?", keys)


def _session(row: sqlite3.Row) -> Session:
    try:
        place = json.loads(row["place"])
        state = SessionState(row["state"])
    except ValueError:
        place, state = {}, SessionState.DONE
    fields = {name: row[name] for name in COLUMNS} | {"state": state, "ended": bool(row["ended"])}
    return Session(**fields, place=place_from_fields(place if isinstance(place, dict) else {}))
