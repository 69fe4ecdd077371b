"""A click that a detached program sends over the bus, as an agent could let one loose: it does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from desk import Desk
from desktop.stage import FOREIGNER
from house import PRE_TOOL_USE
from live import Live

pytestmark = pytest.mark.desktop
SLOW = 60.0  # seconds on a loaded machine


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ("", "A program that is not a tray host clicked"),
        ("org.kde.StatusNotifierHost-loose", "started after an agent"),
    ],
    ids=["a program", "one that calls itself a tray host"],
)
def test_a_detached_click_comes_to_nothing_and_is_told(desk: Desk, folder: Path, own: str, shown: str) -> None:
    live = Live.fresh(desk, folder)
    payload = json.dumps(PRE_TOOL_USE).encode()
    agent = f"import signal, subprocess, sys; subprocess.run(sys.argv[1:], input={payload!r}); signal.pause()"
    desk.start([sys.executable, "-c", agent, *live.relay_argv("claude-code", "PreToolUse")])
    live.wait_log(1)
    row = next(row for row in live.menu() if row.label.startswith("Hooks"))
    address = desk.environment["DBUS_SESSION_BUS_ADDRESS"]
    click = [sys.executable, "-c", FOREIGNER, address, live.item.bus, "Event", "", str(row.id), own]

    subprocess.run(["setsid", "--fork", "env", "-i", "PATH=/usr/bin:/bin", *click], check=True, timeout=SLOW)
    desk.wait(lambda: any(shown in one.body + one.summary for one in desk.notifications()), what="the notification")

    assert live.switch().enabled is True
