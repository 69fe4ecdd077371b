"""What the running tray does when its state is lost: it begins anew, and nothing runs that was not approved again."""

from __future__ import annotations

import shutil
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest
from damage import damage_table
from house import House
from user_controls import user_controls
from viewer import Viewer

from tray.approvals.catalog import HookCatalog
from tray.doctor.state_incident import IncidentCause
from tray.engine.guards_in_force import note_loss
from tray.engine.stores import open_stores
from tray.errors import StoreError
from tray.installation import installed_relay, lost_state
from tray.installation.connection_watch import WatchedCore
from tray.installation.lost_state import LostState
from tray.installation.relay_files import RelayFiles
from tray.installation.state_folder import StateFolder
from tray.model.hook import ApprovalState
from tray.notify.service import AlertService
from tray.store.copies import DamagedError
from tray.store.db import Database
from tray.store.ledger import Ledger
from tray.store.lost_guards import LostGuards
from tray.store.set_aside import files_set_aside
from tray.threads import ShutdownState


class Tray:
    """The parts that begin anew. Stands in for the others, and records what they were asked."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.viewer = Viewer()
        self.alarms: list[tuple[str, str]] = []
        self.withdrawn: list[str] = []
        self.ended = 0
        self.delays: list[float] = []
        self.posted: list[object] = []  # to the work queue
        self.quit = ShutdownState()
        self.paths = house.paths
        self.refuses = False  # to listen again
        self.folder = StateFolder(house.paths)
        self.folder.claim()
        house.paths.socket.touch()
        self.folder.hold(house.stores.database)
        self.relay_files = RelayFiles(house.paths, house.stores, house.catalog)
        core = SimpleNamespace(
            paths=house.paths,
            stores=house.stores,
            catalog=house.catalog,
            relay_files=self.relay_files,
            server=SimpleNamespace(rebind=self._listen),
            shutdown_state=self.quit,
            work=SimpleNamespace(post=self.posted.append),
        )
        self.lost = LostState(
            cast(WatchedCore, core),
            self.folder,
            cast(AbstractEventLoop, SimpleNamespace(call_soon_threadsafe=self._call)),
            cast(AlertService, self),
            self.viewer,
            refresh=self,
            offline_rows=self,
            tray=self,
        )
        self.lost.connections = self
        self.lost.start()

    def _call(self, what: object, *delay: float) -> None:
        self.delays += delay

    def now(self) -> None:
        self.house.catalog.refresh()

    def check(self) -> None: ...

    def alarm(self, title: str, text: str, *, about: str = "") -> str:
        self.alarms.append((title, text))
        return title

    def withdraw(self, key: str) -> None:
        self.withdrawn.append(key)

    def _listen(self) -> None:
        if self.refuses:
            raise OSError("no room")
        self.paths.socket.unlink(missing_ok=True)
        self.paths.socket.touch()

    def yield_to_other(self, reason: str) -> None:
        self.ended += 1

    @property
    def cause(self) -> IncidentCause | None:
        return self.lost.incident.cause if self.lost.incident else None


@pytest.fixture
def tray(house: House) -> Iterator[Tray]:
    tray = Tray(house)
    yield tray
    tray.folder.release()


def delete_folder(house: House) -> None:
    shutil.rmtree(house.paths.state)


def delete_database(house: House) -> None:
    house.paths.database.unlink()


def replace_database(house: House) -> None:
    house.paths.database.rename(house.root / "ours")
    shutil.copy(house.root / "ours", house.paths.database)


def garble_database(house: House) -> None:
    house.paths.database.write_bytes(b"no database" * 1000)


def empty_database(house: House) -> None:
    for path in house.paths.state.glob("hooktray.db*"):
        path.write_bytes(b"")


def cut_database(house: House) -> None:
    content = house.paths.database.read_bytes()
    house.paths.database.with_name("hooktray.db-wal").unlink(missing_ok=True)
    house.paths.database.write_bytes(content[: 3 * 4096])


def damage_ledger(house: House) -> None:
    damage_table(house.paths.database, "ledger")


def mark_by_another_process(house: House) -> None:
    Database(house.paths.database).mark_damaged()


def alter_ledger(house: House) -> None:
    with house.stores.database.write() as connection:
        connection.execute("UPDATE ledger SET digest = 'evil'")


LOSSES: dict[Callable[[House], None], IncidentCause] = {
    alter_ledger: IncidentCause.ALTERED,
    cut_database: IncidentCause.DAMAGED,
    damage_ledger: IncidentCause.DAMAGED,
    delete_database: IncidentCause.DATABASE,
    delete_folder: IncidentCause.DELETED,
    empty_database: IncidentCause.DAMAGED,
    garble_database: IncidentCause.DAMAGED,
    mark_by_another_process: IncidentCause.DAMAGED,
    replace_database: IncidentCause.DATABASE,
}
KEPT = {alter_ledger, cut_database, damage_ledger, garble_database, mark_by_another_process, replace_database}


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: str(lose.__name__))
def test_a_loss_ends_in_an_empty_database_one_notification_and_one_review(
    house: House, tray: Tray, lose: Callable[[House], None]
) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    house.hook("late", on="turn_end", script="exit 0")
    house.stores.switch.set_enabled(False, "test")
    assert tray.lost.check() is False
    lose(house)

    assert tray.lost.check()
    assert tray.lost.check() is False

    assert tray.posted == [tray.now], "icon and menu show it, whoever called check"
    house.catalog.refresh()
    assert tray.cause is LOSSES[lose]
    assert [title for title, _ in tray.alarms] == [LOSSES[lose].value]
    assert {one.state for one in house.catalog.states} == {ApprovalState.PENDING}
    assert house.stores.switch.state().enabled
    assert house.tool() == {}, "no hook runs by itself"
    kept = files_set_aside(house.paths.database)
    assert len(kept) == (lose in KEPT)
    assert all(file.name in tray.alarms[0][1] for file in kept)
    assert LostGuards(house.stores.database).is_unreviewed
    fresh = open_stores(house.paths, create=True)  # as the next tray reads it
    assert (fresh.ledger.state.approved, fresh.ledger.state.tampered, fresh.database.damaged) == ({}, "", None)
    (batch,) = house.consent.batches
    house.consent.approve_batch(batch.digest, "test")
    assert {one.state for one in house.catalog.states} == {ApprovalState.APPROVED}
    assert tray.lost.check() is False


def test_what_happened_is_shown_at_each_start_until_the_user_has_seen_it(house: House, tray: Tray) -> None:
    garble_database(house)
    tray.lost.check()
    tray.folder.release()
    again = Tray(house)
    again.lost.check()
    again.lost.check()
    assert [title for title, _ in again.alarms] == ["The database was damaged"]

    again.lost.show()

    assert "The database was damaged" in again.viewer.opened[-1].read_text()
    assert again.lost.incident is None
    assert again.withdrawn == ["The database was damaged"]
    again.folder.release()
    third = Tray(house)
    third.lost.check()
    assert third.alarms == []
    third.folder.release()


def test_an_incident_ends_when_each_hook_was_decided(house: House, tray: Tray) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    garble_database(house)
    tray.lost.check()
    house.catalog.refresh()
    house.consent.deny(house.state("guard").key, house.state("guard").digest, "test")
    RelayFiles(house.paths, house.stores, house.catalog).write()  # as after each refresh

    tray.lost.check()

    assert tray.lost.incident is None
    assert house.stores.database.damage() is None


def test_a_database_of_another_version_at_the_start_is_an_incident(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.stores.journal.close()
    with house.stores.database.connect() as connection:
        connection.execute("PRAGMA user_version = 1")
    house.stores = open_stores(house.paths, create=True)
    house.catalog = HookCatalog(house.paths, house.stores.ledger, house.stores.copies)
    house.consent = user_controls(house.stores, house.catalog)
    tray = Tray(house)

    tray.lost.check()

    (aside,) = house.paths.state.glob("hooktray.db.version1-*[0-9]")
    assert tray.alarms[0][0] == "The database belongs to another version of Hooktray"
    assert aside.name in tray.alarms[0][1]
    tray.folder.release()


def test_a_file_in_place_of_ours_never_has_its_number(house: House, tray: Tray) -> None:
    content = house.paths.database.read_bytes()
    house.stores.journal.close()
    for path in house.paths.state.glob("hooktray.db*"):
        path.unlink()
    house.paths.database.write_bytes(content)

    tray.lost.check()

    assert tray.cause is IncidentCause.DATABASE


def test_nothing_is_read_or_written_between_the_loss_and_its_notice(house: House, tray: Tray) -> None:
    replace_database(house)

    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        house.stores.switch.set_enabled(False, "test")

    tray.lost.check()
    house.stores.switch.set_enabled(False, "test")


def test_an_altered_row_is_not_confirmed_by_the_next_approval(house: House, tray: Tray) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    one = house.hook("second", on="tool_before", script="exit 0", approved=False)
    alter_ledger(house)

    with pytest.raises(StoreError, match="another program altered the ledger"):
        house.consent.approve(one.key, one.digest, "test")

    tray.lost.check()
    assert tray.cause is IncidentCause.ALTERED
    assert Ledger(house.stores.database).in_order() == ()


def test_a_loss_that_was_not_read_stays_in_sight_when_the_socket_is_lost_too(house: House, tray: Tray) -> None:
    garble_database(house)
    tray.lost.check()
    house.paths.socket.unlink()

    tray.lost.check()

    assert [title for title, _ in tray.alarms] == ["The database was damaged", "The socket was deleted or replaced"]
    assert tray.cause is IncidentCause.DAMAGED
    tray.lost.show()
    assert sorted(tray.withdrawn) == sorted(title for title, _ in tray.alarms)


def test_a_loss_while_the_socket_cannot_be_made_anew_is_announced(
    house: House, tray: Tray, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(lost_state, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))
    monkeypatch.setattr(tray, "refuses", True)
    house.paths.socket.unlink()
    tray.lost.check()
    monkeypatch.setattr(tray, "refuses", False)
    garble_database(house)
    now[0] += 1.0

    tray.lost.check()

    assert [title for title, _ in tray.alarms] == ["The socket was deleted or replaced", "The database was damaged"]
    assert tray.lost.has_lost_approvals


def test_a_pause_is_lost_with_the_approvals_and_its_guards_are_not(house: House, tray: Tray) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.stores.switch.pause(time.time() + 600, channel="test")
    delete_database(house)

    tray.lost.check()

    assert house.stores.switch.state().pauses == ()
    assert LostGuards(house.stores.database).load()


def test_what_was_guarded_is_not_forgotten_when_it_cannot_be_noted_at_once(
    house: House, tray: Tray, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    now = [100.0]
    monkeypatch.setattr(lost_state, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))

    def full(self: LostGuards, guards: object) -> None:
        raise StoreError("the disk is full")

    delete_database(house)
    with monkeypatch.context() as patch:
        patch.setattr(LostGuards, "begin", full)
        tray.lost.check()
        tray.relay_files.write()  # as each refresh does
        assert tray.relay_files.lost.guards
    now[0] += 1.0

    tray.lost.check()

    assert LostGuards(house.stores.database).load()


@pytest.mark.parametrize(
    ("name", "is_replaced", "what"),
    [("lock", False, "The lock file"), ("socket", False, "The socket"), ("socket", True, "The socket")],
)
def test_socket_and_lock_are_made_anew_without_touching_an_approval(
    house: House, tray: Tray, name: str, is_replaced: bool, what: str
) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    path = house.paths.socket if name == "socket" else house.paths.state / "lock"
    another = house.root / "another"
    another.touch()
    another.replace(path) if is_replaced else path.unlink()

    tray.lost.check()

    assert path.exists()
    assert tray.alarms == [(f"{what} was deleted or replaced", "It was made anew")]
    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_copies_that_the_hooks_own_files_still_hold_are_there_again(house: House, tray: Tray) -> None:
    same = house.hook("same", on="tool_before", script="echo no >&2; exit 2")
    other = house.hook("other", on="tool_before", script="exit 0")
    house.script("other.sh", "exit 1")
    shutil.rmtree(house.paths.copies)

    tray.lost.check()
    house.catalog.refresh()

    assert tray.cause is IncidentCause.COPIES
    house.stores.copies.check(same.approved)
    with pytest.raises(DamagedError):
        house.stores.copies.check(other.approved)
    assert house.state("other").waiting
    assert not LostGuards(house.stores.database).is_unreviewed


def test_the_socket_that_the_tray_removes_when_it_quits_is_no_incident(house: House, tray: Tray) -> None:
    tray.quit.begin()
    house.paths.socket.unlink()

    tray.lost.check()

    assert tray.alarms == []


def test_a_state_folder_that_is_deleted_while_the_tray_quits_is_made_anew(house: House, tray: Tray) -> None:
    tray.quit.begin()
    delete_folder(house)

    tray.lost.check()

    assert tray.cause is IncidentCause.DELETED
    assert house.paths.database.exists()


def test_the_tray_gives_way_once_to_another_one_that_has_the_new_folders_lock(house: House, tray: Tray) -> None:
    delete_folder(house)
    tray.folder.outer_lock.unlink()
    other = StateFolder(house.paths)
    other.claim()

    tray.lost.check()
    tray.lost.check()

    assert tray.ended == 1
    assert [title for title, _ in tray.alarms] == ["Hooktray"]
    other.release()


def test_failed_attempts_are_announced_once_and_wait_longer_each_time(
    house: House, tray: Tray, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(lost_state, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))
    delete_folder(house)
    house.paths.state.symlink_to(house.root)  # which cannot be a state folder

    tray.lost.check()
    now[0] += 0.75
    tray.lost.check()  # too soon: it is not even tried
    now[0] += 0.25
    tray.lost.check()

    assert len(tray.alarms) == 1
    assert "It cannot be made anew" in tray.alarms[0][1]
    assert tray.delays == [1.0, 0.25, 2.0]
    house.paths.state.unlink()
    now[0] += 2.0
    tray.lost.check()
    assert "It cannot be made anew" not in tray.alarms[1][1]
    assert LostGuards(house.stores.database).is_unreviewed


def test_a_lost_folder_whose_table_has_no_guards_by_the_users_setting_is_announced(house: House) -> None:
    installed_relay.write_table(house.paths, (), house.stores.database, without_tray="allow")
    delete_folder(house)
    house.paths.prepare()
    stores = open_stores(house.paths, create=True)

    note_loss(house.paths, stores.database, stores.ledger.state)

    assert stores.database.damage() == ""
    assert LostGuards(stores.database).is_noted
