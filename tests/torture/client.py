"""Sends requests that were written beforehand to the socket, as any program can: `client.py SOCKET FRAME…`."""

from __future__ import annotations

import contextlib
import socket
import sys
from pathlib import Path


def main(path: str, *frames: str) -> None:
    for frame in frames:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:  # a refusal does not end it
            caller.settimeout(30)
            caller.connect(path)
            caller.sendall(Path(frame).read_bytes())
            while caller.recv(4096):
                pass


if __name__ == "__main__":
    main(*sys.argv[1:])
