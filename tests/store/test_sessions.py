"""What is remembered of a session: one of many marks it, in any process, until its turn or the session ends."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from clock import Clock

from tray.errors import StoreError
from tray.store.db import Database
from tray.store.sessions import MAX_NOTES, SessionNote, Sessions

AGENT = "claude-code"


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database)


def test_a_mark_is_new_once_and_sessions_agents_and_names_do_not_share_marks(sessions: Sessions) -> None:
    assert sessions.empty
    assert [sessions.mark(AGENT, "s", "x") for _ in range(3)] == [True, False, False]
    assert not sessions.empty
    assert sessions.marked(AGENT, "s", "x")

    assert sessions.mark(AGENT, "t" * 100_000 + "\ud800", "x")
    assert sessions.mark("shelley", "s", "x")
    assert sessions.mark(AGENT, "s", "y")
    assert sessions.marks(AGENT, "s") == {"x", "y"}


def test_of_many_at_once_exactly_one_marks(database: Database) -> None:
    together = threading.Barrier(4)

    def mark(_: int) -> bool:
        sessions = Sessions(database)
        together.wait(60)
        while True:
            try:
                return sessions.mark(AGENT, "s", "x")
            except StoreError:
                continue  # the disk was too slow for one of them; whoever asks again gets the same answer

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(mark, range(4))) == [False] * 3 + [True]


def test_without_a_session_nothing_is_remembered(sessions: Sessions) -> None:
    sessions.add_note(AGENT, "", SessionNote(hook="h", text="t"))

    assert [sessions.mark(AGENT, "", "x") for _ in range(2)] == [True, True]
    assert sessions.increment(AGENT, "", "x") == 0
    assert (sorted(sessions.marks(AGENT, "")), sessions.take_notes(AGENT, "")) == ([], ())


def test_a_turns_end_takes_what_belongs_to_the_turn_and_a_sessions_end_the_rest(sessions: Sessions) -> None:
    sessions.mark(AGENT, "s", "skill", turn=True)
    sessions.mark(AGENT, "s", "once")
    sessions.clear(AGENT, "s", turn=True)
    assert sessions.marks(AGENT, "s") == {"once"}

    sessions.clear(AGENT, "s")

    assert sessions.empty


def test_a_sessions_end_takes_everything_of_it_alone(sessions: Sessions) -> None:
    for session in ("s", "t"):
        sessions.mark(AGENT, session, "x")
        sessions.add_note(AGENT, session, SessionNote(hook="h", text="t"))

    sessions.clear(AGENT, "s")

    assert (sorted(sessions.marks(AGENT, "s")), sessions.take_notes(AGENT, "s")) == ([], ())
    assert (sorted(sessions.marks(AGENT, "t")), len(sessions.take_notes(AGENT, "t"))) == (["x"], 1)


def test_counts_go_up_until_they_begin_anew(sessions: Sessions) -> None:
    assert [sessions.increment(AGENT, "s", "x") for _ in range(3)] == [1, 2, 3]
    sessions.unmark(AGENT, "s", "x")
    assert sessions.increment(AGENT, "s", "x") == 1


def test_notes_are_taken_in_order_and_once(sessions: Sessions) -> None:
    notes = (SessionNote(hook="a", text="1"), SessionNote(hook="b", text="2", wake=True))
    for note in notes:
        sessions.add_note(AGENT, "s", note)

    assert sessions.take_notes(AGENT, "s", wake=True) == notes[1:]
    assert sessions.take_notes(AGENT, "s") == notes[:1]
    assert sessions.take_notes(AGENT, "s") == ()


def test_where_no_note_waits_nobody_waits_for_the_database(sessions: Sessions, database: Database) -> None:
    sessions.mark(AGENT, "s", "skill:lint")

    with database.write():
        assert sessions.take_notes(AGENT, "s") == ()


def test_what_another_process_remembers_of_a_new_session_is_seen(database: Database) -> None:
    ours, theirs = Sessions(database), Sessions(database)
    assert ours.empty

    theirs.mark(AGENT, "s", "skill:lint")
    assert not ours.empty
    assert ours.marks(AGENT, "s") == {"skill:lint"}
    assert not ours.mark(AGENT, "s", "skill:lint")
    theirs.add_note(AGENT, "s", SessionNote(hook="a", text="1"))
    assert [note.text for note in ours.take_notes(AGENT, "s")] == ["1"]
    assert theirs.take_notes(AGENT, "s") == ()
    assert Sessions(database).marked(AGENT, "s", "skill:lint"), "after a restart"


def test_a_database_that_is_busy_for_a_moment_keeps_nobody_from_beginning(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")

        sessions = Sessions(database)

        assert not sessions.empty, "nobody can tell yet"
    assert sessions.empty


def test_while_nobody_can_tell_everything_may_be_remembered(sessions: Sessions, database: Database) -> None:
    sessions.mark(AGENT, "s", "x")
    sessions.clear(AGENT, "s")
    with database.write() as connection:
        connection.execute("DROP TABLE session_mark")

    assert not sessions.empty
    with pytest.raises(StoreError):
        sessions.take_notes(AGENT, "t")


def test_notes_are_redacted_and_few(sessions: Sessions, database: Database) -> None:
    secret = "ghp_" + "a1B2" * 9
    for number in range(MAX_NOTES + 3):
        sessions.add_note(AGENT, "s", SessionNote(hook="h", text=f"{number} {secret}"))

    notes = sessions.take_notes(AGENT, "s")

    assert (len(notes), notes[0].text.startswith("3 ")) == (MAX_NOTES, True)
    assert secret not in repr(notes)


def test_what_nobody_ended_is_pruned(database: Database) -> None:
    Sessions(database, clock=Clock(0.0)).mark(AGENT, "old", "x")
    sessions = Sessions(database, clock=Clock(10 * 86_400.0))
    sessions.mark(AGENT, "new", "x")

    sessions.prune(7)

    assert [sorted(sessions.marks(AGENT, session)) for session in ("old", "new")] == [[], ["x"]]
