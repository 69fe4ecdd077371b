"""What the kernel shows of this machine's own connections."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from tray.ipc.caller_facts import caller_facts, is_connected_to_root

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
