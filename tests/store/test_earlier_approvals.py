"""What a damaged database still holds of the approvals: the last word about each hook, and no invention."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from damage import damage_table
from store.test_ledger import command, write

from tray.store import earlier_approvals
from tray.store.db import open_db
from tray.store.earlier_approvals import read_earlier
from tray.store.ledger import CHECKPOINT, EMPTY_HEAD, READ, Ledger, LedgerAction, chain_value
from tray.store.switch import Switch

APPROVE, DENY, REVOKE = LedgerAction.APPROVE, LedgerAction.DENY, LedgerAction.REVOKE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "hooktray.db"


def kept(path: Path, *acts: tuple[LedgerAction, str, str], number: int = 0) -> Path:
    """A database with these decisions, damaged and set aside."""
    ledger = Ledger(open_db(path, create=True))
    for act, name, digest in acts:
        write(ledger, act, command(name), digest)
    return put_aside(path, number)


def put_aside(path: Path, number: int = 0) -> Path:
    damage_table(path, "journal")
    aside = open_db(path, create=True, clock=lambda: float(number)).damaged
    assert aside is not None
    return aside


def approved(path: Path) -> dict[str, str]:
    return {one.hook.name: one.digest for one in read_earlier(path).approved.values()}


def execute(aside: Path, *statements: str) -> None:
    """Change the file that was set aside."""
    with closing(sqlite3.connect(aside)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_the_last_word_about_each_hook_is_found(path: Path) -> None:
    kept(
        path, (APPROVE, "old", "d1"), (APPROVE, "old", "d2"), (APPROVE, "taken", "d3"), (REVOKE, "taken", "d3"),
        (DENY, "turned down", "d4"), (APPROVE, "same", "d5"), (DENY, "same", "d5"),
    )  # fmt: skip

    found = read_earlier(path)

    assert approved(path) == {"old": "d2"}
    assert not found.partial


def test_a_hook_that_the_menu_had_switched_off_is_not_among_them(path: Path) -> None:
    database = open_db(path, create=True)
    ledger = Ledger(database)
    for name in ("on", "off"):
        write(ledger, APPROVE, command(name), "d1")
    Switch(database).set_hook(command("off").key, False, "tray")
    put_aside(path)

    assert approved(path) == {"on": "d1"}


def test_of_two_damaged_files_the_newer_one_has_the_last_word(path: Path) -> None:
    kept(path, (APPROVE, "kept", "d1"), (APPROVE, "again", "d1"), (APPROVE, "taken", "d1"))
    kept(path, (APPROVE, "again", "d2"), (DENY, "taken", "d1"), number=1)

    assert approved(path) == {"kept": "d1", "again": "d2"}


def test_a_file_of_another_version_is_read_too(path: Path) -> None:
    write(Ledger(open_db(path, create=True)), APPROVE, command("guard"), "d1")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")

    aside = open_db(path, create=True).damaged

    assert aside is not None
    assert approved(path) == {"guard": "d1"}


def test_no_byte_of_the_damaged_file_changes(path: Path) -> None:
    aside = kept(path, (APPROVE, "guard", "d1"))
    before = aside.read_bytes()

    read_earlier(path)

    assert aside.read_bytes() == before


def test_rows_around_a_damaged_page_are_found_and_the_rest_is_reported_missing(path: Path) -> None:
    database = open_db(path, create=True)
    ledger = Ledger(database)
    for number in range(30):
        write(ledger, APPROVE, command(f"g{number}"), "d" * 64)
    with database.connect() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    middle = content.index(b"#g15d")
    page = middle // 4096 * 4096
    path.write_bytes(content[:page] + b"\xff" * 4096 + content[page + 4096 :])
    assert open_db(path, create=True).damaged

    found = read_earlier(path)

    names = set(approved(path))
    assert {"g0", "g29"} <= names
    assert "g15" not in names
    assert found.partial


@pytest.mark.parametrize("content", [b"", b"no database at all" * 1000], ids=["empty", "another format"])
def test_an_unreadable_file_approves_nothing_and_counts_as_partial(path: Path, content: bytes) -> None:
    kept(path, (APPROVE, "guard", "d1")).write_bytes(content)

    found = read_earlier(path)

    assert (dict(found.approved), found.partial) == ({}, True)


def test_a_row_that_was_altered_or_put_in_does_not_count(path: Path) -> None:
    aside = kept(path, (APPROVE, "first", "d1"), (APPROVE, "second", "d2"), (APPROVE, "third", "d3"))
    with closing(sqlite3.connect(aside)) as connection:
        connection.execute("UPDATE ledger SET digest = 'evil' WHERE seq = 2")
        last = connection.execute(READ).fetchall()[-1]
        row = (*last[1:3], command("evil").key, "d4", command("evil").definition, *last[6:8])
        connection.execute("INSERT INTO ledger VALUES (4, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, chain_value(last[8], row)))
        connection.commit()

    assert approved(path) == {"first": "d1", "third": "d3"}
    assert read_earlier(path).partial


HOSTILE = {
    "a ledger that never ends": (
        "ALTER TABLE ledger RENAME TO old",
        """CREATE VIEW ledger AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n) SELECT seq, 0 at,
        'approve' act, 'k' key, 'd' digest, '{}' definition, '[0, 0]' position, 'w' way, 'c' chain FROM n""",
    ),
    "a value of 100 MB": ("UPDATE ledger SET definition = zeroblob(100000000)",),
    "numbers for words": ("UPDATE ledger SET key = 7, digest = 8",),
    "bytes that are no text": ("UPDATE ledger SET key = CAST(x'ff00fe' AS TEXT)",),
    "another act": ("UPDATE ledger SET act = 'grant'",),
    "another place": ("UPDATE ledger SET position = '[[[]]]'",),
    "a place as deep as a well": (f"UPDATE ledger SET position = '{'[' * 90_000}'",),
    "a definition as deep as a well": (f"UPDATE ledger SET definition = '{'[' * 90_000}'",),
}


@pytest.mark.parametrize("statements", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_ends_and_approves_nothing(path: Path, statements: tuple[str, ...]) -> None:
    aside = kept(path, (APPROVE, "guard", "d1"))
    execute(aside, *statements)

    assert approved(path) == {}
    assert read_earlier(path).partial


@pytest.mark.parametrize("how", ["no notes", "notes of another one", "another first row", "no row was written"])
def test_a_ledger_that_its_notes_are_not_about_approves_nothing(path: Path, how: str) -> None:
    aside = kept(path, (APPROVE, "guard", "d1"), (APPROVE, "second", "d2"))
    notes = aside.with_name(f"{aside.name}.{CHECKPOINT}")
    number, link, first = notes.read_text().split()
    lines = {
        "notes of another one": f"{number} {'0' * 64} {first}\n",
        "another first row": f"{number} {link} {'0' * 64}\n",
        "no row was written": f"{EMPTY_HEAD}\n",
    }
    notes.unlink() if how == "no notes" else notes.write_text(lines[how])

    assert approved(path) == {}
    assert read_earlier(path).partial


@pytest.fixture
def forged(path: Path) -> Path:
    return kept(path, (APPROVE, "guard", "d1"))


@pytest.mark.parametrize("field", ["line", "folder", "interpreter"])
def test_a_definition_whose_words_are_none_is_left_out(path: Path, forged: Path, field: str) -> None:
    definition = json.loads(command("guard").definition)
    definition["action"][field] = 5
    with closing(sqlite3.connect(forged)) as connection:
        at, act, key, digest, _, position, way = connection.execute(READ).fetchone()[1:8]
        row = (at, act, key, digest, json.dumps(definition), position, way)
        link = chain_value("", row)
        connection.execute("UPDATE ledger SET definition = ?, chain = ?", (row[4], link))
        connection.commit()
    forged.with_name(f"{forged.name}.{CHECKPOINT}").write_text(f"1 {link} {link}\n")

    assert approved(path) == {}
    assert not read_earlier(path).partial


def test_without_a_damaged_file_there_is_nothing(path: Path) -> None:
    Ledger(open_db(path, create=True))

    assert read_earlier(path) == earlier_approvals.EarlierApprovals()
