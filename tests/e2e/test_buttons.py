"""Buttons pressed with the real pointer on the notification servers that people use, and what came of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from desk.bubbles import DunstBubbles, NotifydBubbles
from desk.viewer import viewer
from live import PERMISSION, Live, recorded

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("desk")]

SLOW = 60.0  # seconds on a loaded machine
NEWS = {"session_id": "s-9", "cwd": "/w/web", "hook_event_name": "Notification", "message": "Hello"}
ASKS = {"ask_on_desktop": {"agents": ["claude-code"]}}
REFUSES = '#!/bin/sh\ncat >/dev/null; echo \'{"decision":"block","reason":"not today"}\''

QUESTION = "Bash · rm -rf build · needs your answer"

Press = Callable[[str], None]


def ask(live: Live) -> subprocess.Popen[bytes]:
    """An agent that wants to run something; its relay waits for the answer."""
    desk = live.desk
    before = len(desk.notifications())
    relay = live.start_relay("claude-code", "PermissionRequest", PERMISSION)
    desk.wait(lambda: any(one.body == QUESTION for one in desk.notifications()[before:]), what="the question")
    return relay


def answer(relay: subprocess.Popen[bytes]) -> dict[str, Any]:
    output, _ = relay.communicate(timeout=SLOW)
    return dict(json.loads(output)["hookSpecificOutput"]["decision"]) if output else {}


def questions_are_answered(live: Live, press: Press, opened: Path) -> None:
    """Allow and Deny reach the agent; Details shows what would run, and the question stays open."""
    relay = ask(live)
    press("Allow")
    assert answer(relay)["behavior"] == "allow"

    relay = ask(live)
    press("Deny")
    assert answer(relay)["behavior"] == "deny"

    relay = ask(live)
    press("Details")
    live.desk.wait(opened.exists, what="the details are shown")
    assert "rm -rf build" in Path(opened.read_text()).read_text()
    assert relay.poll() is None, "the agent still waits"
    relay.kill()
    relay.communicate(timeout=SLOW)


def test_a_question_is_answered_by_the_buttons_that_dunst_offers(desk: Desk, tmp_path: Path) -> None:
    with viewer(desk, tmp_path) as opened:
        live = Live.fresh(desk, tmp_path, configuration=ASKS)
        # Before the tray knows its icon on the screen nobody is asked: there may be nobody who sees it.
        desk.wait(lambda: live.health()["icon"], what="the icon")
        bubbles = DunstBubbles(desk.folder, desk.screen)

        questions_are_answered(live, bubbles.press, opened)

        said = "The question about Bash is closed · the agent no longer waits"
        desk.wait_notification(lambda shown: shown.body == said)


def test_a_question_is_answered_by_the_buttons_that_xfces_server_draws(tmp_path: Path) -> None:
    with (
        Desk(tmp_path / "d", panel=None, notifications="xfce4", sound=False, size=(900, 500)) as desk,
        viewer(desk, tmp_path) as opened,
    ):
        live = Live.fresh(desk, tmp_path, configuration=ASKS)
        live.relay("claude-code", "Notification", NEWS)  # without an icon nobody is asked before an alert was shown
        desk.wait_notification(lambda shown: shown.body == "Hello")
        desk.wait(lambda: live.wait_log(1)[0]["alerted"] == "sent", what="the tray knows that it was shown")
        bubbles = NotifydBubbles(desk.screen)

        questions_are_answered(
            live, lambda label: bubbles.press(label, ("Details", "Allow", "Deny", "Go there")), opened
        )


def test_review_undo_details_and_snooze_are_pressed_on_dunst(desk: Desk, tmp_path: Path) -> None:
    with viewer(desk, tmp_path) as opened:
        guard = tmp_path / "guard.sh"
        guard.write_text(REFUSES)
        guard.chmod(0o755)
        live = Live.fresh(desk, tmp_path, configuration={"hooks": [{"event": "tool_before", "command": str(guard)}]})
        bubbles = DunstBubbles(desk.folder, desk.screen)

        def shown(words: str, label: str) -> None:
            """Press this button on the notification with these words, alone on the screen."""
            desk.wait_notification(lambda one: words in one.body)
            bubbles.press(label)

        shown("guard on tool_before waits for your approval", "Review")
        desk.wait(opened.exists, what="the text is shown")
        assert "confirm%2Fapprove%3Fof%3D" in Path(opened.read_text()).read_text(), "its review on the page"
        assert live.states() == {"guard": "pending"}

        live.approve("guard")
        desk.clear_notifications()
        live.click("Hooks enabled")
        shown("Hooks are off · by you, in the menu", "Undo")
        desk.wait(lambda: live.switch().enabled, what="hooks are on again")
        desk.wait_notification(lambda one: one.body == "Undone: hooks are on")

        desk.clear_notifications()
        opened.unlink()
        live.relay("claude-code", "PreToolUse", recorded("claude-code", "PreToolUse-Bash"))
        shown("blocked by guard: not today", "Details")
        desk.wait(opened.exists, what="the decision's page is opened")
        assert live.log()[0]["id"] in Path(opened.read_text()).read_text()

        desk.clear_notifications()
        live.relay("claude-code", "PreToolUse", recorded("claude-code", "PreToolUse-Bash"))
        shown("blocked by guard", "Snooze")
        desk.wait(lambda: any("Snoozed until" in row.label for row in live.menu("Alerts")), what="alerts are snoozed")
        live.relay("claude-code", "PreToolUse", recorded("claude-code", "PreToolUse-Bash"))
        desk.wait(lambda: live.log()[0]["alerted"] == "held", what="the next one is held back")
        live.click("Alerts", "Snoozed until", "End the snooze")
        desk.wait(lambda: live.log()[0]["alerted"] == "sent", what="it is shown after all")


FORGETFUL = """#!/usr/bin/env python3
import importlib, pathlib, sys, time
while not pathlib.Path({go!r}).exists():
    time.sleep(0.05)
importlib.import_module("wor" + "ds")
"""


def test_a_guard_that_fails_its_first_run_is_shown_and_undo_takes_the_approval_back(
    desk: Desk, tmp_path: Path
) -> None:
    guard, go = tmp_path / "guard.py", tmp_path / "go"
    guard.write_text(FORGETFUL.format(go=str(go)))  # no look at the file finds what it lacks
    guard.chmod(0o755)
    hooks = {"hooks": [{"event": "tool_before", "tool": "Write", "command": str(guard), "timeout": 60}]}
    live = Live.fresh(desk, tmp_path, configuration=hooks)
    bubbles = DunstBubbles(desk.folder, desk.screen)

    live.approve("guard")  # the click does not wait for the run
    desk.wait_notification(lambda one: "guard is approved" in one.body)
    desk.clear_notifications()
    go.touch()
    shown = desk.wait_notification(lambda one: "failed its test run" in one.body)
    (row,) = live.wait_log(1)
    health = live.rows("list")[0]["health"]
    bubbles.press("Undo")
    desk.wait(lambda: live.states() == {"guard": "pending"}, what="the approval is taken back")

    assert shown.body.startswith("guard failed its test run · ")
    assert "No module named 'words'" in health
    assert (row["event"], row["test"], row["hooks"][0]["status"]) == ("PreToolUse", True, "failed")
    desk.wait_notification(lambda one: one.body.startswith("No longer so: guard is approved"))
