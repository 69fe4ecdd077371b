from __future__ import annotations

import pytest
from msgspec.structs import replace

from tray.errors import StoreError
from tray.model.decision import Verdict
from tray.model.hook import Command, Hook, Match, Rule, Source, restore
from tray.store.checkpoint import LEDGER
from tray.store.db import Database, begin_anew
from tray.store.ledger import Ledger, LedgerAction, chain_value


def hook(name: str, action: Command | Rule | None = None) -> Hook:
    return Hook(
        name=name,
        source=Source(kind="hooktray", path="/c/hooktray.yaml", line=3),
        match=Match(event="tool_before", agents=("claude-code",), tool="Bash"),
        action=action or Command(line=f"./{name}.sh", folder="/c"),
        env=("MY_TOKEN",),
        dialect="starchild",
    )


RULE = hook("rule", Rule(verdict=Verdict.ASK, reason="sure?"))


def approve(ledger: Ledger, name: str, digest: str, place: int = 0) -> None:
    write(ledger, LedgerAction.APPROVE, hook(name), digest, place)


def write(ledger: Ledger, act: LedgerAction, one: Hook, digest: str, place: int = 0) -> None:
    ledger.append(act, one.key, digest, definition=one.definition, position=(0, place), channel="tray")


@pytest.mark.parametrize("one", [hook("guard"), RULE], ids=["command", "rule"])
def test_an_approved_definition_comes_back_as_the_same_hook(database: Database, one: Hook) -> None:
    write(Ledger(database), LedgerAction.APPROVE, one, "d1")

    (approved,) = Ledger(database).in_order()

    assert approved.hook.definition == one.definition
    assert restore(one.definition) == restore(approved.hook.definition)
    assert (approved.digest, approved.channel) == ("d1", "tray")


def test_the_last_word_counts(database: Database) -> None:
    ledger, guard = Ledger(database), hook("guard")

    write(ledger, LedgerAction.APPROVE, guard, "d1")
    write(ledger, LedgerAction.DENY, guard, "d2")
    assert [one.digest for one in ledger.in_order()] == ["d1"]

    write(ledger, LedgerAction.APPROVE, guard, "d2")
    assert [one.digest for one in ledger.in_order()] == ["d2"]
    assert ledger.state.denied == frozenset()

    write(ledger, LedgerAction.REVOKE, guard, "d2")
    assert ledger.in_order() == ()
    assert dict(ledger.state.revoked) == {guard.key: "d2"}


def test_rules_come_first_then_the_declared_order_which_can_change(database: Database) -> None:
    ledger = Ledger(database)
    approve(ledger, "second", "d2", 2)
    approve(ledger, "first", "d1", 1)
    write(ledger, LedgerAction.APPROVE, RULE, "d3", 3)
    before = [one.hook.name for one in ledger.in_order()], ledger.state.version

    ledger.set_positions({hook("second").key: (0, 0)})

    assert before == (["rule", "first", "second"], ledger.state.version), "no approval was touched"
    assert [one.hook.name for one in Ledger(database).in_order()] == ["rule", "second", "first"]


def test_a_definition_that_cannot_be_read_approves_nothing_and_a_confirmed_setting_is_no_hook(
    database: Database,
) -> None:
    for key, definition in (("key", '{"kind": "Command"}'), ("setting:without_tray", "")):
        Ledger(database).append(
            LedgerAction.APPROVE, key, "d1", definition=definition, position=(0, 0), channel="tray"
        )

    assert Ledger(database).in_order() == ()
    assert dict(Ledger(database).state.settings) == {"setting:without_tray": "d1"}
    moved = replace(hook("guard"), source=Source(kind="hooktray", path="/c/hooktray.yaml", line=9))
    assert moved.definition == hook("guard").definition, "a line number is no part of it"


@pytest.mark.parametrize("how", ["altered", "removed", "last removed", "put in", "renumbered"])
def test_nothing_of_an_altered_ledger_counts(database: Database, how: str) -> None:
    ledger = Ledger(database)
    for number in range(3):
        approve(ledger, f"g{number}", f"d{number}")
    assert not ledger.is_altered
    spoil(database, how)

    book = Ledger(database).state

    assert (book.ordered, book.version) == ((), 0)
    assert "of the ledger is not" in book.tampered
    assert ledger.is_altered, "the running tray notices"
    assert len(ledger.in_order()) == 3, "and goes by what it wrote until it has"


def spoil(database: Database, how: str) -> None:
    with database.write() as connection:
        if how == "altered":
            connection.execute("UPDATE ledger SET digest = 'evil' WHERE seq = 2")
        elif how == "put in":
            connection.execute("UPDATE ledger SET seq = seq + 1 WHERE seq > 2")
            connection.execute("INSERT INTO ledger SELECT 3, at, act, 'x', digest, definition, position, way, chain"
                               " FROM ledger WHERE seq = 2")  # fmt: skip
        elif how == "renumbered":
            connection.execute("UPDATE ledger SET seq = seq + 7")
        else:
            connection.execute(f"DELETE FROM ledger WHERE seq = {3 if how == 'last removed' else 2}")


def forge(database: Database, key: str) -> None:
    """One more row with the right link, as any program of the user's can compute it."""
    with database.write() as connection:
        last = connection.execute("SELECT chain FROM ledger ORDER BY seq DESC LIMIT 1").fetchone()
        row = (1.0, "approve", key, "evil", hook("evil").definition, "[0, 1]", "tray")
        connection.execute(
            "INSERT INTO ledger(at, act, key, digest, definition, position, way, chain) VALUES (?,?,?,?,?,?,?,?)",
            (*row, chain_value(last[0] if last else "", row)),
        )


@pytest.mark.parametrize("rows", [0, 1])
def test_no_decision_is_built_on_a_row_that_another_program_wrote(database: Database, rows: int) -> None:
    running = Ledger(database)
    for number in range(rows):
        approve(running, f"g{number}", "d1")
    forge(database, "evil")

    running.set_positions({hook("g0").key: (7, 7)})
    for ledger in (running, Ledger(database)):
        with pytest.raises(StoreError, match="another program altered the ledger"):
            approve(ledger, "a", "d1")

    assert len(running.in_order()) == rows
    assert "evil" not in Ledger(database).state.approved


def test_rows_without_the_note_of_the_last_one_do_not_count(database: Database) -> None:
    approve(Ledger(database), "a", "d1")
    database.path.with_name(LEDGER).unlink()

    assert Ledger(database).in_order() == ()


def test_another_database_counts_once_it_is_swapped_in(database: Database) -> None:
    ledger = Ledger(database)
    approve(ledger, "a", "d1")

    with ledger.swap():
        begin_anew(database.path, "damaged")

    assert (ledger.in_order(), ledger.state.tampered) == ((), "")
    approve(ledger, "b", "d2")
    assert [one.digest for one in Ledger(database).in_order()] == ["d2"]
    assert ledger.state.version == 2, "no undo of a row of the earlier database takes it back"


@pytest.mark.parametrize("text", ["[[", "[]", '{"k": 1}', '{"k": ["a", 0]}', '{"k": [1]}', 5])
def test_places_that_cannot_be_read_leave_each_hook_where_it_was_approved(database: Database, text: object) -> None:
    approve(Ledger(database), "a", "d1", 3)
    with database.write() as connection:
        text = text.replace('"k"', f'"{hook("a").key}"') if isinstance(text, str) else text
        connection.execute("INSERT INTO meta VALUES ('order', ?)", (text,))

    assert [one.position for one in Ledger(database).in_order()] == [(0, 3)]


@pytest.mark.parametrize("committed", [True, False])
def test_a_crash_while_a_row_is_written_loses_nothing_and_lets_nothing_in(
    database: Database, committed: bool
) -> None:
    head = database.path.with_name(LEDGER)
    ledger = Ledger(database)
    approve(ledger, "a", "d1")
    before = head.read_text()
    approve(ledger, "b", "d2")
    head.write_text(head.read_text() + before)  # as it stands until the commit is known
    if not committed:
        with database.write() as connection:
            connection.execute("DELETE FROM ledger WHERE seq = 2")

    book = Ledger(database).state

    assert not book.tampered
    assert [one.digest for one in book.ordered] == (["d1", "d2"] if committed else ["d1"])
    if not committed:
        forge(database, "evil")
        assert "evil" not in Ledger(database).state.approved


@pytest.mark.parametrize(("later", "left"), [("second", "second"), ("first", "first")])
def test_only_a_later_row_about_the_same_hook_keeps_an_approval_from_being_undone(
    database: Database, later: str, left: str
) -> None:
    ledger = Ledger(database)
    approve(ledger, "first", "d1")
    version = ledger.state.version
    approve(ledger, later, "d2")

    undone = ledger.undo(version, "tray")

    assert (undone > version) is (later == "second")
    assert [(one.hook.name, one.digest) for one in ledger.in_order()] == [(left, "d2")]
