"""The database file: opens it safely, creates its tables, and makes connections to read and to write.

A connection belongs to the thread that opened it and is short-lived; only the journal's writer keeps one, and the
running tray one that it does not use.

Only SQLite opens the file. POSIX drops every lock that a process has on a file as soon as the process closes any
descriptor of it: if code of ours read the header, the next command would delete the log that the tray still writes.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import get_ident

import msgspec

from tray.clock import Clock
from tray.errors import MAKE_ROOM, StoreError, store_error
from tray.files import Identity, identity, is_disk_full
from tray.paths import WRITABLE
from tray.store import set_aside
from tray.store.checkpoint import delete_checkpoints, has_approvals
from tray.store.schema import SCHEMA, VERSION

BUSY_TIMEOUT = 5.0  # seconds that a statement waits for another process's transaction
OFFLINE_BUSY_TIMEOUT = (
    1.0  # of the one-shot engine: an agent waits, and the guards of the relay's table need no database
)
CREATE_TIMEOUT = 1.0  # seconds that a new database may take until its tables are there
MAX_VERSION = 10_000  # from here on, a damaged header rather than another version of Hooktray
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
NEEDS_WRITING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)  # a crash left something that SQLite has to mend

# Python cannot say what SQLite complains of when the damaged word itself is in the complaint.
UNREADABLE_TEXT = "the tables' descriptions cannot be read"
DAMAGE_HINT = "a running tray sets the file aside and begins a new one; else start it, `hooktray run`"
SET_ASIDE_HINT = "start the tray, `hooktray run`: it sets the file aside and begins a new one"
DAMAGE_KEY = "damage"  # row of `meta` until the user has seen the loss: the name of the file set aside, or ""
LOST_KEY = "lost.guards"  # row of `meta` until the user has reviewed what was lost (lost_guards.py)
CHECKED_TABLES = ("ledger", "switch", "pause")  # read through at every start: small, and the gates rest on them


class Damaged(Exception):  # noqa: N818 - never leaves this module
    """The file is damaged or of another version. `kind` becomes a part of its name when it is set aside."""

    kind = "damaged"


class OtherVersion(Damaged):
    """Another version of Hooktray created the tables."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the database has version {version}, this Hooktray needs {VERSION}")
        self.kind = f"version{version}"


class LostError(StoreError):
    """The database is missing, damaged or of another version."""


class MovedError(sqlite3.OperationalError):
    """The file at the path is not the one that the tray opened."""


class Database(msgspec.Struct):
    """An opened database. `damaged` is the path of the file that was set aside for it, or None."""

    path: Path
    damaged: Path | None = None  # set aside by this very opening; `damage` returns it until the user has seen it
    pragmas: tuple[str, ...] = ()  # further ones for every connection, such as "max_page_count = 50"
    busy: float = BUSY_TIMEOUT  # seconds, unless a caller gives another
    file: Identity | None = None  # the running tray opens no other file at the path; None = any
    _reader: sqlite3.Connection | None = None  # of a process for one event, for the thread that opened it
    _reader_thread: int = 0

    @property
    def is_marked_damaged(self) -> bool:
        """Whether any process found damage in the file that is at the path now."""
        return set_aside.is_marked(self.path)

    @property
    def is_damaged(self) -> bool:
        """Whether SQLite finds damage in what the gates rest on, or any process found some; marks the file."""
        if self.is_marked_damaged:
            return True
        try:
            with self.connect() as connection:
                _check_header(self.path, connection)
                _quick_check(connection)
        except (Damaged, LostError):
            self.mark_damaged()
            return True
        except StoreError:
            return False
        return False

    def require_writable(self) -> None:
        """Raises StoreError if no row can be written. Another process may be writing one."""
        with self.connect() as connection:
            _try_writing(connection)

    def damage(self) -> str | None:
        """Returns the name of the file set aside, "" if none was left; None if the user has seen the loss."""
        with self.connect() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (DAMAGE_KEY,)).fetchone()
        return None if row is None else Path(str(row["value"])).name

    def acknowledge_damage(self) -> None:
        with self.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (DAMAGE_KEY,))

    def open(self, *, busy: float | None = None, mode: str = "rw") -> sqlite3.Connection:
        """A connection for the calling thread, in autocommit; its opener closes it. Raises sqlite3.Error."""
        if self.file is not None and identity(self.path) != self.file:
            raise MovedError("the file was deleted, moved or replaced")
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=self.busy if busy is None else busy, isolation_level=None)
        connection.row_factory = sqlite3.Row
        pragmas = ("synchronous = NORMAL", "foreign_keys = ON", "journal_size_limit = 16777216", *self.pragmas)
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def hold_open(self) -> sqlite3.Connection:
        """Returns a connection that any thread may close. Raises sqlite3.Error.

        While it is open, the log's files are there: on a full disk nobody could make them, not even to read.
        """
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection

    def open_reader(self) -> None:
        """From here on this thread reads with one connection, until `close_reader`. Raises sqlite3.Error."""
        self._reader, self._reader_thread = self.open(), get_ident()

    def close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    @contextmanager
    def connect(self, *, busy: float | None = None) -> Iterator[sqlite3.Connection]:
        """A connection to read with, closed afterwards unless it is the reader's."""
        reader = self._reader if busy is None and self._reader_thread == get_ident() else None
        try:
            with nullcontext(reader) if reader else closing(self.open(busy=busy)) as connection:
                yield connection
        except sqlite3.Error as e:
            if is_damage(e):
                self.mark_damaged()
            raise database_error(self.path, e) from e
        except UnicodeDecodeError as e:
            self.mark_damaged()
            raise LostError(f"{self.path}: {UNREADABLE_TEXT}", hint=DAMAGE_HINT) from e

    @contextmanager
    def write(self, *, durable: bool = False, busy: float | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction that is the only writer. `durable` = on the disk, not only safe from a crash of ours."""
        with self.connect(busy=self.busy if busy is None else busy) as connection:  # never the reader's
            if durable:
                connection.execute("PRAGMA synchronous = FULL")
            with transaction(connection):
                yield connection

    def mark_damaged(self) -> None:
        """Have the running tray, else the next one, set the file aside."""
        with suppress(OSError):
            set_aside.mark(self.path)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """BEGIN IMMEDIATE … COMMIT, or ROLLBACK when anything went wrong."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself after a full disk
            connection.execute("ROLLBACK")
        raise


def is_damage(error: sqlite3.Error) -> bool:
    return _primary_code(error) in DAMAGE


def open_db(path: Path, *, create: bool | None = None, busy: float = BUSY_TIMEOUT, clock: Clock = time) -> Database:
    """Returns the opened database. Raises StoreError. `busy` (seconds) applies only without `create`.

    With `create` (the tray), it creates a missing database and sets aside a damaged one or one of another version. If
    `create` is False (the one-shot engine), the database must exist, be undamaged and be of this version. If it is
    None (most commands), a missing database is created, and an existing one must be undamaged and of this version.
    """
    if create is None:
        create = not path.exists()
    _check_file(path, may_be_missing=create)
    with _store_errors(path):
        if not create:
            return _existing(path, busy)
        try:
            return _current(path)
        except Damaged as e:
            return begin_anew(path, e.kind, clock)


def begin_anew(path: Path, kind: str, clock: Clock = time) -> Database:
    """Sets aside what is at the path and creates an empty database. Raises StoreError.

    `kind`, the reason, becomes a part of the name of the file that is kept.
    """
    with _store_errors(path):
        kept = set_aside.set_aside(path, clock.time(), kind)
        database = _current(path, kept.name if kept else "")
        database.damaged = kept
        return database


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as e:
        raise database_error(path, e) from e
    except OSError as e:
        raise store_error(path, e) from e


def _existing(path: Path, busy: float) -> Database:
    database = Database(path, busy=busy)
    try:
        with _read_connection(database, "ro") as connection:
            until = time.monotonic() + CREATE_TIMEOUT  # a tray may just be making it
            while not (version := _version(path, connection)) and time.monotonic() < until:
                time.sleep(0.01)
            if not version:
                raise LostError(f"{path}: the database has no tables yet", hint="start the tray once: `hooktray run`")
            _check(connection)
    except OtherVersion as e:
        raise LostError(f"{path}: {e}", hint=SET_ASIDE_HINT) from e
    except Damaged as e:
        raise LostError(f"{path}: the database is damaged ({e})", hint=SET_ASIDE_HINT) from e
    return database


def _current(path: Path, quarantined: str | None = None) -> Database:
    """Returns the database, created if it is missing. `quarantined` is the name of the file that was set aside."""
    if not path.exists():  # SQLite makes a private file, and the log beside it gets the same mode
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=rwc", uri=True).close()
    path.chmod(0o600)
    database = Database(path)
    _check_tables(database)
    try:
        with _read_connection(database) as connection:
            if not _version(path, connection):
                if has_approvals(path.parent):  # the file is gone, or was emptied
                    quarantined = quarantined or ""
                    delete_checkpoints(path.parent)
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before the tables, else it stays off
            # Before WAL: while a one-shot engine waits for the tables, they would stay in the log, out of the header.
            _make_tables(path, connection, quarantined)
            connection.execute("PRAGMA journal_mode = WAL")
            _check(connection)
            _try_writing(connection)
    except sqlite3.OperationalError as e:
        # If the header requires a later version for writing, SQLite opens the file only to read. A read-only file or
        # disk looks the same, but the system reports that, too; all other causes have codes of their own.
        if getattr(e, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK):
            raise Damaged(str(e)) from e
        raise
    return database


def _check_tables(database: Database) -> None:
    """Raises Damaged. A connection that could write would take the log of a damaged file in and delete it."""
    try:
        with _read_connection(database, "ro") as connection:
            if _version(database.path, connection):
                _check(connection)
    except sqlite3.OperationalError as e:
        if _primary_code(e) not in NEEDS_WRITING:
            raise


@contextmanager
def _read_connection(database: Database, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    if database.is_marked_damaged:
        raise Damaged("found while it was in use")
    try:
        with closing(_open_readable(database, mode)) as connection:
            yield connection
    except sqlite3.DatabaseError as e:
        if is_damage(e):
            raise Damaged(str(e)) from e
        raise
    except UnicodeDecodeError as e:
        raise Damaged(UNREADABLE_TEXT) from e


def _open_readable(database: Database, mode: str) -> sqlite3.Connection:
    """A connection that has read what describes the tables.

    SQLite has no code of its own for a header that asks for a later format. These statements are correct, so a plain
    SQLITE_ERROR comes from the file.
    """
    connection: sqlite3.Connection | None = None
    try:
        connection = database.open(mode=mode)
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.DatabaseError as e:
        if connection is not None:
            connection.close()
        if getattr(e, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR:
            raise Damaged(str(e)) from e
        raise
    except UnicodeDecodeError:
        if connection is not None:
            connection.close()
        raise
    return connection


def _version(path: Path, connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 0 <= version < MAX_VERSION:
        raise Damaged(f"version {version}")
    if version not in (0, VERSION):
        raise OtherVersion(version)
    if not version and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path}: a database, but not one of ours", hint="move it away, or choose another folder")
    return version


def _make_tables(path: Path, connection: sqlite3.Connection, quarantined: str | None) -> None:
    if _version(path, connection):
        return  # no lock is needed to find that out
    with transaction(connection):
        if _version(path, connection):
            return  # another process has created them meanwhile
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        if quarantined is not None:
            rows = ((DAMAGE_KEY, quarantined), (LOST_KEY, None))
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _check(connection: sqlite3.Connection) -> None:
    _quick_check(connection)
    connection.execute("SELECT * FROM journal ORDER BY seq DESC LIMIT 50").fetchall()  # too large to read through


def _quick_check(connection: sqlite3.Connection) -> None:
    for table in CHECKED_TABLES:
        result = connection.execute(f"PRAGMA quick_check({table})").fetchone()[0]
        if result != "ok":
            raise Damaged(f"{table}: {result}")


def _check_header(path: Path, connection: sqlite3.Connection) -> None:
    """Raises Damaged if the file, without its log, has another header or is shorter than its header requires.

    While a process moves the log into the file, or if it was killed then, the file is not whole: only what is left
    after the whole log was moved is damage.
    """
    if _is_whole(path):
        return
    try:
        is_busy, frames, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.OperationalError as e:
        if _primary_code(e) == sqlite3.SQLITE_IOERR:  # its log is gone as well
            raise Damaged(str(e)) from e
        raise
    if not is_busy and frames == moved and not _is_whole(path):
        raise Damaged("its header is not whole")


def _is_whole(path: Path) -> bool:
    """False if SQLite finds damage in the file alone, whatever its log contains."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    except sqlite3.DatabaseError as e:
        return not is_damage(e)


def _try_writing(connection: sqlite3.Connection) -> None:
    """Runs a statement that takes the lock for writing and changes nothing. Raises sqlite3.Error."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("DELETE FROM meta WHERE 0")
    except sqlite3.OperationalError as e:
        if _primary_code(e) != sqlite3.SQLITE_BUSY:  # another process writes: it can be done
            raise


def _check_file(path: Path, *, may_be_missing: bool) -> None:
    """Refuse to open what someone else could have put there."""
    _reject_file(path.parent, stat.S_IFDIR, "a folder", open_to=0o022)  # others may read it: the tray closes it again
    if path.is_symlink() or path.exists():
        _reject_file(path, stat.S_IFREG, "a file")
    elif not may_be_missing:
        raise LostError(f"{path}: there is no database yet", hint="start the tray once: `hooktray run`")


def _reject_file(path: Path, file_type: int, kind: str, *, open_to: int = 0) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError as e:
        raise LostError(f"{path}: {e.strerror}", hint="start the tray once: `hooktray run`") from e
    except OSError as e:
        raise StoreError(f"{path}: {e.strerror}", hint="it must be there, and ours to read") from e
    if stat.S_IFMT(status.st_mode) != file_type:
        raise StoreError(f"{path}: expected {kind}, not a link or anything else", hint="move it away and start again")
    if sys.platform == "win32":
        return
    if status.st_uid != os.getuid():
        raise StoreError(
            f"{path}: belongs to user {status.st_uid}", hint="it must belong to the user that runs Hooktray"
        )
    if status.st_mode & open_to:
        raise StoreError(f"{path}: others can look into it", hint=f"close it: chmod 700 {shlex.quote(str(path))}")


def _primary_code(error: sqlite3.Error) -> int:
    """Returns SQLite's result code without the upper bits, which only say which kind; 0 if the error has none."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def database_error(path: Path, error: sqlite3.Error) -> StoreError:
    if is_damage(error):
        return LostError(f"{path}: {error}", hint=DAMAGE_HINT)
    if isinstance(error, MovedError):
        return StoreError(f"{path}: {error}", hint="the tray begins a new one; try again in a moment")
    for place in (path.parent, path):
        if os.path.exists(place) and not os.access(place, os.W_OK):  # noqa: PTH110 - Path raises where none may look
            return StoreError(f"{path}: {error}: {place} is read-only", hint=WRITABLE)
    code = _primary_code(error)
    if code == sqlite3.SQLITE_FULL or is_disk_full(path.parent):  # SQLite may report an I/O error
        return StoreError(f"{path}: the disk of {path.parent} is full", hint=MAKE_ROOM)
    is_busy = code == sqlite3.SQLITE_BUSY
    hint = "end the program that keeps it open, and try again" if is_busy else "check the disk and what uses the file"
    return StoreError(f"{path}: {error}", hint=hint)
