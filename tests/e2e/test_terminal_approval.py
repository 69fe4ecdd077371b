"""A hook that is approved at a real terminal emulator, whose PATH is the hook's from then on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from desk import Desk
from house import PRE_TOOL_USE
from ipc.guarded_tray import WANTED
from live import Live
from user_controls import SECRET, set_passphrase

from tray.paths import locate

SLOW = 60.0  # seconds on a loaded machine
XTERM = "/usr/bin/xterm"
SYSTEM = "/usr/local/bin:/usr/bin:/bin"


def test_review_shows_the_path_of_the_terminal_that_approved_and_the_hook_runs_with_it(
    desk: Desk, folder: Path
) -> None:
    hook = {"name": "guard", "event": "tool_before", "command": "./guard.sh"}
    live = Live.fresh(desk, folder, configuration={"hooks": [hook]}, starts=False)
    guard = live.script("guard.sh", "")
    guard.write_text("#!/usr/bin/env project-shell\ncat >/dev/null; project-linter\n")
    tools, log = folder / "tools", folder / "screen"
    tools.mkdir()
    (tools / "project-linter").write_text("#!/bin/sh\necho 'linter says no' >&2\nexit 2\n")
    (tools / "project-linter").chmod(0o755)
    (tools / "project-shell").symlink_to("/bin/sh")
    set_passphrase(locate(str(live.home)))
    live.start("--headless")

    command = shlex.join(live.argv("approve", "guard"))
    argv = [XTERM, "-l", "-lf", str(log), "-e", "/bin/sh", "-c", f"{command}; sleep 600"]
    desk.start(argv, env={"PATH": f"{tools}:{SYSTEM}"})
    desk.wait(lambda: WANTED in text_of(log), what="the command asks at the terminal")
    assert f"    {tools}\n    /usr/local/bin\n" in review(live), "what the terminal names as the whole text"
    assert f"    project-shell: {tools}/project-shell\n" in review(live)
    desk.run(["xdotool", "type", "--delay", "50", f"{SECRET}\n"])
    desk.wait(lambda: live.states() == {"guard": "approved"}, what="it is approved")
    assert SECRET not in text_of(log)

    environment = {"PATH": SYSTEM}  # the agent's, which finds neither of the two programs
    done = desk.run(
        live.relay_argv("claude-code", "PreToolUse"),
        environment,
        input=json.dumps(PRE_TOOL_USE).encode(),
        timeout=SLOW,
    )
    assert b"linter says no" in done.stdout


def text_of(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""


def review(live: Live) -> str:
    """The only one that the tray wrote."""
    (path,) = (live.home / "state" / "reviews").glob("guard-*.txt")
    return path.read_text()
