"""What is made anew when the tray's own connection to the old database cannot be read any more either."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from house import House

from tray.app import state_recovery
from tray.app.file_watch import FolderWatch
from tray.app.state_folder import AnotherTrayError, StateFolder
from tray.app.state_incident import Incident, IncidentCause
from tray.app.state_recovery import StateRecovery
from tray.edit.backups import Backups
from tray.edit.file_changes import File, FileChange, apply
from tray.errors import StoreError
from tray.store.copies import DamagedError
from tray.store.db import Database
from tray.store.ledger import Ledger
from tray.threads import LoopThread, ShutdownState


class Tray:
    """The parts that a recovery needs, and what it asked of the others."""

    def __init__(self, house: House) -> None:
        self.incidents: list[Incident] = []
        self.gave_way = 0
        self.gaps: list[float] = []
        self.quit = ShutdownState()
        self.paths = house.paths
        self.folder = StateFolder(house.paths)
        self.folder.claim()
        house.paths.socket.touch()
        self.recovery = StateRecovery(
            house.paths,
            house.stores,
            house.catalog,
            self.folder,
            self.folder.hold(house.stores.database),
            listen=self._listen,
            write_relay_conf=house.paths.relay_conf.touch,
            announce=self.incidents.append,
            on_conflict=self._give_way,
            retry=self.gaps.append,
            watch=lambda: None,
            shutdown_state=self.quit,
        )
        self.recovery.start()

    def _listen(self) -> None:
        self.paths.socket.touch()

    def _give_way(self) -> None:
        self.gave_way += 1

    def close(self) -> None:
        self.recovery.close()
        self.folder.release()


@pytest.fixture
def tray(house: House) -> Iterator[Tray]:
    tray = Tray(house)
    yield tray
    tray.close()


def test_approvals_and_pauses_come_from_memory_when_the_old_database_cannot_be_read(house: House) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    house.hook("late", on="turn_end", script="exit 0")
    late = house.state("late")
    house.consent.revoke(late.key, "test")
    house.stores.switch.pause(time.time() + 600, agent="x-code", channel="test")
    tray = Tray(house)
    tray.recovery.check()
    tray.recovery.close()  # as when its disk is gone

    shutil.rmtree(house.paths.state)
    tray.recovery.check()

    (incident,) = tray.incidents
    assert incident.lost == ("the journal", "what was remembered of sessions")
    assert (incident.cause, incident.approvals, incident.decisions) == (IncidentCause.DELETED, 1, 0)
    fresh = House(house.root)  # as the one-shot engine and the next tray read it
    assert {one.hook.name: one.state.value for one in fresh.catalog.states} == {}
    fresh.catalog.refresh()
    fresh.configure(house.paths.config.read_text())
    assert {one.hook.name: one.state.value for one in fresh.catalog.states} == {
        "guard": "approved",
        "late": "revoked",
    }
    assert [(one.agent, one.session) for one in fresh.stores.switch.state().pauses] == [("x-code", "")]
    assert fresh.stores.ledger.state.tampered == fresh.stores.switch.tampered == ""
    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    fresh.close()
    tray.close()


def test_a_row_of_the_ledger_that_another_program_alters_is_written_anew_without_a_decision_of_a_person(
    house: House, tray: Tray
) -> None:
    house.hook("guard", on="tool_before", script="echo no >&2; exit 2")
    tray.recovery.check()
    with house.stores.database.write() as connection:
        connection.execute("UPDATE ledger SET digest = 'evil'")
    assert Ledger(house.stores.database).state.tampered

    tray.recovery.check()

    on_disk = Ledger(house.stores.database).state
    assert [one.digest for one in on_disk.ordered] == [house.state("guard").digest]
    assert not on_disk.tampered
    assert house.stores.ledger.restored


def test_nothing_is_read_from_a_database_that_was_put_in_place_of_ours(house: House, tray: Tray) -> None:
    house.paths.database.rename(house.root / "ours")
    shutil.copy(house.root / "ours", house.paths.database)

    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        house.stores.switch.set_enabled(False, "test")

    tray.recovery.check()
    house.stores.switch.set_enabled(False, "test")
    assert [one.cause for one in tray.incidents] == [IncidentCause.DATABASE]


def test_damage_found_in_a_file_in_place_of_ours_does_not_condemn_the_database_that_is_made_anew(
    house: House, tray: Tray
) -> None:
    house.hook("guard", on="tool_before", script="exit 2")
    house.paths.database.rename(house.root / "ours")
    house.paths.database.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError), Database(house.paths.database).connect() as connection:  # as a command reads it
        connection.execute("SELECT * FROM ledger").fetchall()
    assert house.stores.database.is_marked_damaged

    tray.recovery.check()

    assert not house.stores.database.is_marked_damaged
    fresh = House(house.root)  # as the next tray reads it, which would set a condemned one aside
    fresh.configure(house.paths.config.read_text())
    assert fresh.state("guard").state.value == "approved"
    fresh.close()


@pytest.mark.parametrize("also", ["hooktray.db", ""])
def test_what_connect_recorded_is_put_back_while_the_agents_file_is_as_connect_wrote_it(
    house: House, tray: Tray, also: str
) -> None:
    """`rm -rf` of the state folder takes one file after the other, and the tray may be quicker than it."""
    file = house.root / "settings.json"
    backups = Backups(house.paths.state / "connections")
    change = FileChange(path=file, before=None, after=File(text=b"{}", mode=0o600))
    backups.begin("claude-code", [change])
    apply([change])
    assert tray.recovery.check() is False

    shutil.rmtree(house.paths.state / "connections")
    if also:
        (house.paths.state / also).unlink()

    assert tray.recovery.check()
    assert [one.path for one in backups.of_agent("claude-code")] == [file]
    assert len(tray.gaps) == 1, "it is looked once more: whoever deletes may not be done"


def blocked(house: House, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A link is in the place of the state folder, so it cannot be made anew. Returns the clock of the recovery."""
    now = [100.0]
    monkeypatch.setattr(state_recovery, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))
    shutil.rmtree(house.paths.state)
    house.paths.state.symlink_to(house.root)
    return now


def test_what_connect_records_before_the_folder_can_be_made_anew_is_kept(
    house: House, tray: Tray, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = blocked(house, monkeypatch)
    tray.recovery.check()  # fails
    file = house.root / "settings.json"
    backups = Backups(house.paths.state / "connections")
    change = FileChange(path=file, before=None, after=File(text=b"{}", mode=0o600))
    backups.begin("claude-code", [change])
    apply([change])

    tray.recovery.keep_records()  # too soon for another attempt

    shutil.rmtree(house.paths.state / "connections")
    house.paths.state.unlink()
    now[0] += 1.0
    assert tray.recovery.check()
    assert [one.path for one in backups.of_agent("claude-code")] == [file]


def test_what_disconnect_deleted_stays_deleted(house: House, tray: Tray) -> None:
    file = house.root / "settings.json"
    backups = Backups(house.paths.state / "connections")
    backups.begin("claude-code", [FileChange(path=file, before=None, after=File(text=b"{}", mode=0o600))])
    tray.recovery.check()

    backups.delete(file)

    assert tray.recovery.check() is False
    assert backups.of_agent("claude-code") == []


def test_the_socket_that_the_tray_removes_when_it_quits_is_no_incident(house: House, tray: Tray) -> None:
    tray.quit.begin()
    house.paths.socket.unlink()

    tray.recovery.check()

    assert tray.incidents == []


def test_a_state_folder_that_is_deleted_while_the_tray_quits_is_made_anew(house: House, tray: Tray) -> None:
    house.hook("guard", on="tool_before", script="exit 2")
    tray.recovery.check()
    tray.quit.begin()

    shutil.rmtree(house.paths.state)
    tray.recovery.check()

    assert [(one.cause, one.approvals, one.failure) for one in tray.incidents] == [(IncidentCause.DELETED, 1, "")]
    assert house.paths.database.exists()


def test_a_copy_with_other_bytes_is_not_held(house: House, tray: Tray) -> None:
    one = house.hook("guard", on="tool_before", script="exit 2")
    copy = next(iter(house.stores.copies.paths(one.approved).values()))
    Path(copy).chmod(0o700)
    Path(copy).write_text("#!/bin/sh\nexit 0\n")

    with pytest.raises(DamagedError):
        house.stores.copies.bundle(one.approved)
    tray.recovery.check()
    shutil.rmtree(house.paths.copies)
    tray.recovery.check()

    assert tray.incidents[0].lost == ()  # its own file still holds what was approved
    assert "exit 2" in Path(next(iter(house.stores.copies.paths(one.approved).values()))).read_text()


def test_the_tray_gives_way_once_to_another_one_that_has_the_new_folders_lock(house: House, tray: Tray) -> None:
    shutil.rmtree(house.paths.state)
    tray.folder.outer_lock.unlink()
    other = StateFolder(house.paths)
    other.claim()

    tray.recovery.check()
    tray.recovery.check()

    assert (tray.gave_way, tray.incidents) == (1, [])
    other.release()


def test_a_second_claim_of_the_same_folder_is_refused_until_it_is_released(house: House, tray: Tray) -> None:
    with pytest.raises(AnotherTrayError):
        StateFolder(house.paths).claim()

    tray.folder.release()
    second = StateFolder(house.paths)
    second.claim()
    second.release()


def test_failed_tries_are_announced_once_and_come_further_and_further_apart(
    house: House, tray: Tray, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = blocked(house, monkeypatch)

    tray.recovery.check()
    now[0] += 0.75
    tray.recovery.check()  # too soon: it is not even tried
    now[0] += 0.25
    tray.recovery.check()

    assert [one.failure != "" for one in tray.incidents] == [True]
    assert tray.gaps == [1.0, 0.25, 2.0]
    house.paths.state.unlink()
    now[0] += 2.0
    tray.recovery.check()
    assert [one.failure for one in tray.incidents[1:]] == [""]


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.close()


def test_a_folder_is_watched_again_after_it_was_made_anew(loop: LoopThread, tmp_path: Path) -> None:
    folder = tmp_path / "above" / "state"
    folder.mkdir(parents=True)
    signs = threading.Semaphore(0)
    watch = FolderWatch(loop.loop, folder, ("lock",), lambda: signs.release())
    watch.rearm()
    assert signs.acquire(timeout=60), "the first look"

    (folder / "lock").touch()
    assert signs.acquire(timeout=60), "a name in it"
    shutil.rmtree(folder)
    assert signs.acquire(timeout=60), "its end"
    folder.mkdir()
    assert signs.acquire(timeout=60), "its return"
    watch.rearm()
    assert signs.acquire(timeout=60), "the look after that"
    folder.parent.rename(tmp_path / "elsewhere")
    assert signs.acquire(timeout=60), "a folder above it"

    watch.close()
