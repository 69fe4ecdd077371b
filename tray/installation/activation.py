"""The socket that a service manager opened for the tray before it started it: systemd on Linux, launchd on macOS."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from collections.abc import MutableMapping
from pathlib import Path

FIRST = 3  # the descriptor of the first socket, as sd_listen_fds(3) has it
VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID")


def inherited_socket(path: Path, environment: MutableMapping[str, str] = os.environ) -> socket.socket | None:
    """The listening socket at `path` that this process was started with; None when there is none.

    The variables go: hooks must not take them for theirs. A socket at any other path is closed.
    """
    if sys.platform == "win32":
        return None
    if sys.platform == "darwin":
        from tray.desktop.macos import activated_sockets

        numbers = activated_sockets()
    else:
        numbers = _systemd_sockets(environment)
    found = [one for one in map(_listener, numbers) if one is not None]
    ours = next((one for one in found if _is_at(one, path)), None)
    for one in found:
        if one is not ours:
            one.close()
    return ours


def _systemd_sockets(environment: MutableMapping[str, str]) -> range:
    words = {name: environment.pop(name, "") for name in VARIABLES}
    if words["LISTEN_PID"] != str(os.getpid()) or not words["LISTEN_FDS"].isdecimal():
        return range(0)
    return range(FIRST, FIRST + min(int(words["LISTEN_FDS"]), 16))


def _listener(number: int) -> socket.socket | None:
    """The listening Unix socket of this number, closed to children; None for anything else, which stays open."""
    if sys.platform == "win32":
        return None
    with contextlib.suppress(OSError, AttributeError):
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            found = socket.socket(fileno=number)
            if found.family == socket.AF_UNIX and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                found.set_inheritable(False)
                found.setblocking(True)
                return found
            found.detach()
    return None


def _is_at(listener: socket.socket, path: Path) -> bool:
    """Whether it listens at this path, and nothing else took the path meanwhile."""
    try:
        name = os.fsdecode(listener.getsockname())
        return Path(name).parent.samefile(path.parent) and Path(name).name == path.name and path.is_socket()
    except OSError:
        return False
