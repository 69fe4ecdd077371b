"""The clock that retention goes by: rows age by real days, and no wrong clock deletes any of them."""

from __future__ import annotations

from contextlib import closing

import pytest
from msgspec.structs import replace
from store.writing import SetClock
from torture.rows import ROW

from tray.store.db import Database
from tray.store.journal import Journal
from tray.store.retention import DAY, Retention

USED = tuple(range(0, 100, 4))  # days with a row


def left(database: Database, rows: tuple[float, ...], start: float, *later: tuple[float, float]) -> tuple[float, ...]:
    """The days whose rows are left after these clocks, the set and the real one, of a tray that began at `start`."""
    clock = SetClock(start * DAY)
    retention = Retention(clock=clock)
    with closing(Journal(database, wait=10.0)) as journal:
        for day in rows:
            journal.append(replace(ROW, id=str(day), at=day * DAY), commit=True)
    with closing(database.open()) as connection:
        for now, elapsed in ((start, 0.0), *later):
            clock.now, clock.since_boot = now * DAY, elapsed * DAY
            while retention.prune_step(connection):
                pass
        return tuple(float(row["at"]) / DAY for row in connection.execute("SELECT at FROM journal ORDER BY seq"))


@pytest.mark.parametrize(
    ("rows", "start", "later", "gone"),
    [
        (USED, 100, (), 3),
        (USED, 120, (), 8),  # after a holiday
        (USED, 97 + 60, (), 0),  # a clock that is two months ahead
        (USED, 100 + 10 * 365, (), 0),
        ((*USED, 3750), 3750, (), 0),  # and judges events meanwhile
        ((*USED, 3750, 3751), 3752, ((100, 1),), 3),  # and is put right while the tray runs
        ((*USED, 3750, 100), 100, (), 3),  # and was put right before the start
        ((*USED, *range(3750, 3790)), 3790, (), len(USED)),  # it was right: that long nobody used an agent
        (USED, 100, ((100 + 3650, 0.01),), 3),  # it jumps while the tray runs
        (USED, 100, ((105, 5),), 4),  # the tray runs for days
        (USED, 0, ((100, 0.01),), 0),  # a machine without a clock of its own gets the time from the network
        ((), 100, (), 0),
    ],
)  # fmt: skip
def test_rows_age_by_days_that_have_passed_and_not_by_a_wrong_clock(
    database: Database, rows: tuple[float, ...], start: float, later: tuple[tuple[float, float], ...], gone: int
) -> None:
    assert left(database, rows, start, *later) == rows[gone:]
