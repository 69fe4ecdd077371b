"""Filters, sums and charts: they say what the journal holds."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from pathlib import Path

import pytest
from every import every
from house import House
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from store.writing import write
from web.site import ROW

from tray.agents.registry import AGENTS
from tray.model.decision import Record, Verdict
from tray.store.db import open_db
from tray.store.journal import Journal, RowFilter, insert_statement, query_rows, row_values
from tray.store.schema import SCHEMA
from tray.store.stats import HOUR, HookRun, HourCount, Statistics
from tray.web import charts, filters, peers
from tray.web.templating import VERDICTS, clock, duration

WORDS = st.sampled_from(["", "a", "B", "ä", "Ä", "%", "_", "\\", '"', "tool_before", "PreToolUse"])

NAMES = ["agent", "project", "session", "event", "verdict", "hook", "text"]


@st.composite
def records(draw: st.DrawFn) -> Record:
    turn = {"name": draw(WORDS), "status": "ok", "verdict": "abstain", "reason": draw(WORDS), "ms": 1.0}
    return replace(
        ROW, agent=draw(WORDS), project=draw(WORDS), session=draw(WORDS), event=draw(WORDS), kind=draw(WORDS),
        verdict=draw(st.sampled_from(Verdict)), reason=draw(WORDS), hooks=(turn,) * draw(st.integers(0, 1)),
        payload=draw(WORDS), answer={"stdout": draw(WORDS), "stderr": "", "code": 0},
    )  # fmt: skip


@settings(max_examples=50)
@given(
    st.lists(records(), min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(NAMES), WORDS | st.sampled_from(VERDICTS)),
)
def test_news_fit_a_filter_exactly_when_the_journal_finds_them(found: list[Record], query: dict[str, str]) -> None:
    wanted = filters.parse(query)
    found = [replace(one, id=f"r{number}") for number, one in enumerate(found)]

    assert [one.id for one in found if wanted.matches(one)] == in_journal(found, wanted)


def in_journal(found: list[Record], wanted: filters.DecisionFilter) -> list[str]:
    with sqlite3.connect(":memory:") as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(SCHEMA)
        connection.executemany(insert_statement(1), map(row_values, found))
        return [row["id"] for row in connection.execute(*query_rows(50, wanted))][::-1]


def test_a_filter_takes_only_what_it_knows() -> None:
    assert filters.parse({"verdict": "maybe", "colour": "red", "agent": " shelley "}).active == {"agent": "shelley"}
    assert len(filters.parse({"text": "x" * 1000}).text) == filters.MAX_LENGTH


def test_sums_are_those_of_the_journal(tmp_path: Path) -> None:
    database = open_db(tmp_path / "hooktray.db", create=True)
    turn = {"name": "guard", "verdict": "abstain", "reason": "", "ms": 4.0}
    ran, broke, skipped = ({**turn, "status": status} for status in ("ok", "failed", "skipped"))
    found = [
        replace(ROW, id="a", at=HOUR, hooks=(ran,)),
        replace(ROW, id="b", at=HOUR + 1, hooks=(broke, skipped), verdict=Verdict.DENY),
        replace(ROW, id="c", at=2 * HOUR, agent="shelley", session="s-2"),
        replace(ROW, id="d", at=0.0, session=""),
        replace(ROW, id="e", at=HOUR, agent="shelley", hooks=(ran,), test=True),
    ]
    write(database, found)
    statistics = Statistics(database)

    assert statistics.hours(HOUR) == [
        HourCount(HOUR, Verdict.ABSTAIN, 1), HourCount(HOUR, Verdict.DENY, 1),
        HourCount(2 * HOUR, Verdict.ABSTAIN, 1),
    ]  # fmt: skip
    assert [(one.status, one.failed) for one in statistics.hook_runs(0.0)] == [("ok", False), ("failed", True)]
    assert statistics.hook_runs(0.0, hook="other") == []
    assert [(one.session, one.count, one.denied) for one in statistics.sessions(9)] == [("s-2", 1, 0), ("s-1", 2, 1)]
    assert [(one.agent, one.count) for one in statistics.agent_activity(tuple(AGENTS), HOUR)] == [
        ("shelley", 1), ("claude-code", 2),
    ]  # fmt: skip


def test_the_journals_agents_are_those_whose_names_are_plain_words(house: House) -> None:
    names = ("shelley", "pine", "pine", "", "Pine", "pi ne", "x\n", "1x", "oak-2")
    assert Statistics(house.stores.database).agent_names() == []
    write(house.stores.database, [replace(ROW, id=f"r{number}", agent=name) for number, name in enumerate(names)])

    assert Statistics(house.stores.database).agent_names() == ["oak-2", "pine", "shelley"]


def test_an_agent_that_only_our_own_events_spoke_for_was_never_heard_of(house: House) -> None:
    ours = replace(ROW, id="a", at=HOUR, agent="x-code", session="hooktray-probe-1")
    write(house.stores.database, [ours])

    assert Statistics(house.stores.database).agent_activity(tuple(AGENTS), 0.0) == []


def test_what_came_in_since_is_what_came_after(house: House) -> None:
    found = [replace(ROW, id=f"r{number}") for number in range(4)]
    write(house.stores.database, found)
    journal: Journal = house.stores.journal

    assert [one.id for one in journal.recent(wanted=RowFilter(after="r1"))] == ["r3", "r2"]
    assert journal.recent(wanted=RowFilter(after="unknown")) == []


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(Verdict), st.integers(1, 10**6)), max_size=30))
def test_every_bar_stands_within_its_picture(numbers: list[tuple[int, Verdict, int]]) -> None:
    now = 1_800_000_000.0
    counts = {(hour, verdict): count for hour, verdict, count in numbers}
    last = now // HOUR * HOUR

    chart = charts.decision_chart(
        [HourCount(last - hour * HOUR, one, count) for (hour, one), count in counts.items()], now
    )

    assert chart.total == sum(count for (hour, _), count in counts.items() if hour < charts.HOURS)
    assert chart.total == sum(int(cell) for row in chart.rows for cell in row[1:])
    for bar in chart.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= charts.WIDTH
        assert -0.2 <= bar.y <= bar.y + bar.height <= charts.HEIGHT + 0.2


def test_half_and_95_of_100_turns_are_told() -> None:
    turns = [HookRun("guard", "ok" if ms % 10 else "failed", float(ms), float(ms)) for ms in range(1, 101)]

    guard = charts.hook_durations(turns)

    assert (guard.runs, guard.failures, guard.p50, guard.p95, guard.last) == (100, 10, 50.0, 95.0, 100.0)
    assert charts.hook_durations([]).runs == 0
    assert charts.durations_by_hook([*turns, HookRun("other", "ok", 1.0, 1.0)])["guard"] == guard
    assert all(bar.y + bar.height <= charts.DURATIONS_HEIGHT + 0.1 for bar in guard.bars)


@every(("ms", "shown"), [(0, "0 ms"), (0.2, "< 1 ms"), (12.4, "12 ms"), (1500, "1.5 s"), (90_000, "2 min")])
def test_a_duration_has_a_unit_that_fits(ms: float, shown: str) -> None:
    assert duration(ms) == shown


def test_the_far_end_of_a_connection_is_known_by_user_and_process() -> None:
    if not peers.is_supported():
        pytest.skip("no /proc here")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        connection, theirs = server.accept()
        with connection:
            peer = peers.find(theirs, server.getsockname())
            assert peer is not None
            assert peer.is_ours
            assert os.getpid() in peer.processes()
            assert peers.find(("127.0.0.1", 1), client.getsockname()) is None


def test_times_are_those_of_this_day() -> None:
    now = time.time()
    assert clock(now) == time.strftime("%H:%M:%S", time.localtime(now))
    assert " " in clock(0.0)
