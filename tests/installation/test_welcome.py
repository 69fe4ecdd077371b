"""The first start on a fresh account, and every one after it; what a running tray notices of edits."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import wait
from live import Live
from plain import Plain
from terminal import Terminal

from tray.desktop.menu.state import MenuAgent, MenuPreview
from tray.installation import welcome
from tray.notify.alert import Button
from tray.paths import locate
from tray.sources.starter import STARTER_TEXT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX home")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Live]:
    (tmp_path / ".claude").mkdir()
    live = Live(Plain(tmp_path), tmp_path / "h")
    live.start("--headless")
    yield live
    assert isinstance(live.place, Plain)
    live.place.close()


def output(live: Live) -> str:
    assert isinstance(live.place, Plain)
    return (live.place.folder / "output").read_text()


def test_the_first_start_says_where_things_are_and_connects_nothing(fresh: Live, tmp_path: Path) -> None:
    wait(lambda: "hooktray doctor" in output(fresh), what="the welcome")

    said = output(fresh)
    assert said.count("Welcome to Hooktray") == 1
    assert str(fresh.config) in said
    assert "agents found here        claude-code\n  connect agents           hooktray connect" in said
    assert fresh.config.read_text() == STARTER_TEXT
    assert fresh.config.with_name("hooktray.schema.json").exists()
    assert list((tmp_path / ".claude").iterdir()) == []
    assert fresh.states() == {}

    fresh.quit()
    fresh.config.unlink()
    fresh.start("--headless")

    status = fresh.rows("status")[0]
    assert status["agents"] == [{"agent": "claude-code", "connected": False, "last_event": None, "remedy": ""}]
    assert output(fresh).count("Welcome to Hooktray") == 1


@pytest.fixture
def two_agents(tmp_path: Path) -> Live:
    """On an account with two agents; not started."""
    for name in (".claude", ".codex"):
        (tmp_path / name).mkdir()
    return Live(Plain(tmp_path), tmp_path / "h")


@contextlib.contextmanager
def at_terminal(live: Live) -> Iterator[Terminal]:
    """`hooktray run` as it is typed; it ends in order."""
    terminal = Terminal(live.argv("run", "--headless"), live.home.parent, {**live.place.environment, "TERM": "dumb"})
    try:
        yield terminal
        terminal.process.terminate()
        assert terminal.process.wait(60) == 0
    finally:
        terminal.close()


def connected(live: Live) -> set[str]:
    return {row["agent"] for row in live.rows("status")[0]["agents"] if row["connected"]}


def test_the_first_start_at_a_terminal_connects_what_it_finds_by_one_question(two_agents: Live) -> None:
    with at_terminal(two_agents) as terminal:
        terminal.wait("Connect claude-code, codex?")
        assert "claude-code: adds 1 entry for each of 14 events to ~/.claude/settings.json" in terminal.text
        assert two_agents.is_running()
        terminal.type("d\r")
        terminal.wait("Connect claude-code, codex?", count=2)
        assert "+++ " in terminal.text
        terminal.type("y\r")
        terminal.wait("Connected: Claude Code, Codex")
    with at_terminal(two_agents) as terminal:
        terminal.wait("headless")
        wait(two_agents.is_running, what="the tray runs")

    assert "Connect claude-code" not in terminal.text
    assert connected(two_agents) == {"claude-code", "codex"}


def test_the_question_at_the_terminal_may_stay_open_or_be_answered_by_no(two_agents: Live) -> None:
    with at_terminal(two_agents) as terminal:
        terminal.wait("Connect claude-code, codex?")
    two_agents.config.unlink()
    (two_agents.home / "state" / welcome.MARK).unlink()

    with at_terminal(two_agents) as terminal:
        terminal.wait("Connect claude-code, codex?")
        terminal.type("\r")
        terminal.wait("Nothing was written.")

    assert connected(two_agents) == set()


def test_a_question_that_is_sent_to_the_background_stops_neither_the_tray_nor_the_shell(two_agents: Live) -> None:
    """What is typed then is for the shell, and reading it would stop the tray with SIGTTIN."""
    environment = {**two_agents.place.environment, "TERM": "dumb", "PS1": "$ "}
    shell = Terminal(["bash", "--norc", "-i"], two_agents.home.parent, environment)
    try:
        shell.type(shlex.join(two_agents.argv("run", "--headless")) + "\r")
        shell.wait("Connect claude-code, codex?")
        shell.type("\x1a")
        shell.wait("Stopped")
        shell.type("bg\r")
        wait(two_agents.is_running, what="the tray goes on")
        shell.type("echo still $((6 * 7)) here\r")
        shell.wait("still 42 here")
        assert two_agents.is_running()
        shell.type("kill %1; wait %1; echo ended $?\r")
        shell.wait("ended 0")
    finally:
        shell.close()


def test_an_edit_is_seen_by_an_idle_tray_and_a_broken_one_is_told(fresh: Live) -> None:
    good = json.dumps({"hooks": [{"event": "turn_end", "type": "rule", "decision": "allow", "name": "new"}]})
    last_good = fresh.home / "state" / "last-good.yaml"

    fresh.config.write_text(good)

    wait(lambda: last_good.exists() and last_good.read_text() == good, what="nobody asked, and it was read")
    fresh.config.write_text("turn_quiet_second: 3")
    status = fresh.rows("status")[0]
    assert "did you mean `turn_quiet_seconds`?" in status["problem"]
    assert fresh.states() == {"new": "pending"}
    shown = fresh.cli("config", "check")
    assert shown.returncode == 1
    assert b"hooktray.yaml:1:1: turn_quiet_second: unknown key `turn_quiet_second`" in shown.stderr
    fresh.config.write_text(good)
    assert b"good, 1 hook." in fresh.cli("config", "check", str(fresh.config)).stdout


def test_the_first_alert_is_shown_and_heard_once(tmp_path: Path) -> None:
    paths = locate(str(tmp_path))
    paths.prepare()

    assert welcome.create_config(paths)
    assert not welcome.create_config(paths)
    paths.config.unlink()
    assert not welcome.create_config(paths)
    own = locate(str(tmp_path / "own"))
    own.prepare()
    own.config.write_text("")
    assert not welcome.create_config(own), "a user who had a file before gets no welcome"
    preview = MenuPreview(digest="1a2b", summary="adds 1 entry for each of 4 events to ~/.config/shelley/hooks")
    shelley = MenuAgent(agent="shelley", name="Shelley", installed=True, connect=preview)
    shown = welcome.alert([shelley])
    assert (shown.sound, shown.notify) == ("chime", True)
    assert shown.body == f"Hooktray is running · “Connect”, or the menu's first row: Shelley: {preview.summary}"
    assert (shown.buttons, shown.digest) == ((Button.CONNECT,), "1a2b")
    assert welcome.alert([]).buttons == ()
