"""The journal: what was appended is found again, exactly, newest first, whatever the clock and the bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from clock import Clock
from desk import wait
from msgspec.structs import replace
from store.writing import Limited, Problems, write

from tray.errors import StoreError
from tray.model.decision import Answer, Record, Verdict
from tray.model.event import PROBE_PREFIX
from tray.store.db import Database
from tray.store.journal import Journal, RowFilter, query_rows
from tray.store.retention import Retention, RetentionLimits
from tray.store.writer import PRUNE_INTERVAL, Committed

PLAIN = Record(
    id="e0", at=100.0, agent="claude-code", session="s1", project="site", event="PreToolUse", kind="tool_before",
    verdict=Verdict.ABSTAIN, reason="", ms=1.5,
)  # fmt: skip
FULL = Record(
    id="full", at=100.25, agent="shelley", session="s2", project="größe", event="end-of-turn", kind="turn_end",
    verdict=Verdict.DENY, reason="guard: no", ms=2.25,
    hooks=({"name": "guard", "status": "ok", "verdict": "deny", "reason": "no", "ms": 2.0},),
    rewrites=("input",), notes=("a note",), adjustments=("ask became deny",), problem="odd", payload='{"a": "ü"}',
    digest="d1", masked=2, answer={"stdout": "{}", "stderr": "ü", "code": 2, "exact": True}, alerted="held",
    cwd="/home/größe", ledger=7, wait_ms=0.5, hooks_ms=1.25,
    masks=({"place": "payload.a", "kind": "token", "fingerprint": "0123456789ab"},),
)  # fmt: skip


@pytest.fixture
def journal(database: Database) -> Iterator[Journal]:
    with closing(Journal(database, wait=10.0)) as journal:
        yield journal


def fill(journal: Journal, *records: Record) -> None:
    for record in records:
        journal.append(record, commit=False)
    done = journal.append(replace(PLAIN, id="last of all"), commit=True)
    assert done is Committed.DONE


def ids(records: list[Record]) -> list[str]:
    return [record.id for record in records if record.id != "last of all"]


def plan(database: Database, **filters: object) -> list[str]:
    sql, values = query_rows(50, RowFilter(**filters))  # type: ignore[arg-type]
    with database.connect() as connection:
        return [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


def test_a_row_comes_back_as_it_went_in_and_the_first_account_of_an_event_stands(
    database: Database, journal: Journal
) -> None:
    for row in (FULL, replace(FULL, reason="another")):
        assert journal.append(row, commit=True) is Committed.DONE

    assert journal.recent() == Journal(database).recent() == [FULL]
    assert journal.get("full") == FULL


def test_the_newest_row_is_first_even_when_the_clock_jumps_back(journal: Journal) -> None:
    fill(journal, *(replace(PLAIN, id=id, at=at) for id, at in (("a", 500.0), ("b", 100.0), ("c", 300.0))))

    assert ids(journal.recent()) == ["c", "b", "a"]


def test_pages_follow_each_other_without_gap_or_repetition(journal: Journal) -> None:
    fill(journal, *(replace(PLAIN, id=f"e{number:02}") for number in range(25)))

    seen: list[str] = []
    page = journal.recent(10)
    while page:
        seen += ids(page)
        page = journal.recent(10, RowFilter(before=page[-1].id))

    assert seen == [f"e{number:02}" for number in reversed(range(25))]


def test_each_filter_finds_its_rows_and_no_others(journal: Journal) -> None:
    fill(journal, PLAIN, FULL, replace(PLAIN, id="e2", payload="100%"), replace(PLAIN, id="e3", payload="100 a_b"))
    filters: list[tuple[RowFilter, list[str]]] = [
        (RowFilter(agent="shelley"), ["full"]),
        (RowFilter(session="s2"), ["full"]),
        (RowFilter(event="end-of-turn"), ["full"]),
        (RowFilter(event="turn_end"), ["full"]),
        (RowFilter(verdict=Verdict.DENY), ["full"]),
        (RowFilter(verdict=Verdict.ABSTAIN), ["e3", "e2", "e0"]),
        (RowFilter(hook="guard"), ["full"]),
        (RowFilter(project="größe"), ["full"]),
        (RowFilter(text='"ü"'), ["full"]),
        (RowFilter(text="GUARD: n"), ["full"]),
        (RowFilter(agent="shelley", verdict=Verdict.DENY, text="no"), ["full"]),
        (RowFilter(since=100.125), ["full"]),
        (RowFilter(text="0%"), ["e2"]),
        (RowFilter(text="a_b"), ["e3"]),
        (RowFilter(text="d__"), []),
    ]

    assert [ids(journal.recent(wanted=wanted)) for wanted, _ in filters] == [found for _, found in filters]


def test_a_row_is_found_by_the_only_id_that_begins_so(journal: Journal) -> None:
    fill(journal, *(replace(PLAIN, id=id) for id in ("ab", "abc1", "abd2")))

    found = [journal.get(word) for word in ("ab", "abc", "a", "x", "", "ab_")]
    assert [record.id if record else None for record in found] == ["ab", "abc1", None, None, None, None]


def test_an_answer_can_be_given_again_byte_for_byte_if_it_is_whole_and_of_this_payload(journal: Journal) -> None:
    whole = {"stdout": b"\xff\x00\n", "stderr": "ünsafe", "code": 2}
    fill(
        journal,
        replace(PLAIN, id="whole", answer=whole, digest="d1"),
        replace(PLAIN, id="masked", answer={"stdout": "x", "stderr": "", "code": 0, "exact": False}),
        replace(PLAIN, id="none", answer={}),
    )

    expected = Answer(stdout=b"\xff\x00\n", stderr="ünsafe".encode(), code=2)
    assert journal.answer_of("whole") == journal.answer_of("whole", digest="d1") == expected
    assert [journal.answer_of(id) for id in ("masked", "none", "missing")] == [None, None, None]
    assert journal.answer_of("whole", digest="d2") is None


def test_a_long_payload_is_cut_and_says_so(journal: Journal) -> None:
    fill(journal, replace(PLAIN, id="long", payload="ü" * 50_000), replace(PLAIN, id="fits", payload="x" * 65_536))

    long, fits = journal.get("long"), journal.get("fits")
    assert long is not None
    assert fits is not None
    assert long.payload == "ü" * 32_768 + "… [cut: 65536 of 100000 bytes]"
    assert fits.payload == "x" * 65_536


def test_half_a_character_does_not_stop_the_journal(journal: Journal) -> None:
    fill(journal, replace(PLAIN, id="half", payload="a\ud800b", session="\udcff", notes=("\ud800",)))

    half = journal.get("half")
    assert half is not None
    assert (half.payload, half.session, half.notes) == ("a?b", "?", ("?",))
    assert ids(journal.recent(wanted=RowFilter(text="a\ud800b"))) == ["half"]


def test_a_row_that_json_cannot_hold_is_dropped_alone_and_counted(database: Database) -> None:
    problems = Problems()
    knot: list[object] = []
    knot.append(knot)
    with closing(Journal(database, wait=10.0, listener=problems)) as journal:
        assert journal.append(replace(PLAIN, id="knot", answer={"knot": knot}), commit=True) is Committed.DROPPED
        fill(journal, FULL)

        assert journal.dropped == 1
    assert ids(Journal(database).recent()) == ["full"]
    assert Journal(database).dropped == 1
    assert "cannot be stored" in problems.texts[0]


def test_what_became_of_an_alert_is_noted(journal: Journal) -> None:
    journal.append(PLAIN, commit=False)
    journal.set_alerted(["e0", "e1"], "sent")
    fill(journal)

    assert [record.alerted for record in journal.recent()] == ["", "sent"]


def test_the_last_event_of_each_agent_is_none_of_ours(journal: Journal) -> None:
    test = replace(PLAIN, id="test", at=9.0, test=True)
    probe = replace(PLAIN, id="probe", at=9.0, session=f"{PROBE_PREFIX}1")
    fill(
        journal,
        replace(PLAIN, id="first", at=7.0, agent="codex"),
        replace(PLAIN, id="last", at=5.0, agent="codex"),
        *(replace(one, agent=agent, id=f"{one.id} {agent}") for one in (test, probe) for agent in ("codex", "droid")),
    )

    assert journal.last_events(("codex", "droid", "shelley")) == {"codex": 5.0}


def test_the_one_shot_engine_writes_marked_rows_without_a_thread_and_is_not_held_up_by_a_locked_file(
    database: Database,
) -> None:
    problems, before = Problems(), threading.active_count()
    once = Journal(database, offline=True, listener=problems)
    with database.write():
        assert once.append_now(PLAIN, wait=0.01) is Committed.LATE

    assert once.append_now(PLAIN) is Committed.DONE
    assert once.append_now(PLAIN) is Committed.DONE

    assert once.recent() == [replace(PLAIN, offline=True)]
    assert "locked" in problems.texts[0]
    assert threading.active_count() <= before


def test_rows_of_the_one_shot_engine_are_summed_up_once(database: Database, journal: Journal) -> None:
    once = Journal(database, offline=True)
    once.append_now(replace(PLAIN, id="a"))
    fill(journal, PLAIN)
    once.append_now(replace(PLAIN, id="b"))

    assert [record.id for record in journal.offline_rows()] == ["a", "b"]
    assert journal.offline_rows() == []
    once.append_now(replace(PLAIN, id="c"))
    assert [record.id for record in journal.offline_rows()] == ["c"]


def tidied(database: Database, limits: RetentionLimits, now: float = 10 * 86_400.0) -> list[str]:
    """The ids that are left, oldest first, once there is nothing more to delete."""
    retention = Retention(Limited(limits), Clock(now))
    with closing(database.open()) as connection:
        while retention.prune_step(connection):
            pass
        return [row["id"] for row in connection.execute("SELECT id FROM journal ORDER BY seq")]


def test_the_newest_and_the_young_are_kept(database: Database) -> None:
    write(database, [replace(PLAIN, id=f"e{number:04}", at=number * 864.0) for number in range(1000)])

    assert len(tidied(database, RetentionLimits(rows=2000, days=20.0))) == 1000
    assert tidied(database, RetentionLimits(rows=300, days=20.0), now=1e11)[0] == "e0700", "whatever the clock shows"
    left = tidied(database, RetentionLimits(rows=300, days=2.0))
    assert (left[0], len(left)) == ("e0800", 200)


def test_what_weighs_too_much_goes_oldest_first_and_the_space_is_given_back(database: Database) -> None:
    write(database, [replace(PLAIN, id=f"e{number}", payload="x" * 4000) for number in range(1000)])

    left = tidied(database, RetentionLimits(megabytes=2.0, days=1e6))

    assert 50 < len(left) < 500
    assert left[-1] == "e999"
    with database.connect() as connection:
        assert connection.execute("PRAGMA page_count").fetchone()[0] * 4096 < 3_500_000


def test_the_newest_fifty_stay_whatever_they_weigh(database: Database) -> None:
    write(database, [replace(PLAIN, id=f"e{number}", payload="x" * 65_000) for number in range(60)])

    assert len(tidied(database, RetentionLimits(megabytes=1.0, days=1e6))) == 50


def test_what_is_too_much_goes_while_the_tray_runs_and_not_only_at_its_start(database: Database) -> None:
    with closing(
        Journal(database, wait=10.0, retention=Retention(Limited(RetentionLimits(rows=100, days=1e6))))
    ) as journal:
        fill(journal, *(replace(PLAIN, id=f"e{number}") for number in range(PRUNE_INTERVAL)))
        wait(lambda: journal.count() == 100)

        assert ids(journal.recent(1000))[-1] == f"e{PRUNE_INTERVAL - 99}"


def test_lost_rows_are_counted_once_also_when_the_database_took_none_of_them(database: Database) -> None:
    problems = Problems()
    journal = Journal(database, listener=problems)
    with database.write():
        for number in range(3):
            journal.append(replace(PLAIN, id=f"e{number}"), commit=False)
        journal.close(limit=0.1)
    Journal(database, offline=True).count_dropped()

    assert problems.texts[-1] == "3 rows could not be written before the end"
    assert (journal.dropped, Journal(database).dropped) == (3, 4)
    for _ in range(2):
        with closing(Journal(database, wait=10.0)) as again:
            again.prune()
            fill(again)
        assert Journal(database).dropped == 4
    (place,) = database.path.parent.glob("*.lost*")  # reserved before the disk is full
    assert (place.name, place.read_bytes().strip(), place.stat().st_size > 0) == ("hooktray.db.lost", b"", True)


def test_rows_are_read_by_key(database: Database) -> None:
    """A query reads no row that it did not ask for, whatever the size of the journal."""
    write(database, [replace(PLAIN, id=f"e{number}", session=f"s{number % 100}") for number in range(1000)])

    journal = Journal(database)
    assert [record.id for record in journal.recent(2)] == ["e999", "e998"]
    assert [record.id for record in journal.recent(2, RowFilter(before="e500"))] == ["e499", "e498"]
    assert plan(database) == ["SCAN journal"]  # by rowid, backwards, and the LIMIT ends it
    for name in ("session", "agent", "event"):
        assert plan(database, **{name: "s7"}) == [f"SEARCH journal USING INDEX journal_{name} ({name}=?)"]
    assert plan(database, before="e5")[0] == "SEARCH journal USING INTEGER PRIMARY KEY (rowid<?)"


def test_a_list_is_read_without_what_is_large(database: Database) -> None:
    with closing(Journal(database, wait=10.0)) as journal:
        journal.append(replace(PLAIN, payload="x" * 50_000, answer={"stdout": "x"}), commit=True)

    [brief], [whole] = journal.recent(brief=True), journal.recent()

    assert (brief.payload, brief.answer, brief.masks) == ("", {}, ())
    assert brief == replace(whole, payload="", answer={}, masks=())


def test_reading_a_file_that_was_taken_away_is_a_problem_people_can_read(database: Database) -> None:
    journal = Journal(database)
    for file in list(database.path.parent.glob("hooktray.db*")):
        file.unlink()

    with pytest.raises(StoreError, match=r"hooktray\.db"):
        journal.recent()
