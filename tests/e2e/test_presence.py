"""What is shown while its user looks, is away and comes back: a real tray with real windows, keys and relays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from desk import Desk, wait
from desk.wait import Overdue
from desktop.focus.terminals import LONG
from e2e.tmux_scene import tmux_scene
from live import Live
from plain import Plain

from tray.desktop.focus import x11
from tray.notify.service import PATIENCE

AWAY_AFTER = 3.0  # seconds
QUIET = 1.0  # seconds without a sound after which none comes


def bodies(desk: Desk) -> list[str]:
    return [one.body for one in desk.notifications()]


def stop(session: str, said: str = "") -> dict[str, Any]:
    return {"session_id": session, "cwd": "/w/shop", "hook_event_name": "Stop", "last_assistant_message": said}


@pytest.mark.desktop
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

        wait(is_shown_after_all, LONG, "it is shown")
        desk.wait_notification(lambda one: "Watched" in one.body)

        assert held == []


@pytest.mark.desktop
@pytest.mark.parametrize("mode", ["silent", "show"])
def test_the_end_of_a_turn_that_is_watched_is_shown_where_the_settings_say_so(
    desk: Desk, tmp_path: Path, mode: str
) -> None:
    with tmux_scene(desk, tmp_path, {"while_looking": mode}) as scene:
        with desk.record() as earlier:
            earlier.wait_silence(QUIET)
        scene.look()
        with desk.record() as sound:
            scene.end_turn()
            desk.wait_notification(lambda one: "Watched" in one.body)
            if mode == "show":
                sound.wait_sound()
            else:
                sound.wait_silence(QUIET)

        assert bool(sound.seconds_heard) == (mode == "show")


@pytest.mark.desktop
def test_who_comes_back_gets_one_summary_of_all_that_came_meanwhile(desk: Desk, tmp_path: Path) -> None:
    live = Live.fresh(desk, tmp_path, configuration={"away_after": AWAY_AFTER / 60})
    try:
        wait(lambda: (x11.idle_seconds(desk.environment) or 0) > AWAY_AFTER, LONG, "nobody touches anything")
        for number in range(2):
            live.relay("claude-code", "Stop", stop(f"s-{number}", f"Turn {number}"))
        wait(lambda: len([one for one in bodies(desk) if "Turn ended" in one]) == 2, LONG, "both ends")

        def is_back() -> list[str]:
            desk.run(["xdotool", "key", "shift"])
            return [one for one in bodies(desk) if "While you were away" in one]

        found = wait(is_back, LONG, "the summary")
    finally:
        live.quit()

    assert found == ["While you were away: 2 turns ended: shop"]


def test_the_file_that_an_agent_asks_for_is_there_as_long_as_the_tray(tmp_path: Path) -> None:
    here, plain = tmp_path / "here", Plain(tmp_path)
    plain.environment["CLAUDE_CLIENT_PRESENCE_FILE"] = str(here)
    live = Live.fresh(plain, tmp_path)
    try:
        live.relay("claude-code", "UserPromptSubmit", {**stop("s-1"), "prompt": "go"})
        wait(here.exists, LONG, "the file")
    finally:
        live.quit()
        plain.close()

    assert not here.exists()


@pytest.mark.desktop
def test_sessions_without_a_user_are_announced_only_where_that_is_wanted(desk: Desk, tmp_path: Path) -> None:
    live = Live.fresh(desk, tmp_path)
    argv = live.relay_argv("claude-code", "Stop")

    def end(said: str, variables: dict[str, str]) -> None:
        rows = len(live.log())
        desk.run(argv, variables, input=json.dumps(stop(f"s-{said}", said)).encode())
        live.wait_log(rows + 1)

    try:
        end("Unwanted", {"CI": "true"})
        end("Mine", {})
        desk.wait_notification(lambda one: "Mine" in one.body)
        before = bodies(desk)
        live.configure({"notify_headless": True})

        def is_wanted() -> bool:
            end("Wanted", {"CI": "true"})
            return any("Wanted" in one for one in bodies(desk))

        wait(is_wanted, LONG, "the new settings count")
    finally:
        live.quit()

    assert not any("Unwanted" in one for one in before)


@pytest.mark.desktop
def test_a_request_is_announced_only_when_the_agent_does_not_answer_it_by_itself(desk: Desk, tmp_path: Path) -> None:
    live = Live.fresh(desk, tmp_path)
    asks: dict[str, Any] = {
        "session_id": "x-0", "cwd": "/w/shop", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "make answered"}, "turn_id": "t", "model": "m", "permission_mode": "default",
    }  # fmt: skip

    def answered_by_itself() -> bool:
        """The tool runs when another session's notification is there, and within the second; else once more."""
        rows = len(live.log())
        desk.clear_notifications()
        live.relay("codex", "PermissionRequest", asks)
        live.relay("claude-code", "Stop", stop("s-1", "Meanwhile"))
        desk.wait_notification(lambda one: "Meanwhile" in one.body)
        after = {**asks, "hook_event_name": "PostToolUse", "tool_use_id": "c", "tool_response": "ok"}
        live.relay("codex", "PostToolUse", after)
        latest = live.wait_log(rows + 3)
        return bool(latest[0]["at"] - latest[2]["at"] < PATIENCE)

    try:
        wait(answered_by_itself, LONG, "all within a second")
        live.relay(
            "codex", "PermissionRequest", {**asks, "session_id": "x-1", "tool_input": {"command": "make open"}}
        )
        desk.wait_notification(lambda one: "make open" in one.body)
    finally:
        live.quit()

    assert not any("make answered" in one for one in bodies(desk))
