"""Sends a request that was written beforehand to the socket, as any program can: `client.py SOCKET FRAME`."""

from __future__ import annotations

import socket
import sys
from pathlib import Path


def main(path: str, frame: Path) -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(30)
        caller.connect(path)
        caller.sendall(frame.read_bytes())
        while caller.recv(4096):
            pass


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
