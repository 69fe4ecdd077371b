"""From an agent's event to its pane: a real tray, a real tmux, and every way that a person has to get there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from desk import Desk, wait
from desk.bubbles import DunstBubbles
from desktop.focus.terminals import LONG, Tmux, front, tmux, wait_active
from live import Live

SESSION = "8599ab20-15e7"
STOP = {"session_id": SESSION, "cwd": "/home/dev/shop", "hook_event_name": "Stop"}
WATCHED = {**STOP, "last_assistant_message": "Watched"}
PROMPT = {**STOP, "hook_event_name": "UserPromptSubmit", "prompt": "Fix the login"}


@dataclass
class Scene:
    """A tray, and an agent in the second window of a tmux session, with another terminal in front."""

    live: Live
    server: Tmux
    agent: int  # its process

    def leave(self) -> None:
        """Another window of tmux is shown, and another terminal is in front."""
        self.server.run("select-window", "-t", "work:0")
        front(self.live.desk, "plain")

    def is_there(self) -> bool:
        return self.agent in self.server.shown()

    def arrive(self) -> None:
        wait_active(self.live.desk, "one")
        wait(self.is_there, LONG, "the pane is shown")


@pytest.fixture
def scene(desk: Desk, tmp_path: Path) -> Iterator[Scene]:
    live = Live.fresh(desk, tmp_path)
    with tmux(desk, tmp_path) as server:
        server.attach("work", "one")
        desk.start(["xterm", "-T", "plain", "-e", "cat"])
        script = tmp_path / "agent.sh"
        lines = [
            f"echo {shlex.quote(json.dumps(payload))} | {shlex.join(live.relay_argv('claude-code', name))}"
            for name, payload in (("UserPromptSubmit", PROMPT), ("Stop", STOP), ("Stop", WATCHED))
        ]
        script.write_text("\n".join([*lines[:2], "read line", lines[2], "exec cat", ""]))
        words = ("-t", "work", "-P", "-F", "#{pane_pid}", "sh", str(script))
        agent = int(server.run("new-window", "-d", *words))
        live.wait_log(2)
        yield Scene(live, server, agent)
    live.quit()


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

    wait(lambda: out.exists() and out.read_text().strip().endswith("1"), LONG, "the command's end")

    assert "an agent or a hook may not change what is on the screen" in out.read_text()
    assert not scene.is_there()


def test_where_nothing_can_be_raised_one_line_says_so_and_the_page_opens(scene: Scene) -> None:
    live = scene.live
    scene.server.run("detach-client", "-s", "work")

    done = live.cli("focus", SESSION)

    assert done.returncode == 1
    assert "no terminal shows it: run `tmux attach -t work`" in done.stderr.decode()
    assert "its page is opened instead" in done.stderr.decode()


def test_the_end_of_a_turn_that_is_watched_shows_nothing_and_is_noted_as_seen(scene: Scene) -> None:
    live, desk = scene.live, scene.live.desk
    scene.server.run("select-window", "-t", "work:1")
    front(desk, "one")
    desk.clear_notifications()

    desk.run(["xdotool", "key", "Return"])  # upon which the agent ends one more turn

    wait(lambda: live.log()[0]["alerted"] == "seen", LONG, "it is noted")
    assert [one for one in desk.notifications() if "Watched" in one.body] == []
