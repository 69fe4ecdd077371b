"""Edits of hooktray.yaml on a desk: one that mutes everything counts, is announced and can be undone; a broken one is
announced, and the last good configuration stays in force.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from desk import Desk
from desk.bubbles import DunstBubbles
from house import PRE_TOOL_USE, House
from live import Live

from tray.settings import CLASSES

HOOKS = {"hooks": [{"name": "guard", "event": "tool_before", "type": "rule", "decision": "block", "reason": "no"}]}
NOTHING: dict[str, Any] = {"notify": False, "sound": "none", "urgency": "low"}
QUIET = {"quiet_hours": {"from": "00:00", "to": "00:00"}}
MUTED: dict[str, Any] = {
    **HOOKS, **QUIET, "alerts": dict.fromkeys(CLASSES, NOTHING), "projects": {"api": {"blocked": NOTHING}},
    "volume": 0, "while_looking": "silent",
}  # fmt: skip
NEWS = {"session_id": "s-9", "cwd": "/w/web", "hook_event_name": "Notification", "message": "Hello"}
SILENCED = "hooktray.yaml:1 silences asked, blocked, hook_failed, hook_timed_out · by an edit of the file"


def shown(desk: Desk, text: str) -> int:
    return sum(text in one.body for one in desk.notifications())


def call(live: Live, session: str) -> None:
    live.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "session_id": session})


def notify_of(config: Path) -> list[bool]:
    alerts = json.loads(config.read_text())["alerts"]
    return [alerts[cls]["notify"] for cls in ("asked", "blocked", "hook_failed", "hook_timed_out", "changed")]


def test_an_edit_that_mutes_everything_counts_and_undo_on_its_notification_edits_the_file(
    desk: Desk, house: House
) -> None:
    house.hook("guard", on="tool_before", type="rule", decision="block", reason="no")
    live = Live(desk, house.root / "home")
    live.start()
    bubbles = DunstBubbles(desk.folder, desk.screen)

    live.configure(MUTED)
    desk.wait(lambda: shown(desk, SILENCED), what="the edit is announced, whatever it mutes")
    call(live, "s-1")
    live.wait_log(1)

    bubbles.press("Undo")
    desk.wait(lambda: notify_of(live.config)[0], what="the file is edited")
    assert notify_of(live.config) == [True, True, True, True, False]
    live.configure({**json.loads(live.config.read_text()), "quiet_hours": None})
    live.relay("claude-code", "Notification", NEWS)  # still muted
    call(live, "s-2")
    desk.wait(lambda: shown(desk, "blocked by guard"), what="what was blocked is announced again")

    assert (shown(desk, "blocked by guard"), shown(desk, "Hello"), shown(desk, SILENCED)) == (1, 0, 1)


def test_a_broken_edit_is_announced(desk: Desk, tmp_path: Path) -> None:
    live = Live.fresh(desk, tmp_path, configuration=HOOKS)

    live.configure("hooks: 3")

    desk.wait_notification(lambda one: "hooktray.yaml:1" in one.body and "last good configuration" in one.body)
