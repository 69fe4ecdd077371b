"""The master switch: hot, durable, and never later than its own word."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest
from clock import Clock
from desk import wait
from every import every
from msgspec.structs import replace

from tray.errors import StoreError
from tray.model.decision import Gate
from tray.store.checkpoint import SWITCH
from tray.store.db import Database
from tray.store.switch import Switch, SwitchState, TimedPause

TOGGLER = """
import pathlib, sys
from tray.store.db import open_db
from tray.store.switch import Switch
switch = Switch(open_db(pathlib.Path(sys.argv[1]), create=False))
on = True
while True:
    on = not on
    switch.turn(on, "test")
    print("on" if on else "off", flush=True)
"""


def test_hooks_are_on_until_switched_off_which_takes_effect_at_once_and_survives_a_restart(
    database: Database,
) -> None:
    switch = Switch(database)
    assert switch.state() == SwitchState(enabled=True, paused_until=None, muted=False)
    assert switch.gate(0.0, "s", "shelley") is None

    switch.set_enabled(False, "menu")

    assert switch.gate(0.0) is Gate.SWITCH_OFF
    assert Switch(database).gate(0.0) is Gate.SWITCH_OFF


def test_off_takes_precedence_over_paused_and_on_ends_both(database: Database) -> None:
    switch = Switch(database, clock=Clock(100.0))
    switch.pause(200.0, channel="menu")
    switch.set_enabled(False, "menu")
    assert switch.gate(100.0) is Gate.SWITCH_OFF

    switch.set_enabled(True, "cli")

    assert switch.gate(100.0) is None
    assert Switch(database, clock=Clock(100.0)).state() == SwitchState()


def test_a_pause_ends_by_itself_or_is_ended_with_all_others(database: Database) -> None:
    clock = Clock(100.0)
    switch = Switch(database, clock=clock)
    switch.pause(200.0, channel="menu")

    assert [switch.gate(at) for at in (100.0, 199.9, 200.0)] == [Gate.PAUSED, Gate.PAUSED, None]
    assert switch.state().paused_until == 200.0
    clock.now = 200.0
    assert switch.state() == SwitchState()
    for agent in ("", "shelley"):
        switch.pause(300.0, agent=agent, channel="menu")
    switch.resume("menu")
    assert switch.gate(250.0, "s", "shelley") is None
    with database.connect() as connection:
        assert connection.execute("SELECT count(*) FROM pause").fetchone()[0] == 0


def test_a_pause_of_one_agent_or_session_leaves_the_others_alone(database: Database) -> None:
    switch = Switch(database, clock=Clock(100.0))

    switch.pause(200.0, agent="shelley", channel="cli")
    switch.pause(300.0, session="s1", channel="cli")

    for one in (switch, Switch(database, clock=Clock(100.0))):
        assert one.gate(150.0, "other", "shelley") is Gate.PAUSED
        assert one.gate(250.0, "s1", "claude-code") is Gate.PAUSED
        assert one.gate(150.0, "other", "claude-code") is None
        assert one.state().paused_until is None
        assert set(one.state().pauses) == {
            TimedPause(until=200.0, agent="shelley"),
            TimedPause(until=300.0, session="s1"),
        }


def test_each_change_is_logged_with_its_way(database: Database) -> None:
    switch = Switch(database, clock=Clock(100.0))
    switch.set_enabled(False, "menu")
    switch.pause(200.0, agent="shelley", channel="terminal")
    switch.resume("page")

    with database.connect() as connection:
        rows = [tuple(row) for row in connection.execute("SELECT at, what, way FROM switch_log ORDER BY seq")]
    assert rows == [(100.0, "off", "menu"), (100.0, "pause shelley", "terminal"), (100.0, "resume", "page")]


def test_a_change_that_cannot_be_written_does_not_count(database: Database) -> None:
    with database.write() as connection:  # every free byte is taken
        connection.execute("INSERT INTO meta VALUES ('ballast', ?)", ("x" * 100_000,))
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    switch = Switch(replace(database, pragmas=(f"max_page_count = {pages}",)))

    with pytest.raises(StoreError, match="full"):
        switch.set_enabled(False, "x" * 10_000)

    assert switch.gate(0.0) is None
    assert Switch(database).gate(0.0) is None


def test_after_off_returned_no_thread_finds_the_gate_open(database: Database) -> None:
    switch = Switch(database)
    answers: list[Gate | None] = []

    for _ in range(20):
        switch.set_enabled(True, "test")
        switch.set_enabled(False, "test")
        threads = [threading.Thread(target=lambda: answers.append(switch.gate(0.0))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert answers == [Gate.SWITCH_OFF] * 80


def test_concurrent_changes_leave_memory_and_file_agreeing(database: Database) -> None:
    switch = Switch(database)
    threads = [threading.Thread(target=switch.set_enabled, args=(bool(number % 2), "test")) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert switch.state() == Switch(database).state()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_tray_loses_no_change_it_confirmed(database: Database) -> None:
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, "-c", TOGGLER, str(database.path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            first = [process.stdout.readline() for _ in range(10)]
            process.send_signal(signal.SIGKILL)
            words = [*first, *process.stdout.readlines()]
        confirmed = sum(word.endswith("\n") for word in words)
        with database.write() as connection:
            done = connection.execute("DELETE FROM switch_log").rowcount

        assert done in (confirmed, confirmed + 1)  # one may be committed, but not yet confirmed
        assert Switch(database).state().enabled == (done % 2 == 0)


def test_off_returns_only_when_what_was_about_to_start_has_started(database: Database) -> None:
    switch = Switch(database)
    order: list[str] = []

    def turn() -> None:
        switch.set_enabled(False, "menu")
        order.append("off")

    thread = threading.Thread(target=turn)

    with switch.starting() as may:
        thread.start()
        wait(lambda: not Switch(database).state().enabled)  # it is written down,
        thread.join(0.3)  # and has to wait: nothing can be seen that would end this earlier
        order.append("started")
    thread.join(60)

    assert may
    assert order == ["started", "off"]
    with switch.starting() as may:
        assert not may


@every(
    "line",
    [
        "INSERT INTO switch VALUES ('enabled', 0) ON CONFLICT (key) DO UPDATE SET value = 0",
        "INSERT INTO pause VALUES ('', '', 9e15)",
        "INSERT INTO switch VALUES ('hook off guard', 1)",
    ],
)
def test_what_somebody_else_switched_off_is_on_and_told(database: Database, line: str) -> None:
    running = Switch(database)
    with database.write() as connection:
        connection.execute(line)

    fresh = Switch(database)

    assert (fresh.gate(0.0), fresh.is_off("guard")) == (None, False)
    assert "does not count" in fresh.tampered
    running.mute(True)
    assert running.gate(0.0) is None
    assert running.tampered
    assert not Switch(database).tampered


def test_what_we_switched_off_stays_off_when_somebody_else_adds_to_it(database: Database) -> None:
    switch = Switch(database)
    switch.set_enabled(False, "tray")
    with database.write() as connection:
        connection.execute("INSERT INTO pause VALUES ('', '', 9e15)")

    switch.mute(True)

    assert Switch(database).state() == replace(switch.state(), muted=True)
    assert not Switch(database).state().enabled
    assert not Switch(database).state().pauses


@pytest.mark.parametrize("committed", [True, False])
def test_a_crash_while_the_switch_is_written_leaves_it_as_it_stands(database: Database, committed: bool) -> None:
    switch = Switch(database)
    switch.pause(9e15, channel="tray")
    note = database.path.with_name(SWITCH)
    before = note.read_text()
    switch.set_enabled(False, "tray")
    note.write_text(before + note.read_text())
    if not committed:
        with database.write() as connection:
            connection.execute("UPDATE switch SET value = 1")

    fresh = Switch(database)

    assert (fresh.state().enabled, fresh.tampered) == (not committed, "")
    assert fresh.state().pauses


def test_a_snooze_and_muted_sounds_are_kept_for_the_next_tray(database: Database) -> None:
    switch = Switch(database)
    switch.mute(True)
    switch.snooze(5000.2)
    kept = Switch(database).state()
    switch.snooze(None)

    assert (kept.muted, kept.snoozed_until, Switch(database).state().snoozed_until) == (True, 5001, 0)


def test_no_hook_starts_during_a_pause_that_covers_it(database: Database) -> None:
    switch = Switch(database, clock=Clock(100.0))
    switch.pause(200.0, agent="claude-code", channel="menu")

    for agent, expected in (("claude-code", False), ("codex", True)):
        with switch.starting("s", agent) as may:
            assert may is expected
