"""Hooktray for Windows, run under wine and not on Windows: icon, menu, hooks, relay, autostart, lines for cmd.exe."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from desk.wait import wait
from house import PRE_TOOL_USE
from wine.guard import FIRST, GUARD, REFUSES, approve, verdict
from wine.windows import RUN_KEY, START, Tray, Windows

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(900)]

ALLOW = 0  # a row of a question's submenu
SAYS_NO = 'import sys\nsys.stdin.read()\nprint(\'{"decision": "block", "reason": "not today"}\')\n'
PERMISSION = {**PRE_TOOL_USE, "hook_event_name": "PermissionRequest"}


def test_the_icon_appears_and_its_menu_switches_hooks_off_and_on(tray: Tray) -> None:
    with tray.running():
        for expected in (False, True):
            tray.windows.choose("enabled")
            wait(lambda: tray.rows("status")[0]["enabled"] is expected, START, f"enabled: {expected}")  # noqa: B023
    wait(lambda: tray.windows.icon() is None, START, "the icon is gone")


@pytest.mark.parametrize(
    ("command", "file", "text"),
    [("./guard.cmd", "guard_cmd", REFUSES), ("python guard.py", "guard_py", SAYS_NO)],
    ids=["cmd", "python"],
)
def test_a_hook_that_is_approved_by_the_pointer_denies_with_the_tray_and_without_it(
    tray: Tray, command: str, file: str, text: str
) -> None:
    tray.configure({"hooks": [{**GUARD, "command": command}]}, **{file: text})
    with tray.running():
        approve(tray)

        assert verdict(tray.relay("claude-code", "PreToolUse", PRE_TOOL_USE)) == "deny"

    assert verdict(tray.relay("claude-code", "PreToolUse", PRE_TOOL_USE)) == "deny", "by the one-shot engine"
    text = tray.cli("log")
    assert "· blocked by 守卫: not today" in text, "in UTF-8 through a pipe"
    assert [row["verdict"] for row in tray.rows("log") if row["session"] == "s-1"] == ["deny", "deny"]


def test_a_click_in_a_menu_that_was_open_before_a_hook_waited_does_what_is_drawn(tray: Tray) -> None:
    with tray.running() as process:
        tray.windows.open_menu()
        tray.configure({"hooks": [{**GUARD, "command": "./guard.cmd"}]}, guard_cmd=REFUSES)
        wait(tray.windows.balloons, START, "the tray announces that a hook waits")
        wait(lambda: not tray.windows.balloons(), START, "nothing lies above the menu")

        tray.windows.choose_in_open_menu("quit")

        assert process.wait(START) == 0


def test_a_tray_without_an_icon_shows_a_balloon_by_plyer(tray: Tray) -> None:
    process = tray.windows.start([*tray.argv, "run", "--headless"])
    try:
        wait(lambda: tray.rows("status")[0]["running"], START, "the tray runs")
        tray.configure({"hooks": [{**GUARD, "command": "./guard.cmd"}]}, guard_cmd=REFUSES)
        wait(tray.windows.balloons, START, "the tray announces that a hook waits")
    finally:
        process.kill()
        process.wait(START)


def test_an_edit_of_the_settings_is_announced_without_an_event_and_without_an_icon_of_its_own(tray: Tray) -> None:
    with tray.running() as process:
        places = len(wait(tray.windows.places, START, "the icon is drawn"))
        tray.configure({"hooks": [{**GUARD, "command": "./guard.cmd"}]}, guard_cmd=REFUSES)
        wait(tray.windows.balloons, START, "the tray announces that a hook waits")
        assert len(tray.windows.places()) == places, "beside the balloon"
        wait(lambda: not tray.windows.balloons(), START, "the balloon is gone")
        assert len(tray.windows.places()) == places, "after it"

        approve(tray)

        assert process.poll() is None


def test_a_question_is_answered_in_the_menu(tray: Tray) -> None:
    tray.configure({"ask_on_desktop": {"agents": ["claude-code"], "seconds": 300}})
    with tray.running():
        relay = tray.start_relay("claude-code", "PermissionRequest", PERMISSION)
        wait(lambda: [row["state"] for row in tray.rows("sessions")] == ["waiting"], START, "the question is open")

        tray.windows.choose("needs you", FIRST, ALLOW)

        output, _ = relay.communicate(timeout=START)
    assert json.loads(output)["hookSpecificOutput"]["decision"]["behavior"] == "allow"


def test_the_processes_of_a_hook_that_takes_too_long_end_with_it(tray: Tray) -> None:
    slow = "@echo off\r\nstart /b ping -n 600 127.0.0.1 >nul\r\nping -n 600 127.0.0.1 >nul\r\n"
    hook = {**GUARD, "command": "./guard.cmd", "timeout": 20, "failure": "block"}
    tray.configure({"hooks": [hook]}, guard_cmd=slow)
    with tray.running():
        approve(tray)
        relay = tray.start_relay("claude-code", "PreToolUse", PRE_TOOL_USE)
        wait(lambda: tray.windows.running("-n 600 127.0.0.1") == 2, START, "the hook and its child run")

        output, _ = relay.communicate(timeout=START)

        assert verdict(json.loads(output)) == "deny"
        wait(lambda: tray.windows.running("-n 600 127.0.0.1") == 0, START, "both have ended")


def test_autostart_sets_a_registry_value_that_starts_the_tray_at_login_and_removes_it(tray: Tray) -> None:
    assert tray.windows.registry(RUN_KEY, "Hooktray") == ""

    tray.cli("autostart", "on")
    assert "pythonw.exe" in tray.windows.registry(RUN_KEY, "Hooktray")
    tray.windows.start(["wineboot"])  # as at a login, it starts what the registry says
    try:
        wait(lambda: tray.rows("status")[0]["running"], START, "the tray runs")
    finally:
        tray.cli("autostart", "off")
        tray.windows.choose("quit")
        wait(lambda: not tray.rows("status")[0]["running"], START, "the tray has ended")

    assert tray.windows.registry(RUN_KEY, "Hooktray") == ""


def test_in_a_home_with_an_ampersand_hooks_run_and_connect_refuses_with_the_reason(windows: Windows) -> None:
    tray = Tray(windows, name="R&D")
    tray.configure({"hooks": [{**GUARD, "command": "./guard.cmd"}]}, guard_cmd=REFUSES)
    with tray.running():
        approve(tray)
        assert verdict(tray.relay("claude-code", "PreToolUse", PRE_TOOL_USE)) == "deny"

    (tray.home / "claude").mkdir()
    person = {"CLAUDE_CONFIG_DIR": str(windows.inside(tray.home / "claude"))}
    refused = windows.run([*tray.argv, "connect", "claude-code", "--yes"], environment=person)

    assert refused.returncode != 0
    assert "cmd.exe cannot be given this path" in (refused.stdout + refused.stderr).decode()


def test_the_line_that_connect_writes_is_run_by_cmd_and_is_silent_without_the_relay(tray: Tray) -> None:
    tray.configure({"hooks": [{**GUARD, "command": "./guard.cmd"}]}, guard_cmd=REFUSES)
    with tray.running():
        approve(tray)
    person = {
        "USERPROFILE": str(tray.windows.inside(tray.home)),
        "CLAUDE_CONFIG_DIR": str(tray.windows.inside(tray.home / "claude")),
    }
    (tray.home / "claude").mkdir()
    connected = tray.windows.run([*tray.argv, "connect", "claude-code", "--yes"], environment=person)
    assert connected.returncode == 0, connected.stdout.decode()
    settings = json.loads((tray.home / "claude" / "settings.json").read_text())
    (handler,) = settings["hooks"]["PreToolUse"][0]["hooks"]
    argv = [handler["command"], *handler["args"]]

    assert argv[0] == "cmd.exe"
    done = tray.windows.run(argv, json.dumps(PRE_TOOL_USE).encode(), person)
    assert verdict(json.loads(done.stdout)) == "deny"

    removed(tray.home / "bin")
    done = tray.windows.run(argv, json.dumps(PRE_TOOL_USE).encode(), person)
    assert (done.returncode, done.stdout.strip()) == (0, b"")


def removed(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def test_names_in_chinese_and_a_dot_reach_a_console(tray: Tray, windows: Windows) -> None:
    tray.configure({"hooks": [{**GUARD, "name": "守卫·一", "command": "./guard.cmd"}]}, guard_cmd=REFUSES)

    done = subprocess.run(
        ["script", "-qec", subprocess.list2cmdline(["wine", *map(str, tray.argv), "list"]), "/dev/null"],
        env={**windows.environment, "TERM": "xterm"}, capture_output=True, timeout=START, check=False,
    )  # fmt: skip

    assert "守卫·一" in done.stdout.decode(errors="replace")
