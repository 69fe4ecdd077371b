"""A tray that gets SIGTERM at the very moment at which it takes its first events.

python early_signal_tray.py --home DIR run
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from tray.app.start import run
from tray.ipc.server import IpcServer
from tray.paths import locate

start = IpcServer.start


def signalled(listener: IpcServer, inherited: socket.socket | None = None) -> None:
    """No other process can send a signal at this moment."""
    start(listener, inherited)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    IpcServer.start = signalled  # type: ignore[assignment,method-assign]
    sys.exit(run(locate(sys.argv[2]), headless=True))
