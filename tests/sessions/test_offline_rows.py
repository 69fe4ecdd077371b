"""What was answered without the tray is in its menu and announced, once, also while the tray runs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from desk import wait
from house import House
from notify import samples

from tray.model.decision import Record, Verdict
from tray.notify.alert import Alert
from tray.sessions.offline_rows import OfflineRows
from tray.store.journal import OFFLINE_MARK, Journal


class Announced:
    """Records what is announced, and what is shown."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.rows: list[str] = []

    def announce(self, alerts: tuple[Alert, ...], record: str = "") -> None:
        self.texts += [f"{alert.title}: {alert.body}" for alert in alerts]

    def withdraw(self, keys: tuple[str, ...]) -> None: ...

    def publish_offline(self, rows: Sequence[Record]) -> list[Record]:
        """As the menu does."""
        fresh = [row for row in rows if row.id not in self.rows]
        self.rows += [row.id for row in fresh]
        return fresh


@pytest.fixture
def announced() -> Announced:
    return Announced()


@pytest.fixture
def offline(house: House, announced: Announced) -> OfflineRows:
    service = samples.service(announced)
    return OfflineRows(house.paths, house.stores.journal, service, announced)


def answer_without_tray(house: House, id: str, at: float) -> None:
    """As the one-shot engine does beside a tray."""
    row = Record(id=id, at=at, agent="x-code", session="s", project="p", event="TurnComplete", kind="round_end",
                 verdict=Verdict.ABSTAIN, reason="", ms=1.0)  # fmt: skip
    Journal(house.stores.database, offline=True).append_now(row)
    (house.paths.state / OFFLINE_MARK).touch()


BEFORE = "Hooktray: 1 event was answered while the tray was not running"
BUSY = "Hooktray: 1 event was answered without the tray, which was busy: X-Code CLI TurnComplete"


def test_rows_from_before_the_start_and_from_after_it_are_announced_apart(
    house: House, offline: OfflineRows, announced: Announced
) -> None:
    answer_without_tray(house, "a", time.time() - 60)
    answer_without_tray(house, "b", time.time() + 60)

    offline.announce_rows()
    offline.check()

    assert (announced.rows, announced.texts) == (["a", "b"], [BEFORE, BUSY])


def test_a_running_tray_reads_each_row_once_and_none_that_it_has_announced_itself(
    house: House, offline: OfflineRows, announced: Announced
) -> None:
    offline.announce_rows()
    announced.rows = ["own"]
    for id in ("own", "a", "b"):
        answer_without_tray(house, id, time.time() + 60)
        for _ in range(2):
            offline.check()

    assert (announced.rows, announced.texts) == (["own", "a", "b"], [BUSY] * 2)


def test_a_running_tray_announces_calls_that_went_on_unjudged(
    house: House, offline: OfflineRows, announced: Announced
) -> None:
    (house.paths.state / "unjudged-calls").write_bytes(b"x-code\x1fPreToolUse\n")

    for _ in range(2):
        offline.check()

    (text,) = announced.texts
    assert text.startswith("Hooktray could not judge, and 1 guarded call went on")
    (shown,) = announced.rows
    wait(lambda: house.stores.journal.get(shown) is not None)


def test_rows_that_cannot_be_read_now_are_announced_at_the_next_look(
    house: House, offline: OfflineRows, announced: Announced, caplog: pytest.LogCaptureFixture
) -> None:
    answer_without_tray(house, "a", time.time() + 60)
    with house.stores.database.write() as connection:
        connection.execute(
            "CREATE TRIGGER is_full BEFORE INSERT ON meta WHEN NEW.key = 'offline_seen'"
            " BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
        )
    offline.check()
    assert announced.rows == []
    assert "what was answered without the tray cannot be read" in caplog.text
    with house.stores.database.write() as connection:
        connection.execute("DROP TRIGGER is_full")

    offline.check()

    assert announced.rows == ["a"]
