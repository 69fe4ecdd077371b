"""Whether the desktop wants to be left alone is read from the servers that people use, and at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import pytest
from desk import Desk

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

        async def heard() -> list[bool]:
            backend = FreedesktopBackend()
            found = [(await backend.server_state()).may_interrupt]
            for argv in words:
                done = desk.run(argv)
                assert done.returncode == 0, done.stderr
                found.append((await backend.server_state()).may_interrupt)
            await backend.close()
            return found

        assert asyncio.run(heard()) == [True, False, True]
