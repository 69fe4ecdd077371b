"""The journal: what was appended is found again, exactly, newest first, whatever the clock and the bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from clock import Clock
from desk import wait
from msgspec.structs import replace
from store.writing import Limited, Problems

from tray.errors import StoreError
from tray.model.decision import Answer, Record, Verdict
from tray.model.event import PROBE_PREFIX
from tray.store.db import Database
from tray.store.journal import Journal, RowFilter, insert_statement, query_rows, row_values
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


def test_a_row_comes_back_as_it_went_in(journal: Journal) -> None:
    assert journal.append(FULL, commit=True) is Committed.DONE

    assert journal.recent() == [FULL]
    assert journal.get("full") == FULL


def test_rows_survive_the_process_that_wrote_them(database: Database) -> None:
    with closing(Journal(database)) as journal:
        for number in range(100):
            assert journal.append(replace(PLAIN, id=f"e{number}"), commit=False) is Committed.QUEUED

    assert Journal(database).count() == 100


def test_the_newest_row_is_first_even_when_the_clock_jumps_back(journal: Journal) -> None:
    fill(
        journal, replace(PLAIN, id="a", at=500.0), replace(PLAIN, id="b", at=100.0), replace(PLAIN, id="c", at=300.0)
    )

    assert ids(journal.recent()) == ["c", "b", "a"]


def test_pages_follow_each_other_without_gap_or_repetition(journal: Journal) -> None:
    fill(journal, *(replace(PLAIN, id=f"e{number:02}") for number in range(25)))

    seen: list[str] = []
    page = journal.recent(10)
    while page:
        seen += ids(page)
        page = journal.recent(10, RowFilter(before=page[-1].id))

    assert seen == [f"e{number:02}" for number in reversed(range(25))]


@pytest.mark.parametrize(
    "filters",
    [
        {"agent": "shelley"},
        {"session": "s2"},
        {"event": "end-of-turn"},
        {"event": "turn_end"},
        {"verdict": Verdict.DENY},
        {"hook": "guard"},
        {"project": "größe"},
        {"text": '"ü"'},
        {"text": "GUARD: n"},
        {"agent": "shelley", "verdict": Verdict.DENY, "text": "no"},
        {"since": 100.125},
    ],
)
def test_each_filter_finds_its_rows_and_no_others(journal: Journal, filters: dict[str, object]) -> None:
    fill(journal, PLAIN, FULL, replace(PLAIN, id="e2"))

    assert ids(journal.recent(wanted=RowFilter(**filters))) == ["full"]  # type: ignore[arg-type]


def test_signs_of_a_pattern_are_searched_as_they_stand(journal: Journal) -> None:
    fill(journal, replace(PLAIN, id="a", payload="100%"), replace(PLAIN, id="b", payload="100 and a_b"))

    assert ids(journal.recent(wanted=RowFilter(text="0%"))) == ["a"]
    assert ids(journal.recent(wanted=RowFilter(text="a_b"))) == ["b"]
    assert ids(journal.recent(wanted=RowFilter(text="d__"))) == []


def test_abstain_is_a_verdict_one_can_filter_by(journal: Journal) -> None:
    fill(journal, PLAIN, FULL)

    assert ids(journal.recent(wanted=RowFilter(verdict=Verdict.ABSTAIN))) == ["e0"]


def test_a_row_is_found_by_the_only_id_that_begins_so(journal: Journal) -> None:
    fill(journal, *(replace(PLAIN, id=id) for id in ("ab", "abc1", "abd2")))

    found = [journal.get(word) for word in ("ab", "abc", "a", "x", "", "ab_")]
    assert [record.id if record else None for record in found] == ["ab", "abc1", None, None, None, None]


def test_the_answer_given_can_be_given_again_byte_for_byte(journal: Journal) -> None:
    answer = {"stdout": b"\xff\x00\n", "stderr": "ünsafe", "code": 2}
    fill(journal, replace(PLAIN, answer=answer, digest="d1"))

    expected = Answer(stdout=b"\xff\x00\n", stderr="ünsafe".encode(), code=2)
    assert journal.answer_of("e0") == expected
    assert journal.answer_of("e0", digest="d1") == expected


def test_an_answer_that_is_not_whole_or_belongs_to_another_payload_is_not_given_again(journal: Journal) -> None:
    whole = {"stdout": "x", "stderr": "", "code": 0}
    fill(
        journal,
        replace(PLAIN, id="masked", answer=whole | {"exact": False}),
        replace(PLAIN, id="none", answer={}),
        replace(PLAIN, id="other", answer=whole, digest="d1"),
    )

    assert [journal.answer_of(id) for id in ("masked", "none", "missing")] == [None, None, None]
    assert journal.answer_of("other", digest="d2") is None


def test_the_first_account_of_an_event_stands(journal: Journal) -> None:
    fill(journal, FULL, replace(FULL, reason="another"))

    assert journal.count() == 2
    assert journal.get("full") == FULL


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


def test_the_one_shot_engine_writes_marked_rows_without_a_thread(database: Database) -> None:
    before = threading.active_count()
    once = Journal(database, offline=True)

    assert once.append_now(PLAIN) is Committed.DONE
    assert once.append_now(PLAIN) is Committed.DONE

    assert once.recent() == [replace(PLAIN, offline=True)]
    assert threading.active_count() <= before


def test_the_one_shot_engine_is_not_held_up_by_a_locked_file(database: Database) -> None:
    problems = Problems()
    once = Journal(database, offline=True, listener=problems)
    with database.write():
        assert once.append_now(PLAIN, wait=0.01) is Committed.LATE

    assert once.append_now(PLAIN) is Committed.DONE
    assert once.count() == 1
    assert "locked" in problems.texts[0]


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
    with closing(Journal(database, wait=10.0)) as journal:
        fill(journal, *(replace(PLAIN, id=f"e{number:04}", at=number * 864.0) for number in range(1000)))

    assert len(tidied(database, RetentionLimits(rows=2000, days=20.0))) == 1001
    assert tidied(database, RetentionLimits(rows=300, days=20.0))[0] == "e0701"
    left = tidied(database, RetentionLimits(rows=300, days=2.0))
    assert (left[0], len(left)) == ("e0800", 200)  # the last of all is of day 0


def test_what_weighs_too_much_goes_oldest_first_and_the_space_is_given_back(database: Database) -> None:
    with closing(Journal(database, wait=10.0)) as journal:
        fill(journal, *(replace(PLAIN, id=f"e{number}", payload="x" * 4000) for number in range(1500)))

    left = tidied(database, RetentionLimits(megabytes=2.0, days=1e6))

    assert 50 < len(left) < 500
    assert left[-2] == "e1499"
    with database.connect() as connection:
        assert connection.execute("PRAGMA page_count").fetchone()[0] * 4096 < 3_500_000


def test_the_newest_fifty_stay_whatever_they_weigh(database: Database) -> None:
    with closing(Journal(database, wait=10.0)) as journal:
        fill(journal, *(replace(PLAIN, id=f"e{number}", payload="x" * 65_000) for number in range(100)))

    assert len(tidied(database, RetentionLimits(megabytes=1.0, days=1e6))) == 50


def test_what_is_too_much_goes_while_the_tray_runs_and_not_only_at_its_start(database: Database) -> None:
    with closing(
        Journal(database, wait=10.0, retention=Retention(Limited(RetentionLimits(rows=100, days=1e6))))
    ) as journal:
        fill(journal, *(replace(PLAIN, id=f"e{number}") for number in range(PRUNE_INTERVAL)))
        wait(lambda: journal.count() == 100)

        assert ids(journal.recent(1000))[-1] == f"e{PRUNE_INTERVAL - 99}"


def test_a_number_once_given_is_never_given_again(database: Database, journal: Journal) -> None:
    fill(journal, PLAIN)
    tidied(database, RetentionLimits(rows=0))
    fill(journal, FULL)

    with database.connect() as connection:
        assert connection.execute("SELECT min(seq) FROM journal").fetchone()[0] > 2


def test_lost_rows_are_counted_once_also_when_the_database_took_none_of_them(database: Database) -> None:
    journal = Journal(database, listener=Problems())
    with database.write():
        for number in range(3):
            journal.append(replace(PLAIN, id=f"e{number}"), commit=False)
        journal.close(limit=0.1)
    Journal(database, offline=True).count_dropped()

    assert (journal.dropped, Journal(database).dropped) == (3, 4)
    for _ in range(2):
        with closing(Journal(database, wait=10.0)) as again:
            again.prune()
            fill(again)
        assert Journal(database).dropped == 4
    assert [(file.name, file.read_bytes().strip()) for file in database.path.parent.glob("*.lost*")] == [
        ("hooktray.db.lost", b"")
    ]


def test_the_count_of_lost_rows_has_its_place_on_the_disk_before_that_is_full(database: Database) -> None:
    with closing(Journal(database, wait=10.0)) as journal:
        fill(journal)

    assert database.path.with_name("hooktray.db.lost").stat().st_size > 0
    assert Journal(database).dropped == 0


def test_a_hundred_thousand_rows_are_read_by_key(database: Database) -> None:
    template = row_values(PLAIN)
    made = ((f"e{number}", *template[1:4], f"s{number % 100}", *template[5:]) for number in range(100_000))
    with database.write() as connection:
        connection.executemany(insert_statement(1), made)

    journal = Journal(database)
    assert [record.id for record in journal.recent(2)] == ["e99999", "e99998"]
    assert [record.id for record in journal.recent(2, RowFilter(before="e50000"))] == ["e49999", "e49998"]
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
