"""The units that wait for an agent's first event: what systemd says of them, and when they are asked for."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from live import Live
from plain import Plain
from user_manager import FakeUserManager

from tray.desktop.systemd import SERVICE, SOCKET, UserManager, service_unit, socket_unit, user_manager
from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no systemd")

HARD = ("/bin/echo", "a b", '"', "\\", "$HOME", "%h", "100%", "'", ";", "ü")


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    with contextlib.closing(Plain(tmp_path)) as plain:
        yield plain


@pytest.fixture
def manager(plain: Plain) -> Iterator[FakeUserManager]:
    with contextlib.closing(FakeUserManager(plain)) as manager:
        yield manager


def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    (tmp_path / SERVICE).write_text(service_unit(HARD))
    (tmp_path / SOCKET).write_text(socket_unit(Path("/tmp/a%b/tray.sock")))

    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", tmp_path / SOCKET, tmp_path / SERVICE],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )

    assert (done.returncode, [line for line in done.stderr.splitlines() if str(tmp_path) in line]) == (0, [])


def test_a_line_break_in_a_path_is_refused() -> None:
    with pytest.raises(HooktrayError, match="line break"):
        service_unit(("/bin/a\nb",))


def test_it_is_turned_on_and_off_with_the_desktops_entry(plain: Plain, manager: FakeUserManager) -> None:
    live = Live(plain, plain.folder / "h")

    (on,) = live.cli_json("autostart", "on")
    assert (on["autostart"], on["at_first_event"], manager.listens) == ("on", True, True)
    assert manager.asked == ["daemon-reload", "enable hooktray.socket", "start hooktray.socket"]
    assert b"The first event of an agent starts it, too" in live.cli("autostart").stdout
    entry = (plain.folder / ".config" / "autostart" / "hooktray.desktop").read_text()
    assert "systemctl --user restart hooktray.service" in entry

    (off,) = live.cli_json("autostart", "off")
    assert (off["autostart"], off["at_first_event"], manager.listens) == ("off", False, False)
    assert manager.asked[3:] == ["disable hooktray.socket", "stop hooktray.socket", "daemon-reload"]
    assert list(manager.units.iterdir()) == []


def test_a_tray_that_runs_keeps_its_socket(plain: Plain, manager: FakeUserManager) -> None:
    live = Live.fresh(plain, plain.folder)

    live.cli_json("autostart", "on")

    assert manager.asked == ["daemon-reload", "enable hooktray.socket"]
    assert live.is_running()


def test_a_foreign_unit_is_not_changed_and_the_message_of_systemctl_is_shown(
    plain: Plain, manager: FakeUserManager
) -> None:
    manager.units.mkdir(parents=True)
    (manager.units / SERVICE).write_text("[Service]\nExecStart=/bin/true\n")

    done = Live(plain, plain.folder / "h").cli("autostart", "on")

    assert (done.returncode, b"hooktray.service: this entry is not from Hooktray" in done.stderr) == (1, True)
    assert manager.asked == []

    (manager.units / SERVICE).unlink()
    (plain.folder / "bin" / "systemctl").write_text("#!/bin/sh\necho 'Failed to connect to bus' >&2; exit 1\n")
    done = Live(plain, plain.folder / "h").cli("autostart", "on")

    assert done.returncode == 1
    assert b"`systemctl --user daemon-reload` failed: Failed to connect to bus" in done.stderr


def test_a_socket_that_a_unit_cannot_name_gets_none(tmp_path: Path) -> None:
    (tmp_path / "systemd").mkdir()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as private:
        private.bind(str(tmp_path / "systemd" / "private"))
        environment = {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)}

        found = user_manager(tmp_path, Path("/s/tray.sock"), environment)
        long = user_manager(tmp_path, Path("/" + "s" * 107), environment)

    assert isinstance(found, UserManager)
    assert long is None
