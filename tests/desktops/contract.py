"""What Hooktray does on every desktop, with the real pointer on the real shell; each desktop is a subclass."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from desk.browsers import browser
from desk.wait import wait
from desktops.shell import Shell
from house import PRE_TOOL_USE
from live import PERMISSION, Live
from terminal import Terminal

from tray.desktop.artwork import IconState

SLOW = 60.0  # seconds on a loaded machine
STARTS = int(os.environ.get("DESKTOP_STARTS", "3"))
REFUSES = "cat >/dev/null; echo 'not today' >&2; exit 2"
GUARD = {"hooks": [{"name": "guard", "event": "tool_before", "command": "./guard.sh"}]}
ASKS = {"ask_on_desktop": {"agents": ["claude-code"]}}
SOUNDING = {"session_id": "s-9", "cwd": "/w/web", "hook_event_name": "Notification", "message": "Hello"}
# An agent: it has a relay run, so that the tray knows it, and stays.
AGENT = 'cat >payload.json; "$@" <payload.json >/dev/null; echo heard; exec sleep 600'


def ask(desktop: Shell, live: Live) -> subprocess.Popen[bytes]:
    """An agent whose relay waits for the answer to a question that is on the screen."""
    relay = live.start_relay("claude-code", "PermissionRequest", PERMISSION)
    wait(lambda: desktop.is_announced("Bash"), what="the question is on the screen")
    return relay


def answer_question(desktop: Shell, relay: subprocess.Popen[bytes], button: str) -> str:
    """Press this button under the question; returns what the agent is answered."""
    desktop.press_button(button)
    output, _ = relay.communicate(timeout=SLOW)
    answer = json.loads(output)["hookSpecificOutput"]["decision"]["behavior"]
    assert isinstance(answer, str)
    return answer


@pytest.mark.desktop
class Contract:
    """`shell` is the desktop; pytest collects the subclasses only."""

    shell: ClassVar[type[Shell]]

    @pytest.fixture
    def desktop(self, running: Shell) -> Iterator[Shell]:
        running.start_test()
        yield running
        running.clear()

    @pytest.fixture
    def live(self, desktop: Shell, tmp_path: Path) -> Iterator[Live]:
        live = Live.fresh(desktop, tmp_path, starts=False)
        yield live
        if hasattr(live, "process") and live.process.poll() is None:
            assert live.quit() == 0

    def appear(self, desktop: Shell, live: Live) -> None:
        """Start the tray, and wait for its icon on the screen."""
        live.start()
        wait(lambda: desktop.icons() == 1, what="the icon is drawn")
        wait(lambda: live.health()["icon"] == "sni", what="the tray knows that its icon is shown")

    def guard(self, desktop: Shell, live: Live) -> None:
        """A tray with an approved hook that denies."""
        live.script("guard.sh", REFUSES)
        live.configure(GUARD)
        self.appear(desktop, live)
        live.approve("guard")

    @pytest.mark.once
    def test_the_icon_appears_at_each_start(self, desktop: Shell, live: Live) -> None:
        for _ in range(STARTS):
            self.appear(desktop, live)
            assert live.quit() == 0
            wait(lambda: desktop.icons() == 0, what="the icon is gone")

    def test_the_trays_of_two_homes_have_two_icons(self, desktop: Shell, live: Live, tmp_path: Path) -> None:
        self.appear(desktop, live)
        other = Live.fresh(desktop, tmp_path / "other", starts=False)
        other.start()
        try:
            wait(lambda: desktop.icons() == 2, what="both are drawn")
        finally:
            assert other.quit() == 0

        wait(lambda: desktop.icons() == 1, what="the other one is gone")

    def test_the_icon_shows_at_once_that_something_waits(self, desktop: Shell, live: Live) -> None:
        live.script("guard.sh", REFUSES)
        live.configure(GUARD)

        self.appear(desktop, live)

        wait(lambda: desktop.shows(IconState.ATTENTION), what="the icon has the colour of attention")

    def test_the_icon_is_there_while_the_first_start_asks_at_its_terminal(
        self, desktop: Shell, tmp_path: Path
    ) -> None:
        agent = Path(desktop.environment["HOME"], ".claude")
        agent.mkdir()
        live = Live(desktop, tmp_path / "h")
        terminal = Terminal(live.argv("run"), tmp_path, {**desktop.environment, "TERM": "dumb"})
        try:
            terminal.wait("Connect claude-code?")
            wait(lambda: desktop.icons() == 1, what="the icon is drawn")
            terminal.process.terminate()
            assert terminal.process.wait(60) == 0
        finally:
            terminal.close()
            agent.rmdir()

    def test_the_icon_shows_what_comes_up_later(self, desktop: Shell, live: Live) -> None:
        self.appear(desktop, live)
        wait(lambda: desktop.shows(IconState.ON), what="all is well")

        live.script("guard.sh", REFUSES)
        live.configure(GUARD)

        wait(lambda: desktop.shows(IconState.ATTENTION), what="the icon has the colour of attention")

    def test_the_menu_switches_hooks_off_and_on(self, desktop: Shell, live: Live) -> None:
        self.appear(desktop, live)

        for expected in (False, True):
            live.click("Hooks enabled")
            wait(lambda: live.switch().enabled is expected, what=f"hooks enabled: {expected}")  # noqa: B023

    def test_an_approved_hook_denies_and_the_denial_is_announced(self, desktop: Shell, live: Live) -> None:
        self.guard(desktop, live)

        done = live.relay("claude-code", "PreToolUse", PRE_TOOL_USE)

        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
        wait(lambda: desktop.is_announced("not today"), what="the denial is on the screen")

    def test_a_question_repeated_at_once_has_its_buttons(self, desktop: Shell, live: Live) -> None:
        """Plasma refuses what repeats its last notification within a second, which this does on a quick machine."""
        live.configure(ASKS)
        self.appear(desktop, live)
        answers = []
        for button in ("Allow", "Deny"):
            answers.append(answer_question(desktop, ask(desktop, live), button))
            wait(desktop.is_clear, what="the question is gone")

        assert answers == ["allow", "deny"]

    def test_do_not_disturb_holds_sounds_back(self, desktop: Shell, live: Live) -> None:
        self.appear(desktop, live)
        with desktop.record() as recording:
            desktop.do_not_disturb(True)
            live.relay("claude-code", "Notification", SOUNDING)
            wait(lambda: live.wait_log(1)[0]["alerted"] == "sent", what="the server has it")
            recording.wait_more(1)
            held_back = recording.seconds_heard
            desktop.do_not_disturb(False)
            live.relay("claude-code", "Notification", SOUNDING | {"message": "Hello again"})
            recording.wait_sound(SLOW)

        assert held_back == 0

    def test_clicks_count_after_the_shell_restarted_beside_an_agent(self, desktop: Shell, live: Live) -> None:
        self.appear(desktop, live)
        agent = desktop.start(
            ["sh", "-c", AGENT, "agent", *live.relay_argv("claude-code", "PreToolUse")], stdin=subprocess.PIPE
        )
        assert agent.stdin is not None
        with contextlib.closing(agent.stdin) as pipe:
            pipe.write(json.dumps(PRE_TOOL_USE).encode())
        agent.stdin = None
        wait(lambda: "heard" in desktop.log(agent), what="the tray has heard the agent")

        desktop.restart()

        wait(lambda: desktop.icons() == 1, what="the icon is drawn again")
        live.click("Hooks enabled")
        wait(lambda: not live.switch().enabled, what="the click counts")
        desktop.stop(agent)

    def test_the_page_opens_in_the_desktops_browser(self, desktop: Shell, live: Live, tmp_path: Path) -> None:
        with browser(desktop, tmp_path / "browser", "chromium") as chromium:
            self.appear(desktop, live)
            live.click("Open page")
            chromium.wait_title("Decisions · Hooktray")
            assert live.quit() == 0
