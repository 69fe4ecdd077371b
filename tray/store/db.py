"""The database file: opening it safely, its tables and migrations, and connections to read and to write.

A connection belongs to the thread that opened it and is short-lived; only the journal's writer keeps one.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tray.errors import StoreError
from tray.files import Identity, identity
from tray.paths import WRITABLE
from tray.store.migrations import MIGRATIONS, VERSION

BUSY = 5.0  # seconds that a statement waits for another process's transaction
BORN = 1.0  # seconds that a new database may take until its tables are there
PLAUSIBLE = 10_000  # a version beyond this is a damaged header, not a newer Hooktray
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

# Python cannot say what SQLite complains of when the damaged word itself is in the complaint.
ILLEGIBLE = "the tables' descriptions cannot be read"
AGAIN = "start the tray again: it sets a damaged file aside"
GUARDED = ("ledger", "switch", "pause")  # read through at every start: small, and the gates rest on them


class Damaged(Exception):  # noqa: N818 - never leaves this module
    """The file is not a database any more."""


class MovedError(sqlite3.OperationalError):
    """The file at the path is not the one that the tray opened."""


class Pin:
    """Which file the running tray opened: it never reads or writes another one that was put in its place."""

    def __init__(self) -> None:
        self.file: Identity | None = None  # None = whichever is there


@dataclass(frozen=True, slots=True)
class Database:
    """An opened database. `damaged` is where a broken predecessor was put: whatever it held is gone from here."""

    path: Path
    damaged: Path | None = None
    pragmas: tuple[str, ...] = ()  # further ones for every connection, such as "max_page_count = 50"
    pin: Pin = field(default_factory=Pin, compare=False, repr=False)

    def open(self, *, busy: float = BUSY) -> sqlite3.Connection:
        """A connection for the calling thread, in autocommit; who opens it closes it. Raises sqlite3.Error."""
        if self.pin.file is not None and identity(self.path) != self.pin.file:
            raise MovedError("the file was deleted, moved or replaced")
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, timeout=busy, isolation_level=None)
        connection.row_factory = sqlite3.Row
        try:
            for pragma in (
                "synchronous = NORMAL",
                "foreign_keys = ON",
                "journal_size_limit = 16777216",
                *self.pragmas,
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def connect(self, *, busy: float = BUSY) -> Iterator[sqlite3.Connection]:
        """A connection to read with, closed afterwards."""
        try:
            with closing(self.open(busy=busy)) as connection:
                yield connection
        except sqlite3.Error as e:
            if is_damage(e):
                self.condemn()
            raise _store_error(self.path, e) from e
        except UnicodeDecodeError as e:
            self.condemn()
            raise StoreError(f"{self.path}: {ILLEGIBLE}", hint=AGAIN) from e

    @contextmanager
    def write(self, *, durable: bool = False, busy: float = BUSY) -> Iterator[sqlite3.Connection]:
        """One transaction that is the only writer. `durable` = on the disk, not only safe from a crash of ours."""
        with self.connect(busy=busy) as connection:
            if durable:
                connection.execute("PRAGMA synchronous = FULL")
            with transaction(connection):
                yield connection

    def condemn(self) -> None:
        """Have the file set aside at the next start: it turned out damaged while others were using it."""
        with suppress(OSError):
            _mark(self.path).touch(mode=0o600)


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
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in DAMAGE  # the upper bits only say which kind


def open_db(path: Path, *, migrate: bool, clock: Callable[[], float] = time.time) -> Database:
    """Open the database, or say in a StoreError why not.

    With `migrate` (the tray) it is made, brought up to date and, when damaged, set aside for a new one. Without
    (the one-shot engine and reading commands) it must be there, whole and of our version.
    """
    _guard(path, may_be_missing=migrate)
    try:
        if not migrate:
            return _existing(path)
        try:
            return _current(path)
        except Damaged:
            aside = _set_aside(path, clock())
            return replace(_current(path), damaged=aside)
    except sqlite3.Error as e:
        raise _store_error(path, e) from e
    except OSError as e:
        raise StoreError(f"{path}: {e.strerror}", hint="check the folder's permissions and the free space") from e


def _existing(path: Path) -> Database:
    database = Database(path)
    try:
        with _reading(database) as connection:
            version = _settled(path, connection)
            if version != VERSION:
                raise StoreError(
                    f"{path}: the database has version {version}, this Hooktray needs {VERSION}",
                    hint="start the tray once, `hooktray run`: it brings the database up to date",
                )
            _check(connection)
    except Damaged as e:
        raise StoreError(
            f"{path}: the database is damaged ({e})",
            hint="start the tray, `hooktray run`: it sets the file aside and begins a new one",
        ) from e
    return database


def _current(path: Path) -> Database:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    path.chmod(0o600)
    database = Database(path)
    with _reading(database) as connection:
        _version(path, connection)  # a newer one is refused before anything is written
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before WAL, else it silently stays off
        connection.execute("PRAGMA journal_mode = WAL")
        _migrate(path, connection)
        _check(connection)
    return database


@contextmanager
def _reading(database: Database) -> Iterator[sqlite3.Connection]:
    if _mark(database.path).exists():
        raise Damaged("found while it was in use")
    if _is_header_broken(database.path):
        raise Damaged("the file does not begin like a database")
    try:
        with closing(database.open()) as connection:
            yield connection
    except sqlite3.DatabaseError as e:
        if is_damage(e):
            raise Damaged(str(e)) from e
        raise
    except UnicodeDecodeError as e:
        raise Damaged(ILLEGIBLE) from e


def _settled(path: Path, connection: sqlite3.Connection) -> int:
    """The version; a database that a tray is just making has none yet, and gets the time to have one."""
    until = time.monotonic() + BORN
    while (version := _version(path, connection)) == 0 and time.monotonic() < until:
        time.sleep(0.01)
    return version


def _version(path: Path, connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 0 <= version < PLAUSIBLE:
        raise Damaged(f"version {version}")
    if version > VERSION:
        raise StoreError(
            f"{path}: the database has version {version}, newer than the {VERSION} that this Hooktray knows",
            hint="update Hooktray, or move the file away to begin a new one without the approvals in it",
        )
    if not version and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path}: a database, but not one of ours", hint="move it away, or choose another folder")
    return version


def _migrate(path: Path, connection: sqlite3.Connection) -> None:
    if _version(path, connection) == VERSION:
        return  # no lock is needed to find that out
    with transaction(connection):
        for script in MIGRATIONS[_version(path, connection) :]:
            for statement in script.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _check(connection: sqlite3.Connection) -> None:
    for table in GUARDED:
        word = connection.execute(f"PRAGMA quick_check({table})").fetchone()[0]
        if word != "ok":
            raise Damaged(f"{table}: {word}")
    connection.execute("SELECT * FROM journal ORDER BY seq DESC LIMIT 50").fetchall()  # too large to read through


def _is_header_broken(path: Path) -> bool:
    """SQLite takes some broken headers for a read-only or a future file, which would be refused for ever."""
    with path.open("rb") as file:
        header = file.read(100)
    if not header:
        return False  # a new file
    schema_format = int.from_bytes(header[44:48], "big")
    return header[:16] != b"SQLite format 3\0" or not set(header[18:20]) <= {1, 2} or schema_format > 4


def _set_aside(path: Path, now: float) -> Path:
    name = f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}"
    aside = path.with_name(name)
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{name}-{number}")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.replace(aside.with_name(aside.name + suffix))
    _mark(path).unlink(missing_ok=True)
    return aside


def _mark(path: Path) -> Path:
    return path.with_name(path.name + ".bad")


def _guard(path: Path, *, may_be_missing: bool) -> None:
    """Refuse to open what someone else could have put there."""
    _refuse(path.parent, stat.S_ISDIR, "a folder", open_to=0o022)  # reading is no way in; the tray closes it again
    if path.is_symlink() or path.exists():
        _refuse(path, stat.S_ISREG, "a file")
    elif not may_be_missing:
        raise StoreError(f"{path}: there is no database yet", hint="start the tray once: `hooktray run`")


def _refuse(path: Path, is_kind: Callable[[int], bool], kind: str, *, open_to: int = 0) -> None:
    try:
        status = path.lstat()
    except OSError as e:
        raise StoreError(f"{path}: {e.strerror}", hint="it must be there, and ours to read") from e
    if stat.S_ISLNK(status.st_mode) or not is_kind(status.st_mode):
        raise StoreError(f"{path}: expected {kind}, not a link or anything else", hint="move it away and start again")
    if sys.platform == "win32":
        return
    if status.st_uid != os.getuid():
        raise StoreError(
            f"{path}: belongs to user {status.st_uid}", hint="it must belong to the user that runs Hooktray"
        )
    if status.st_mode & open_to:
        raise StoreError(f"{path}: others can look into it", hint=f"close it: chmod 700 {shlex.quote(str(path))}")


def _store_error(path: Path, error: sqlite3.Error) -> StoreError:
    if is_damage(error):
        return StoreError(f"{path}: {error}", hint=AGAIN)
    if isinstance(error, MovedError):
        return StoreError(f"{path}: {error}", hint="the tray makes it anew; try again in a moment")
    for place in (path.parent, path):
        if os.path.exists(place) and not os.access(place, os.W_OK):  # noqa: PTH110 - Path raises where none may look
            return StoreError(f"{path}: {error}: {place} is read-only", hint=WRITABLE)
    return StoreError(f"{path}: {error}", hint="check the free space, and what else has the file open")
