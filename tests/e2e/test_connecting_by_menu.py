"""Connecting an agent with the pointer: a summary, the difference for who wants it, and one click that writes it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk
from e2e.test_main_job import folder, opened
from live import Live, recorded

__all__ = ["folder", "opened"]

TEXT = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def settings(desk: Desk) -> Iterator[Path]:
    file = Path(desk.environment["HOME"]) / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    yield file
    shutil.rmtree(file.parent)


def test_an_agent_is_connected_and_disconnected_in_the_menu(
    desk: Desk, folder: Path, opened: Path, settings: Path
) -> None:
    live = Live.fresh(desk, folder)
    desk.wait(lambda: live.menu()[0].label == "No agent is connected", what="the first row offers agents")
    assert len(live.menu()) == 11

    assert next(one.label for one in live.menu("No agent is connected")).startswith(
        "adds 1 entry for each of 14 events"
    )
    live.click("No agent is connected", "Show the difference")
    desk.wait(opened.exists, what="the difference is opened")
    shown = Path(opened.read_text()).read_text()
    assert f"--- {settings}\n+++ {settings}\n" in shown
    assert settings.read_text() == TEXT

    live.click("No agent is connected", "Connect Claude Code")
    desk.wait(lambda: settings.read_text() != TEXT, what="the settings are written")
    desk.wait_notification(lambda one: one.body.startswith("Claude Code is connected"))
    desk.wait(lambda: "connected" in row(live), what="the row says so")
    line = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    desk.run(["/bin/sh", "-c", line], input=recorded("claude-code", "Stop"))
    live.wait_log(1)
    desk.wait(lambda: "last event" in row(live), what="the row knows of the event")

    live.click("Settings", "Agents", "Claude Code", "Disconnect Claude Code", "Disconnect Claude Code")
    desk.wait(lambda: settings.read_text() == TEXT, what="the old bytes are back")


def row(live: Live) -> str:
    with live.desk.open_menu([], live.item):
        pass
    return next(one.label for one in live.menu("Settings", "Agents") if one.label.startswith("Claude Code"))
