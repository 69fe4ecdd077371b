"""An edit of hooktray.yaml mutes no guard by itself: on a real desktop it waits for a click."""

from __future__ import annotations

from typing import Any

import pytest
from desk import Desk
from house import PRE_TOOL_USE, House
from live import Live

pytestmark = pytest.mark.desktop

SLOW = 60.0  # seconds on a loaded machine
HOOKS = {"hooks": [{"name": "guard", "event": "tool_before", "type": "rule", "decision": "block", "reason": "no"}]}
MUTED: dict[str, Any] = {**HOOKS, "alerts": {"blocked": {"notify": False, "sound": "none"}}}
NEWS = {"session_id": "s-9", "cwd": "/w/web", "hook_event_name": "Notification", "message": "Hello"}


def test_a_muting_edit_waits_in_the_menu_and_counts_after_a_click(desk: Desk, house: House) -> None:
    house.configure(HOOKS)
    standing = house.state("guard")
    house.consent.approve(standing.key, standing.digest, "test")
    live = Live(desk, house.root / "home")
    live.start()

    def shown(text: str) -> int:
        return sum(text in one.body for one in desk.notifications())

    live.configure(MUTED)
    desk.wait(lambda: shown("blocked.notify false"), SLOW, "the waiting setting is announced")
    waits = live.cli("list").stdout.decode()
    live.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "session_id": "s-1"})
    desk.wait(lambda: shown("blocked by guard") == 1, SLOW, "what was blocked is announced all the same")

    live.click("Approvals", "Setting: notifications", "Approve")
    desk.wait(lambda: shown("is confirmed"), SLOW, "the confirmation is announced")
    live.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "session_id": "s-2"})
    live.relay("claude-code", "Notification", NEWS)
    desk.wait(lambda: shown("Hello"), SLOW, "what came later")

    assert "hooktray approve notifications" in waits
    assert shown("blocked by guard") == 1
