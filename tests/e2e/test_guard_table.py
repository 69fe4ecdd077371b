"""What the installed relay knows of approved guards: a real tray writes it, and a relay left alone goes by it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from desk import wait
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")

LONG = 60.0  # seconds; longer than anything here takes
DENY = 'cat >/dev/null; echo \'{"decision": "block", "reason": "no"}\''


class Installed:
    """A home with two guards, and an agent that is connected to it."""

    def __init__(self, house: House, plain: Plain) -> None:
        self.paths, self.plain = house.paths, plain
        (plain.folder / ".claude").mkdir()
        house.hook("default", on="tool_before", tool="Bash", script=DENY)
        house.hook("strict", on="tool_before", tool="Write", script=DENY, failure="block")
        self.switch = house.stores.switch
        self.live = Live(plain, house.root / "home")

    def connect(self) -> None:
        self.live.start()
        self.live.connect("claude-code")
        wait(lambda: self.paths.relay_table.exists(), LONG, "the relay's table")

    @property
    def guarded(self) -> bool:
        return "\nguard=claude-code" in self.paths.relay_table.read_text()

    def ruin(self) -> None:
        """No tray, and nothing that an engine could read."""
        self.live.process.kill()
        self.live.process.wait(LONG)
        for path in self.paths.database.parent.glob(f"{self.paths.database.name}*"):
            path.write_bytes(b"ruined")

    def verdict(self, tool: str) -> str:
        body = json.dumps(PRE_TOOL_USE | {"tool_name": tool}).encode()
        done = self.plain.run([self.paths.relay, "claude-code", "PreToolUse"], input=body, timeout=LONG)
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"]) if done.stdout else "silence"


@pytest.fixture
def installed(house: House, tmp_path: Path) -> Iterator[Installed]:
    plain = Plain(tmp_path)
    yield Installed(house, plain)
    plain.close()


def test_left_alone_the_relay_denies_asks_and_does_not_ask_about_what_no_guard_matches(installed: Installed) -> None:
    installed.connect()
    wait(lambda: installed.guarded, LONG, "the guards are in the table")

    installed.ruin()

    assert [installed.verdict(tool) for tool in ("Write", "Bash", "Read")] == ["deny", "ask", "silence"]


def test_when_a_pause_ends_the_guards_are_in_the_table_again(installed: Installed) -> None:
    installed.switch.pause(time.time() + 20, channel="test")
    installed.connect()
    assert not installed.guarded, "hooks are paused"

    wait(lambda: installed.guarded, LONG, "the guards count again, though nothing has happened")


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
    wait(lambda: installed.guarded, LONG, "the guards are in the table")
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
    wait(lambda: installed.guarded, LONG, "the guards are in the table")
    installed.live.kill()

    with ThreadPoolExecutor(1) as pool:
        verdict = pool.submit(installed.verdict, "Edit")
        wait((tmp_path / "pids").exists, LONG, "the guard runs")
        hook, engine = map(int, (tmp_path / "pids").read_text().split())
        os.kill(engine, signal.SIGTERM)

        assert verdict.result(LONG) == "ask"
    wait(lambda: not psutil.pid_exists(hook) and not psutil.pid_exists(engine), LONG, "engine and guard end")
