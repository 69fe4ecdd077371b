"""Connecting an agent with the pointer: a summary, the difference for who wants it, and one click that writes it."""

from __future__ import annotations

import json
from pathlib import Path

from desk import Desk
from live import Live, recorded


def test_an_agent_is_connected_and_disconnected_in_the_menu(
    desk: Desk, folder: Path, opened: Path, claude_settings: Path
) -> None:
    text = claude_settings.read_text()
    live = Live.fresh(desk, folder)
    desk.wait(lambda: live.menu()[0].label == "No agent is connected", what="the first row offers agents")
    assert len(live.menu()) == 11

    assert next(one.label for one in live.menu("No agent is connected")).startswith(
        "adds 1 entry for each of 14 events"
    )
    live.click("No agent is connected", "Show the difference")
    desk.wait(opened.exists, what="the difference is opened")
    shown = Path(opened.read_text()).read_text()
    assert f"--- {claude_settings}\n+++ {claude_settings}\n" in shown
    assert claude_settings.read_text() == text

    live.click("No agent is connected", "Connect Claude Code")
    desk.wait(lambda: claude_settings.read_text() != text, what="the settings are written")
    desk.wait_notification(lambda one: one.body.startswith("Claude Code is connected"))
    desk.wait(lambda: "connected" in row(live), what="the row says so")
    line = json.loads(claude_settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    desk.run(["/bin/sh", "-c", line], input=recorded("claude-code", "Stop"))
    live.wait_log(1)
    desk.wait(lambda: "last event" in row(live), what="the row knows of the event")

    live.click("Settings", "Agents", "Claude Code", "Disconnect Claude Code", "Disconnect Claude Code")
    desk.wait(lambda: claude_settings.read_text() == text, what="the old bytes are back")


def row(live: Live) -> str:
    with live.desk.open_menu([], live.item):
        pass
    return next(one.label for one in live.menu("Settings", "Agents") if one.label.startswith("Claude Code"))
