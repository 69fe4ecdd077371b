"""An agent's settings are changed by another program: the notification's buttons and the menu's rows answer it."""

from __future__ import annotations

import json
from pathlib import Path

from desk import Desk
from desk.bubbles import DunstBubbles
from live import Live

TITLE = "Claude Code no longer asks Hooktray as before"


def narrow(file: Path) -> None:
    """As a program that replaces the file."""
    found = json.loads(file.read_text())
    found["hooks"]["PreToolUse"][0]["matcher"] = "Read"
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(found, indent=2) + "\n")
    draft.replace(file)


def connected(desk: Desk, folder: Path, claude_settings: Path) -> tuple[Live, bytes]:
    live = Live.fresh(desk, folder)
    live.connect("claude-code")
    desk.wait(lambda: "not connected" not in row(live) and "connected" in row(live), what="the menu's row")
    return live, claude_settings.read_bytes()


def row(live: Live) -> str:
    if not any(one.label == "Agents" for one in live.menu("Settings")):
        return ""  # nobody has looked yet
    return next((one.label for one in live.menu("Settings", "Agents") if one.label.startswith("Claude Code")), "")


def test_put_it_back_on_the_notification_restores_every_byte(
    desk: Desk, tmp_path: Path, claude_settings: Path
) -> None:
    live, before = connected(desk, tmp_path, claude_settings)
    bubbles = DunstBubbles(desk.folder, desk.screen)
    desk.clear_notifications()

    narrow(claude_settings)
    shown = desk.wait_notification(lambda one: one.summary == TITLE)
    assert shown.urgency == "critical"
    assert f"{claude_settings}: our entry for PreToolUse has other conditions (matcher)" in shown.body
    desk.wait(lambda: live.menu()[0].label == TITLE, what="the menu's first row shows it")
    bubbles.press("Put it back")

    desk.wait(lambda: claude_settings.read_bytes() == before, what="the file is as it was")
    desk.wait_notification(lambda one: one.body == "Claude Code: its entries are back")
    desk.wait(lambda: live.menu()[0].label != TITLE, what="the menu's first row is as usual")
