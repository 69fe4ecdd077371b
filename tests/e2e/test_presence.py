"""What is shown while its user looks, is away and comes back: a real tray with real windows, keys and relays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from desk import Desk, wait
from desk.wait import Overdue
from e2e.tmux_scene import tmux_scene
from live import Live
from plain import Plain

from tray.desktop.focus import x11

AWAY_AFTER = 3.0  # seconds


def bodies(desk: Desk) -> list[str]:
    return [one.body for one in desk.notifications()]


def stop(session: str, said: str = "") -> dict[str, Any]:
    return {"session_id": session, "cwd": "/w/shop", "hook_event_name": "Stop", "last_assistant_message": said}


def test_the_end_of_a_turn_that_is_watched_is_seen_and_is_shown_to_who_looks_away(desk: Desk, tmp_path: Path) -> None:
    with tmux_scene(desk, tmp_path, {}) as scene:
        scene.look()
        desk.clear_notifications()
        scene.end_turn()
        scene.wait_alerted("seen")
        held = [one for one in bodies(desk) if "Watched" in one]

        def is_shown_after_all() -> bool:
            """The look away counts within ten seconds; after a longer pause of this machine another turn ends."""
            scene.look_away()
            try:
                scene.wait_alerted("sent", 15)
            except Overdue:
                scene.look()
                scene.end_turn()
                scene.wait_alerted("seen")
                return False
            return True

        wait(is_shown_after_all, what="it is shown")
        desk.wait_notification(lambda one: "Watched" in one.body)

        assert held == []


def test_who_comes_back_gets_one_summary_of_all_that_came_meanwhile(desk: Desk, tmp_path: Path) -> None:
    live = Live.fresh(desk, tmp_path, configuration={"away_after": AWAY_AFTER / 60})
    try:
        wait(lambda: (x11.idle_seconds(desk.environment) or 0) > AWAY_AFTER, what="the user is idle")
        for number in range(2):
            live.relay("claude-code", "Stop", stop(f"s-{number}", f"Turn {number}"))
        wait(lambda: len([one for one in bodies(desk) if "Turn ended" in one]) == 2, what="both notifications")

        def is_back() -> list[str]:
            desk.run(["xdotool", "key", "shift"])
            return [one for one in bodies(desk) if "While you were away" in one]

        found = wait(is_back, what="the summary")
    finally:
        live.quit()

    assert found == ["While you were away: 2 turns ended: shop"]


def test_the_file_that_an_agent_asks_for_is_there_as_long_as_the_tray(plain: Plain, tmp_path: Path) -> None:
    here = tmp_path / "here"
    plain.environment["CLAUDE_CLIENT_PRESENCE_FILE"] = str(here)
    live = Live.fresh(plain, tmp_path)
    live.relay("claude-code", "UserPromptSubmit", {**stop("s-1"), "prompt": "go"})
    wait(here.exists, what="the file")
    live.quit()

    assert not here.exists()
