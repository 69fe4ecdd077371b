"""A tray that gets SIGTERM at an exact moment: `python signalled_tray.py WHEN --home DIR run`.

Another process could not hit that moment. WHEN is `early`, when the tray takes its first events, or `late`: the tray
quits at once and gets the signal while it closes.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from tray.app.start import run
from tray.desktop.mainloop import HeadlessIcon
from tray.ipc.server import IpcServer
from tray.paths import locate
from tray.store.journal import Journal

start, close = IpcServer.start, Journal.close


def start_signalled(listener: IpcServer, inherited: socket.socket | None = None) -> None:
    start(listener, inherited)
    os.kill(os.getpid(), signal.SIGTERM)


def close_signalled(journal: Journal, limit: float = 5.0) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    close(journal, limit)


if __name__ == "__main__":
    if sys.argv[1] == "early":
        IpcServer.start = start_signalled  # type: ignore[assignment,method-assign]
    else:
        HeadlessIcon.run = lambda icon: None  # type: ignore[assignment, method-assign]
        Journal.close = close_signalled  # type: ignore[assignment, method-assign]
    sys.exit(run(locate(sys.argv[3]), headless=True))
