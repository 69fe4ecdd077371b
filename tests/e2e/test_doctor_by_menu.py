"""Doctor from the menu while the tray runs: it shows its findings, and the database keeps all that is in it."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

import audited
import pytest
from desk import Desk
from live import Live, recorded

from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc lists the files that a process has open")

PAYLOAD = recorded("claude-code", "PreToolUse-Bash")
HOOKS = [{"name": name, "event": "tool_before", "command": f"./{name}.sh"} for name in ("guard", "second")]


def deleted_files(pid: int) -> list[str]:
    """What the process has open although it was deleted."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed while we looked
            found.append(os.readlink(link))  # noqa: PTH115
    return [name for name in found if name.endswith(" (deleted)") and "hooktray.db" in name]


def integrity(live: Live) -> str:
    uri = f"{locate(str(live.home)).database.as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def test_doctor_from_the_menu_leaves_the_database_whole(desk: Desk, folder: Path, opened: Path) -> None:
    live = Live.fresh(desk, folder, configuration={"hooks": HOOKS}, program=(audited.__file__,))
    for name in ("guard", "second"):
        live.script(f"{name}.sh", 'cat >/dev/null; echo \'{"decision":"block","reason":"not today"}\'')
    live.approve("guard")
    for _ in range(2):
        live.relay("claude-code", "PreToolUse", PAYLOAD)
    live.wait_log(2)

    live.click("Settings", "Doctor")
    desk.wait(opened.exists, what="the findings are opened")
    assert "hook: guard" in Path(opened.read_text()).read_text()
    assert live.states() == {"guard": "approved", "second": "pending"}
    live.approve("second")
    for _ in range(2):
        live.relay("claude-code", "PreToolUse", PAYLOAD)
    rows = live.wait_log(4)

    assert audited.opened(live.home) == []
    assert deleted_files(live.process.pid) == []
    assert integrity(live) == "ok"
    live.click("Quit")
    assert live.process.wait(60) == 0
    live.start()
    assert [row["id"] for row in live.log()] == [row["id"] for row in rows]
    assert live.states() == {"guard": "approved", "second": "approved"}
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", PAYLOAD).stdout
    assert not list(locate(str(live.home)).state.glob("*.damaged-*"))
