"""From an agent's event to its pane: a real tray, a real tmux, and every way that a person has to get there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk, wait
from desk.bubbles import DunstBubbles
from e2e.tmux_scene import SESSION, STOP, Scene, tmux_scene


@pytest.fixture
def scene(desk: Desk, tmp_path: Path) -> Iterator[Scene]:
    with tmux_scene(desk, tmp_path, {}) as scene:
        yield scene


def test_a_click_on_the_notification_its_button_the_menu_and_the_command_lead_there(scene: Scene) -> None:
    live, desk = scene.live, scene.live.desk
    desk.wait_notification(lambda one: "Turn ended" in one.body)
    scene.leave()
    DunstBubbles(desk.folder, desk.screen).press("Go there")
    scene.arrive()

    scene.leave()
    live.click("Sessions", "✓  Fix the login")
    scene.arrive()

    scene.leave()
    done = live.cli("focus", SESSION[:6])
    scene.arrive()

    assert (done.returncode, done.stdout.decode().strip()) == (0, "It is in front now")


def test_below_an_agent_the_command_is_refused(scene: Scene, tmp_path: Path) -> None:
    live = scene.live
    scene.leave()
    line = shlex.join([*live.argv("focus"), SESSION])
    out = tmp_path / "out"
    script = tmp_path / "again.sh"
    relay = shlex.join(live.relay_argv("claude-code", "Stop"))
    script.write_text(f"echo {shlex.quote(json.dumps(STOP))} | {relay}\n{line} > {out} 2>&1\necho $? >> {out}\n")
    scene.server.run("new-window", "-d", "-t", "work", "sh", str(script))

    wait(lambda: out.exists() and out.read_text().strip().endswith("1"), what="the command's end")

    assert "an agent or a hook may not change what is on the screen" in out.read_text()
    assert not scene.is_there()
