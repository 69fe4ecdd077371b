"""What the kernel shows of this machine's own connections."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from tray.ipc.caller_facts import caller_facts, injected_variables, is_connected_to_root

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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows them")
def test_the_addresses_of_this_machine_are_known() -> None:
    assert "127.0.0.1" in caller_facts(os.getpid(), lambda pid: False).addresses


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
