"""What the kernel shows of this machine's own connections."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import psutil
import pytest
from desk import wait
from terminal import Terminal

from tray.approvals.callers.caller_facts import (
    controlling_device,
    injected_variables,
    is_at_console,
    is_connected_to_root,
    own_addresses,
)

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux shows them")
NOBODY = 2**31 - 7


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::")])
def test_a_connection_to_this_very_machine_is_seen_from_both_ends(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family, dualstack_ipv6=family == socket.AF_INET6) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), 20), server.accept()[0]:
            assert is_connected_to_root(os.getuid(), root=os.getuid())
            assert not is_connected_to_root(NOBODY, root=os.getuid())
            assert not is_connected_to_root(os.getuid(), root=NOBODY)
    assert "127.0.0.1" in own_addresses()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows them")
def test_a_terminal_that_a_program_made_is_not_the_console(tmp_path: Path) -> None:
    terminal = Terminal(["setsid", "--ctty", "--wait", "cat"], tmp_path, {"PATH": os.environ["PATH"]})
    try:
        (command,) = wait(lambda: psutil.Process(terminal.process.pid).children(), 20, "it runs")
        wait(lambda: controlling_device(command.pid), 20, "it has the terminal")
        assert not is_at_console(command.pid)
    finally:
        terminal.type("\x04")  # the end of what it reads
        terminal.close()


@pytest.mark.parametrize(
    ("major", "minor", "is_console"), [(4, 1, True), (4, 63, True), (4, 0, False), (4, 64, False), (136, 1, False)]
)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows them")
def test_the_console_is_known_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, major: int, minor: int, is_console: bool
) -> None:
    monkeypatch.setattr("tray.approvals.callers.caller_facts.PROC", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text(f"7 (a) b) S 1 7 7 {os.makedev(major, minor)} 7")

    assert is_at_console(7) is is_console


def test_a_variable_counts_only_when_it_leads_to_files_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(tmp_path)
    # Root may write everywhere; the user that it stands for here may write below its own folder.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).is_relative_to(own))
    (tmp_path / "link").symlink_to("/usr/lib")

    harmless = {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64", "GTK_MODULES": "gail:appmenu", "LD_PRELOAD": "libx.so"}
    assert injected_variables({**harmless, "PATH": own, "HOME": own}) == frozenset()
    for name, value in (
        ("LD_LIBRARY_PATH", f"/usr/lib:{own}/lib"),
        ("LD_LIBRARY_PATH", "/usr/lib:"),
        ("LD_LIBRARY_PATH", "lib"),
        ("LD_PRELOAD", f"libx.so {own}/y.so"),
        ("PERL5OPT", f"-I{own}"),
        ("QT_PLUGIN_PATH", f"{own}/link"),
    ):
        assert injected_variables({name: value}) == {name}, value
