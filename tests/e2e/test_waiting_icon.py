"""The icon shows an agent that waits at once, however rarely the sources are refreshed."""

from __future__ import annotations

from pathlib import Path

from desk import Desk
from live import Live

PROGRAM = Path(__file__).with_name("rare_refresh_tray.py")
FIELDS = {"session_id": "s-1", "cwd": "/w/api"}
PROMPT = {**FIELDS, "hook_event_name": "UserPromptSubmit", "prompt": "go"}
QUESTION = {
    **FIELDS,
    "hook_event_name": "Notification",
    "notification_type": "permission_prompt",
    "message": "Claude needs your permission to use Bash",
}


def test_the_first_row_shows_an_agent_that_waits_before_the_next_refresh(desk: Desk, tmp_path: Path) -> None:
    live = Live.fresh(desk, tmp_path, program=[str(PROGRAM)])

    def first_row() -> str:
        return live.menu()[0].label

    live.relay("claude-code", "UserPromptSubmit", PROMPT)
    desk.wait(lambda: first_row().startswith("1 agent"), what="the only refresh of this hour")

    live.relay("claude-code", "Notification", QUESTION)
    desk.wait(lambda: first_row() == "claude-code · api waits for you", what="the first row shows who waits")
    live.relay("claude-code", "UserPromptSubmit", PROMPT)

    desk.wait(lambda: first_row().startswith("1 agent"), what="no agent waits any more")
