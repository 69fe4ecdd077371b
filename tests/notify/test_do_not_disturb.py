"""Whether the desktop wants to be left alone is read from the servers that people use, and at once."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Literal

import pytest
from desk import Desk
from every import every
from notify import parts
from notify.parts import Recorder

from tray.notify.do_not_disturb import system_may_interrupt
from tray.notify.freedesktop import FreedesktopBackend

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("desk")]

DUNST = (["dunstctl", "set-paused", "true"], ["dunstctl", "set-paused", "false"])
PROPERTY = ["xfconf-query", "-c", "xfce4-notifyd", "-p", "/do-not-disturb", "-n", "-t", "bool", "-s"]
XFCE = ([*PROPERTY, "true"], [*PROPERTY, "false"])


@pytest.mark.parametrize(("server", "words"), [("dunst", DUNST), ("xfce4", XFCE)])
def test_a_real_server_that_was_told_to_be_quiet_says_so(
    server: Literal["dunst", "xfce4"],
    words: tuple[list[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Desk(tmp_path / "d", panel=None, notifications=server, sound=False, size=(640, 400)) as desk:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", desk.environment["DBUS_SESSION_BUS_ADDRESS"])

        assert asyncio.run(parts.states(desk, words)) == [True, False, True]


GSETTINGS = """#!/bin/sh
[ "$*" = "get @KEY@" ] && cat @FOLDER@/value
"""


@every(
    ("name", "key", "on", "off"),
    [
        ("gnome-shell", "org.gnome.desktop.notifications show-banners", "false", "true"),
        ("Notification Daemon", "org.mate.NotificationDaemon do-not-disturb", "true", "false"),
    ],
)
def test_a_desktop_that_keeps_it_in_its_settings_is_asked_there(
    server: Recorder, name: str, key: str, on: str, off: str, tmp_path: Path
) -> None:
    server.name(name)
    program = tmp_path / "bin" / "gsettings"
    program.parent.mkdir(exist_ok=True)
    program.write_text(GSETTINGS.replace("@KEY@", key).replace("@FOLDER@", str(tmp_path)))
    program.chmod(0o755)

    async def heard() -> list[bool]:
        backend, found = FreedesktopBackend(), []
        for value in (on, off):
            (tmp_path / "value").write_text(f"{value}\n")
            found.append((await backend.server_state()).may_interrupt)
        program.unlink()
        patch.setenv("PATH", str(program.parent))
        found.append((await backend.server_state()).may_interrupt)  # cannot be known
        await backend.close()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        assert asyncio.run(heard()) == [False, True, True]


RECORD = {"assertionDetails": {"assertionDetailsModeIdentifier": "com.apple.donotdisturb.mode.default"}}


@every(
    ("text", "may_interrupt"),
    [
        (json.dumps({"data": [{"storeAssertionRecords": [RECORD]}], "header": {}}), False),
        (json.dumps({"data": [{"storeAssertionRecords": []}], "header": {}}), True),
        (json.dumps({"data": [{"storeInvalidationRecords": [RECORD]}]}), True),
        ('{"data": 1}', True),
        ("[]", True),
        ("{", True),
        (None, True),
    ],
)
def test_a_focus_of_macos_is_respected_where_its_file_can_be_read(
    text: str | None, may_interrupt: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Mac runs here: the file is made as people describe it, and without full disk access macOS shows none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "Library" / "DoNotDisturb" / "DB" / "Assertions.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    if text is not None:
        file.write_text(text)

    assert system_may_interrupt("darwin") is may_interrupt
    assert system_may_interrupt("linux")
