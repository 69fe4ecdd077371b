"""What the installed relay knows of approved guards: a real tray writes it, and a relay left alone goes by it."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from desk import wait
from e2e.installed import LONG, Installed
from house import House
from plain import Plain

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")


@pytest.fixture
def installed(house: House, plain: Plain) -> Installed:
    return Installed(house, plain)


def test_left_alone_the_relay_denies_asks_and_does_not_ask_about_what_no_guard_matches(installed: Installed) -> None:
    installed.connect()
    wait(lambda: installed.guarded, what="the guards are in the table")

    installed.ruin()

    assert [installed.verdict(tool) for tool in ("Write", "Bash", "Read")] == ["deny", "ask", "silence"]


def test_when_a_pause_ends_the_guards_are_in_the_table_again(installed: Installed) -> None:
    installed.switch.pause(time.time() + 20, channel="test")
    installed.connect()
    assert not installed.guarded, "hooks are paused"

    wait(lambda: installed.guarded, what="the guards count again, though nothing has happened")


def test_a_tray_that_quits_during_a_pause_leaves_the_guards_in_the_table(installed: Installed) -> None:
    installed.switch.pause(time.time() + 600, channel="test")
    installed.connect()
    assert not installed.guarded, "hooks are paused"

    installed.live.process.send_signal(signal.SIGTERM)
    installed.live.process.wait(LONG)

    assert installed.guarded
    assert installed.verdict("Bash") == "silence", "the one-shot engine knows of the pause"


def test_with_a_database_that_another_program_holds_each_guarded_call_is_judged_and_no_other(
    installed: Installed,
) -> None:
    installed.connect()
    wait(lambda: installed.guarded, what="the guards are in the table")
    installed.live.kill()
    with closing(sqlite3.connect(installed.paths.database, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")

        assert [installed.verdict(tool) for tool in ("Write", "Bash", "Read")] == ["deny", "ask", "silence"]

    assert (installed.paths.logs / "hooktray.log").read_text().count("database is locked") == 3


def test_an_engine_that_gets_sigterm_while_its_guard_runs_ends_it_and_the_relay_asks(
    installed: Installed, house: House, tmp_path: Path
) -> None:
    script = f"echo $$ $PPID >{tmp_path}/draft; mv {tmp_path}/draft {tmp_path}/pids; exec sleep 90"
    house.hook("slow", on="tool_before", tool="Edit", script=script, timeout=90)
    installed.connect()
    wait(lambda: installed.guarded, what="the guards are in the table")
    installed.live.kill()

    with ThreadPoolExecutor(1) as pool:
        verdict = pool.submit(installed.verdict, "Edit")
        wait((tmp_path / "pids").exists, what="the guard runs")
        hook, engine = map(int, (tmp_path / "pids").read_text().split())
        os.kill(engine, signal.SIGTERM)

        assert verdict.result(LONG) == "ask"
    wait(lambda: not psutil.pid_exists(hook) and not psutil.pid_exists(engine), what="engine and guard end")
