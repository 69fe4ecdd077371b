"""Who is at the other end of a loopback connection: its user and its processes, where /proc can tell."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

SocketAddress = tuple[str, int]
TABLE = Path("/proc/net/tcp")
ATTEMPTS = 3  # the kernel writes the table while connections come and go, and may leave one out


class TcpPeer(msgspec.Struct, frozen=True):
    """The far end of a connection."""

    user: int
    inode: str

    @property
    def is_ours(self) -> bool:
        """Whether it belongs to the user that runs the tray."""
        return sys.platform != "win32" and self.user == os.getuid()

    def processes(self) -> tuple[int, ...]:
        """The processes that hold it; empty when the system does not show them."""
        numbers = (name for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - many names, and only names
        return tuple(int(number) for number in numbers if f"socket:[{self.inode}]" in _links(f"/proc/{number}/fd"))


def is_supported() -> bool:
    return sys.platform == "linux" and TABLE.exists()


def find(theirs: SocketAddress, ours: SocketAddress) -> TcpPeer | None:
    """The end whose own address is `theirs` and who talks to `ours`; None without such a connection."""
    wanted = [_table_address(theirs), _table_address(ours)]
    for _ in range(ATTEMPTS):
        for line in TABLE.read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[1:3] == wanted:
                return TcpPeer(user=int(fields[7]), inode=fields[9])
    return None


def _table_address(address: SocketAddress) -> str:
    """127.0.0.1:80 as the kernel's table has it: the address in the machine's own byte order."""
    number = int.from_bytes(socket.inet_aton(address[0]), sys.byteorder)
    return f"{number:08X}:{address[1]:04X}"


def _links(folder: str) -> Iterator[str]:
    """What a process has open; nothing where it is not ours to look at, or has gone meanwhile."""
    with suppress(OSError):
        for number in os.listdir(folder):  # noqa: PTH208
            with suppress(OSError):
                yield os.readlink(f"{folder}/{number}")  # noqa: PTH115
