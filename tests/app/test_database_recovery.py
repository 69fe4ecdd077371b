"""How the tray reports damage: critical, once, never as an altered ledger, and shown until a person has looked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from app.test_alert_controller import Bench
from approvals.test_batch import begin_again, forget
from damage import damage_table
from house import House

from tray.app.database_recovery import REAPPROVAL, DatabaseRecovery
from tray.app.reports import damage_notice
from tray.model.hook import ApprovalState
from tray.notify.alert import Button, Urgency


class Tray(Bench):
    """Remembers which alerts were taken back."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.withdrawn: list[str] = []
        self.files: list[str] = []
        self.recovery = DatabaseRecovery(
            house.stores, self.controls, house.paths.state / "reviews", self.alerting.alerts, self.open_file
        )
        self.alerting.actions = replace(self.alerting.actions, show_batch=self.recovery.show)

    def withdraw(self, keys: tuple[str, ...]) -> None:
        self.withdrawn += keys

    def open_file(self, path: Path) -> None:
        self.files.append(path.read_text())

    def look(self) -> None:
        """As the tray does when something may have changed."""
        self.house.catalog.refresh()
        self.alerting.announce_tampering(self.house.stores)
        self.recovery.refresh()

    @property
    def told(self) -> list[str]:
        return [alert.title if alert.title != "Hooktray" else alert.body for alert in self.alerts]


@pytest.fixture
def trays(house: House) -> Iterator[list[Tray]]:
    made: list[Tray] = []
    yield made
    for one in made:
        one.close()


def tray(house: House, trays: list[Tray]) -> Tray:
    trays.append(Tray(house))
    trays[-1].look()
    return trays[-1]


def test_damage_is_critical_and_its_review_is_opened_by_the_button(house: House, trays: list[Tray]) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    forget(house)

    one = tray(house, trays)
    (alert,) = one.alerts
    before = one.recovery.headline
    one.alerting.press(alert, Button.REVIEW)

    assert (alert.urgency, alert.notify, alert.buttons, alert.about) == (
        Urgency.CRITICAL, True, (Button.REVIEW,), REAPPROVAL,
    )  # fmt: skip
    assert "1 hook is unchanged" in alert.body
    assert "echo no" in one.files[0]
    assert (before, one.recovery.headline) == ("The database was damaged", "")
    assert house.state("guard").state is ApprovalState.PENDING


def test_damage_is_announced_at_each_start_until_a_person_has_looked(house: House, trays: list[Tray]) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    forget(house)
    heard = [tray(house, trays).told, tray(house, trays).told]
    trays[-1].recovery.show()

    heard.append(tray(house, trays).told)

    assert heard == [["The database was damaged"]] * 2 + [["1 hook is unchanged: one review approves it again"]]


def test_an_alert_is_taken_back_with_its_cause(house: House, trays: list[Tray]) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    forget(house)
    one = tray(house, trays)
    (alert,) = one.alerts

    one.controls.approve_batch(one.controls.batch.digest, "tray")
    one.look()

    assert one.withdrawn == [alert.key]
    assert one.recovery.headline == ""
    assert house.stores.database.damage() is None


def test_a_database_without_a_file_to_keep_is_called_lost_and_not_altered(house: House, trays: list[Tray]) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.stores.journal.close()
    house.paths.database.unlink()
    begin_again(house)

    one = tray(house, trays)

    assert one.told == ["The database was lost"]
    assert one.alerts[0].urgency is Urgency.CRITICAL
    assert "Each hook waits for you under Approvals" in one.alerts[0].body
    assert house.stores.ledger.state.tampered == ""


def test_a_database_of_another_version_is_announced_as_such_and_its_approvals_are_offered(
    house: House, trays: list[Tray]
) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.stores.journal.close()
    with house.stores.database.connect() as connection:
        connection.execute("PRAGMA user_version = 1")
    begin_again(house)

    one = tray(house, trays)

    assert one.told == ["The database belongs to another version of Hooktray"]
    assert one.alerts[0].urgency is Urgency.CRITICAL
    assert "1 hook is unchanged" in one.alerts[0].body
    (aside,) = house.paths.state.glob("hooktray.db.version1-*[0-9]")
    assert f"The file is kept: {aside.name}" in one.alerts[0].body
    assert damage_notice(house.stores.database).startswith(
        f"the database belongs to another version of Hooktray: it was set aside as {aside.name}"
    )


def test_while_the_file_is_damaged_nothing_is_called_tampering(house: House, trays: list[Tray]) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    one = tray(house, trays)
    house.stores.journal.close()
    damage_table(house.paths.database, "ledger_key")
    house.stores.switch.tampered = "the switch is not as Hooktray last wrote it"

    one.look()
    one.look()

    assert one.told == ["The database is damaged"]
    assert one.alerts[0].urgency is Urgency.CRITICAL
    assert one.recovery.headline == "The database is damaged: quit Hooktray and start it again"
    assert {approved.hook.name for approved in house.stores.ledger.in_order()} == {"guard"}


def test_a_row_put_into_a_whole_database_is_announced_as_critical(house: House, trays: list[Tray]) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    with house.stores.database.write() as connection:
        connection.execute("UPDATE ledger SET digest = 'evil'")
    house.stores.ledger.load()

    one = tray(house, trays)
    one.look()

    assert one.told == ["The ledger is not as Hooktray left it"]
    assert one.alerts[0].urgency is Urgency.CRITICAL
    assert "row 1 of the ledger is not as it was written" in one.alerts[0].body
    assert not house.stores.database.is_marked_damaged
