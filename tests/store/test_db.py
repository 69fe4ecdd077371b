"""Opening the database: it is created, refused with a remedy, or set aside if it is damaged or of another version."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from clock import Clock
from msgspec.structs import replace

from tray.errors import StoreError
from tray.store import db
from tray.store.db import Database, open_db
from tray.store.schema import SCHEMA, VERSION
from tray.store.set_aside import files_set_aside


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder / "hooktray.db"


def set_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def note(database: Database, value: str) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('note', ?)", (value,))


def noted(database: Database) -> list[str]:
    with database.connect() as connection:
        return [row["value"] for row in connection.execute("SELECT value FROM meta WHERE key = 'note'")]


NO_DATABASE = b"not a database at all" * 100


def is_set_aside_once(path: Path) -> bool:
    """True if the tray sets the file aside now, and not a second time."""
    return (open_db(path, create=True).damaged is not None, open_db(path, create=True).damaged) == (True, None)


def test_a_new_database_has_wal_small_vacuum_steps_and_our_version(path: Path) -> None:
    names = ("journal_mode", "auto_vacuum", "user_version", "synchronous", "foreign_keys")
    database = open_db(path, create=True)

    with database.connect() as connection:
        pragmas = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    with database.write(durable=True) as connection:
        durable = connection.execute("PRAGMA synchronous").fetchone()[0]
    assert (pragmas, durable) == (["wal", 2, VERSION, 1, 1], 2)
    assert database.damaged is None


FRAME = 24  # bytes before each page of the log, which itself has 32


def last_page_one(log: bytes) -> bytes:
    """The first page of the database as the log has it last."""
    size = int.from_bytes(log[8:12], "big")
    frames = [log[start : start + FRAME + size] for start in range(32, len(log), FRAME + size)]
    return next(one[FRAME:] for one in reversed(frames) if one[:4] == (1).to_bytes(4, "big"))


def test_a_checkpoint_that_was_cut_off_is_no_damage(path: Path) -> None:
    """The first page is written first, and says that the file is longer than it is yet."""
    database = open_db(path, create=True)
    with closing(database.open()) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("CREATE TABLE big (text)")
        writer.executemany("INSERT INTO big VALUES (?)", [("x" * 3000,)] * 200)
        first_page = last_page_one(path.with_name(f"{path.name}-wal").read_bytes())
        write_first_page = "import sys; open(sys.argv[1], 'r+b').write(sys.stdin.buffer.read())"
        subprocess.run([sys.executable, "-c", write_first_page, path], input=first_page, check=True)

        assert database.is_damaged is False
        assert writer.execute("SELECT count(*) FROM big").fetchone()[0] == 200
    assert database.is_damaged is False


def test_looking_for_damage_drops_no_lock_on_the_file(path: Path) -> None:
    """Else the next process that closes the database takes the log away from under the others."""
    database = open_db(path, create=True)
    with closing(database.open()) as connection:
        connection.execute("INSERT INTO meta VALUES ('note', 'here')")
        assert not database.is_damaged
        code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM meta').fetchall()"

        subprocess.run([sys.executable, "-c", f"{code}; c.close()", path], check=True, timeout=60)

        assert path.with_name("hooktray.db-wal").stat().st_size > 0


def test_a_new_database_that_another_process_opens_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A one-shot engine waits for its tables; then the log is not taken in when its maker closes it."""
    opened: list[sqlite3.Connection] = []

    def check(connection: sqlite3.Connection) -> None:
        opened.append(sqlite3.connect(path))
        opened[-1].execute("SELECT * FROM meta").fetchall()

    monkeypatch.setattr(db, "_check", check)
    database = open_db(path, create=True)
    monkeypatch.undo()

    assert not database.is_damaged
    for connection in opened:
        connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
def test_nobody_else_can_read_the_database_or_its_companions(path: Path) -> None:
    old = os.umask(0)
    try:
        database = open_db(path, create=True)
        with database.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('note', 'x')")
            modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    finally:
        os.umask(old)

    assert modes == {"hooktray.db": 0o600, "hooktray.db-wal": 0o600, "hooktray.db-shm": 0o600}


def test_opening_again_keeps_what_is_there_and_a_failed_transaction_leaves_nothing(path: Path) -> None:
    database = open_db(path, create=True)
    with pytest.raises(StoreError, match="UNIQUE"), database.write() as connection:
        connection.executemany("INSERT INTO meta VALUES ('note', ?)", [("half",), ("again",)])
    assert noted(database) == []
    note(database, "kept")

    assert noted(open_db(path, create=True)) == ["kept"]
    assert noted(open_db(path, create=False)) == ["kept"]


def test_a_database_that_takes_no_row_is_found_before_it_is_needed_and_says_what_to_do(path: Path) -> None:
    database = open_db(path, create=True)
    database.require_writable()

    with pytest.raises(StoreError, match=r"hooktray\.db: attempt to write a readonly database"):
        replace(database, pragmas=("query_only = ON",)).require_writable()
    with pytest.raises(StoreError, match=r"hooktray\.db: the disk of .* is full\n  make room on this disk"):
        note(replace(database, pragmas=("max_page_count = 1",)), "x" * 100_000)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
@pytest.mark.parametrize("is_dangling", [False, True])
def test_a_link_is_refused_and_its_target_is_not_created(path: Path, is_dangling: bool) -> None:
    real = path.with_name("real.db")
    if not is_dangling:
        open_db(real, create=True)
    path.symlink_to(real)

    with pytest.raises(StoreError, match="not a link"):
        open_db(path, create=True)
    assert real.exists() is not is_dangling


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
def test_a_folder_is_refused_if_others_can_write_to_it_but_not_if_they_can_read_it(path: Path) -> None:
    open_db(path, create=True)
    path.chmod(0o644)
    path.parent.chmod(0o755)
    assert open_db(path, create=True).damaged is None
    assert path.stat().st_mode & 0o777 == 0o600, "others cannot read the file any more"

    path.parent.chmod(0o775)
    with pytest.raises(StoreError, match="chmod 700"):
        open_db(path, create=True)


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_a_database_of_another_version_is_set_aside_whole(path: Path, version: int) -> None:
    note(open_db(path, create=True), "kept")
    set_version(path, version)
    with pytest.raises(
        StoreError, match=f"(?s)version {version}, this Hooktray needs {VERSION}.*sets the file aside"
    ):
        open_db(path, create=False)

    database = open_db(path, create=True, clock=Clock(0.0))

    aside = path.with_name(f"hooktray.db.version{version}-19700101-000000")
    assert (database.damaged, database.damage(), noted(database)) == (aside, aside.name, [])
    assert noted(Database(aside)) == ["kept"]
    assert open_db(path, create=True).damaged is None


def test_a_change_of_the_schema_requires_another_version() -> None:
    assert (VERSION, hashlib.sha256(SCHEMA.encode()).hexdigest()[:12]) == (9, "4d4153d972c7")


def test_only_the_tray_makes_the_database_and_its_tables(path: Path) -> None:
    with pytest.raises(StoreError, match="no database yet"):
        open_db(path, create=False)
    assert not path.exists()
    path.touch(mode=0o600)  # version 0
    with pytest.raises(StoreError, match="hooktray run"):
        open_db(path, create=False)

    open_db(path, create=True)

    assert open_db(path, create=False).path == path


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")

    with pytest.raises(StoreError, match="not one of ours"):
        open_db(path, create=True)


def test_several_starts_at_once_make_one_database(path: Path) -> None:
    code = "import sys, pathlib; from tray.store.db import open_db; open_db(pathlib.Path(sys.argv[1]), create=True)"
    starts = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(3)]
    codes = [start.wait(60) for start in starts]

    assert codes == [0, 0, 0]
    assert open_db(path, create=False).damaged is None


def test_only_the_tray_sets_aside_a_file_that_is_not_a_database_and_creates_a_new_one(path: Path) -> None:
    path.write_bytes(NO_DATABASE)
    with pytest.raises(StoreError, match="damaged"):
        open_db(path, create=False)
    assert [file.name for file in path.parent.iterdir()] == ["hooktray.db"]

    first = open_db(path, create=True, clock=Clock(0.0))
    path.write_bytes(b"two" * 1000)
    second = open_db(path, create=True, clock=Clock(0.0))  # in the same second

    assert first.damaged == path.with_name("hooktray.db.damaged-19700101-000000")
    assert first.damaged.read_bytes() == NO_DATABASE
    assert second.damaged is not None
    assert second.damaged.read_bytes() == b"two" * 1000
    assert noted(second) == []


@pytest.mark.parametrize(
    ("place", "bytes_"),
    [(0, b"\xff" * 4096), (7, b"\x30")],
    ids=["a leaf overwritten", "a leaf that still reads well, with a wrong header"],
)
def test_a_damaged_ledger_is_noticed_at_the_start(path: Path, place: int, bytes_: bytes) -> None:
    database = open_db(path, create=True)
    with database.write() as connection:
        connection.executemany("INSERT INTO ledger (act, definition) VALUES ('approve', ?)", [("x" * 900,)] * 50)
    with path.open("r+b") as file:
        file.seek(place - 4096, os.SEEK_END)  # the last leaf: nobody stumbles over it on the way in
        file.write(bytes_)

    assert is_set_aside_once(path)


@pytest.mark.parametrize("word", [b"sqlite_sequence", b"UNIQUE"])
def test_a_description_of_a_table_that_is_no_text_any_more_is_damage(path: Path, word: bytes) -> None:
    open_db(path, create=True)
    path.write_bytes(path.read_bytes().replace(word, word[:-2] + b"\xd5" + word[-1:], 1))

    with pytest.raises(StoreError, match="damaged"):
        open_db(path, create=False)
    assert is_set_aside_once(path)


def test_a_description_that_is_damaged_in_use_is_told_and_set_aside_later(path: Path) -> None:
    database = open_db(path, create=True)
    path.write_bytes(path.read_bytes().replace(b"UNIQUE", b"UNIQ\xd5E", 1))

    with pytest.raises(StoreError, match="begins a new one"), database.connect() as connection:
        connection.execute("SELECT * FROM journal")
    assert is_set_aside_once(path)

    open_db(path, create=True).mark_damaged()
    assert is_set_aside_once(path), "a file that the tray marked as damaged"


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
def test_a_file_that_may_only_be_read_is_opened_for_writing_and_not_taken_for_damaged(path: Path) -> None:
    open_db(path, create=True)
    path.chmod(0o400)

    database = open_db(path, create=True)

    assert database.damaged is None
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_start_while_another_process_writes_takes_nothing_for_damage(path: Path) -> None:
    database = open_db(path, create=True)

    with database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('note', 'x')")
        assert open_db(path, create=True).damaged is None


def test_a_mark_of_damage_counts_for_the_file_in_which_it_was_found_only(path: Path) -> None:
    database = open_db(path, create=True)
    database.mark_damaged()
    assert database.is_marked_damaged

    path.rename(path.with_name("before"))
    shutil.copy(path.with_name("before"), path)

    assert not Database(path).is_marked_damaged


def test_damage_is_remembered_until_a_person_has_seen_it(path: Path) -> None:
    open_db(path, create=True)
    path.write_bytes(NO_DATABASE)
    aside = open_db(path, create=True).damaged
    assert aside is not None

    again = open_db(path, create=True)
    seen = [again.damage()]
    again.acknowledge_damage()
    seen.append(open_db(path, create=True).damage())

    assert seen == [aside.name, None]
    assert files_set_aside(path) == [aside]


@pytest.mark.parametrize("how", ["gone", "emptied"])
def test_a_database_that_is_gone_is_not_taken_for_a_first_start(path: Path, how: str) -> None:
    first = open_db(path, create=True).damage()
    path.with_name("ledger.head").write_text("3 link first\n")
    path.unlink() if how == "gone" else path.write_bytes(b"")

    database = open_db(path, create=True)

    assert (first, database.damage()) == (None, "")
    assert not path.with_name("ledger.head").exists()


def test_the_log_of_a_damaged_database_is_kept_with_it_and_the_notes_go(path: Path) -> None:
    open_db(path, create=True)
    notes = [path.with_name(name) for name in ("ledger.head", "switch.head")]
    for file in (*notes, path.with_name("hooktray.db-wal"), path.with_name("hooktray.db-shm")):
        file.write_bytes(b"x")
    path.write_bytes(NO_DATABASE)

    open_db(path, create=True, clock=Clock(0.0))

    aside = "hooktray.db.damaged-19700101-000000"
    kept = {file.name for file in path.parent.iterdir() if file.name.startswith(aside)}
    assert kept == {aside, f"{aside}-wal", f"{aside}-shm"}
    assert not any(note.exists() for note in notes)


FOREIGN = {0: 0x00, 18: 3, 19: 3, 47: 5}  # a later version, to write and to read, and a later format of tables


def test_no_damaged_byte_of_the_header_stops_a_second_start(path: Path) -> None:
    """This includes bytes that make SQLite reject the file as another kind of file."""
    open_db(path, create=True)
    whole = path.read_bytes()

    for position in {*FOREIGN, *range(0, 100, 4)}:  # the first byte of each field; most fields have four bytes
        byte = FOREIGN.get(position, whole[position] ^ 0xFF)
        path.write_bytes(whole[:position] + bytes([byte]) + whole[position + 1 :])
        try:
            database = open_db(path, create=True)
            assert database.damaged is not None or position not in FOREIGN
            note(database, "kept")
            assert noted(open_db(path, create=True)) == ["kept"]
        except StoreError as e:
            assert "not one of ours" in str(e)  # noqa: PT017
        path.unlink()
        open_db(path, create=True)
        path.unlink()


def test_a_thread_with_a_reader_reads_what_others_write_and_has_one_connection(path: Path) -> None:
    database, other = open_db(path, create=True), open_db(path, create=False)
    database.open_reader()

    note(other, "one")

    with database.connect() as first, database.connect() as second, database.connect(busy=1.0) as own:
        assert first is second is not own
    assert noted(database) == ["one"]
    with ThreadPoolExecutor(1) as pool:  # SQLite refuses a connection of another thread
        assert pool.submit(noted, database).result() == ["one"]
    with database.write() as writing:
        assert writing is not first
    database.close_reader()
    assert noted(database) == ["one"]
    with pytest.raises(sqlite3.ProgrammingError):
        first.execute("SELECT 1")
