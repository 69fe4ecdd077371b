"""The first start on a fresh account, and every one after it; what a running tray notices of edits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import wait
from live import Live
from plain import Plain
from terminal import Terminal

from tray.app import welcome
from tray.desktop.menu import MenuAgent, MenuPreview
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
    wait(lambda: "hooktray doctor" in output(fresh), 20, "the welcome")

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

    status = fresh.cli_json("status")[0]
    assert status["agents"] == [{"agent": "claude-code", "connected": False, "last_event": None, "remedy": ""}]
    assert output(fresh).count("Welcome to Hooktray") == 1


def test_the_first_start_at_a_terminal_connects_what_it_finds_by_one_question(tmp_path: Path) -> None:
    for name in (".claude", ".codex"):
        (tmp_path / name).mkdir()
    live = Live(Plain(tmp_path), tmp_path / "h")
    for keys, said in (("y\r", "codex: connected."), ("", "headless")):
        terminal = Terminal(live.argv("run", "--headless"), tmp_path, {**live.place.environment, "TERM": "dumb"})
        try:
            if keys:
                wait(lambda: "Connect claude-code, codex?" in terminal.text, 30, "the question")  # noqa: B023
                assert "claude-code: adds 1 entry for each of 14 events to ~/.claude/settings.json" in terminal.text
                terminal.type(keys)
            wait(lambda: said in terminal.text, 30, "the answer")  # noqa: B023
            wait(lambda: live.cli_json("status")[0]["running"], 30, "the tray runs")
            assert bool(keys) is ("Connect claude-code" in terminal.text)
        finally:
            terminal.process.terminate()
            terminal.process.wait(30)
            terminal.close()
    assert {row["agent"] for row in live.cli_json("status")[0]["agents"] if row["connected"]} == {
        "claude-code",
        "codex",
    }


def test_an_edit_is_seen_by_an_idle_tray_and_a_broken_one_is_told(fresh: Live) -> None:
    good = json.dumps({"hooks": [{"event": "turn_end", "type": "rule", "decision": "allow", "name": "new"}]})
    last_good = fresh.home / "state" / "last-good.yaml"

    fresh.config.write_text(good)

    wait(lambda: last_good.exists() and last_good.read_text() == good, 20, "nobody asked, and it was read")
    fresh.config.write_text("turn_quiet_second: 3")
    status = fresh.cli_json("status")[0]
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
    preview = MenuPreview(digest="1a2b", summary="adds 1 entry for each of 4 events to ~/.config/shelley/hooks")
    shelley = MenuAgent(agent="shelley", name="Shelley", installed=True, connect=preview)
    shown = welcome.alert([shelley])
    assert (shown.sound, shown.notify) == ("chime", True)
    assert f"Shelley: {preview.summary}" in shown.title + shown.body
    assert (shown.buttons, shown.digest) == ((Button.CONNECT,), "1a2b")
    assert welcome.alert([]).buttons == ()


def test_who_had_a_file_before_is_not_welcomed(tmp_path: Path) -> None:
    paths = locate(str(tmp_path))
    paths.prepare()
    paths.config.write_text("")

    assert not welcome.create_config(paths)
