"""launchd's part as far as it can be tested without a Mac: the property list, and no sockets elsewhere."""

from __future__ import annotations

import plistlib
from pathlib import Path

from tray.desktop.autostart import launch_agent
from tray.desktop.macos import LAUNCHD_SOCKET, activated_sockets


def test_launchd_listens_at_the_trays_path_for_its_owner_only() -> None:
    words = plistlib.loads(launch_agent(Path("/a b/tray.sock"), ("/bin/tray", "run")).encode())

    assert words["Sockets"] == {LAUNCHD_SOCKET: {"SockPathMode": 0o600, "SockPathName": "/a b/tray.sock"}}
    assert words["RunAtLoad"] is True


def test_a_process_that_launchd_did_not_start_has_no_sockets() -> None:
    assert activated_sockets() == []
