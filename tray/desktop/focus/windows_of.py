"""What all ways to a window share: which of the desktop's windows has a session; others' sockets and programs."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tray.model.place import Place

TIMEOUT = 5.0  # seconds that a terminal or a compositor has to answer
ANSWER_LIMIT = 4 * 1024 * 1024  # bytes


# What the desktop's own libraries, and answers of another form than expected, raise beside a FocusError.
DESKTOP_ERRORS = (AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError, ValueError)


class FocusError(Exception):
    """Why a pane or a window cannot be brought to the front, as one line for people."""


class Raised(msgspec.Struct, frozen=True):
    """A window was raised; it is the one of `among` windows of its program."""

    is_certain: bool = True
    among: int = 1


class Window(msgspec.Struct, frozen=True):
    """One window of the desktop; `id` is the desktop's own."""

    id: str
    pid: int
    title: str = ""


def choose(windows: Sequence[Window], place: Place, title: str) -> tuple[Window, Raised] | None:
    """The window of the nearest process above the session that has one; of several the one with the title.

    `windows` are in the order in which they are preferred otherwise.
    """
    for process in place.processes:
        found = [one for one in windows if one.pid == process.pid]
        if len(found) > 1:
            named = [one for one in found if one.id == place.window] or [
                one for one in found if title and title.casefold() in one.title.casefold()
            ]
            best = named or found
            return best[0], Raised(len(named) == 1, len(found))
        if found:
            return found[0], Raised()
    return None


def run(argv: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """The output of a terminal's own program; FocusError when it fails."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "USER", "XDG_RUNTIME_DIR") if name in os.environ}
    try:
        done = subprocess.run(
            argv,
            env={**kept, "LC_ALL": "C.UTF-8", **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FocusError(f"{argv[0]}: {getattr(error, 'strerror', None) or 'no answer'}") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise FocusError(f"{argv[0]}: {lines[0] if lines else f'exit {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace")


def is_own_socket(path: str) -> bool:
    """Whether there is a socket that belongs to the user."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.getuid())


def connect(path: str) -> socket.socket:
    """A connection to a socket of the user's own: a path, or a name with `@` in front. FocusError when it is not."""
    if sys.platform == "win32":
        raise FocusError("no Unix sockets here")
    if not path.startswith("@") and not is_own_socket(path):
        raise FocusError(f"{path} is not a socket of yours")
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(TIMEOUT)
    try:
        connection.connect("\0" + path[1:] if path.startswith("@") else path)
        if sys.platform == "linux":  # an abstract name has no owner of its own
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            if int.from_bytes(credentials[4:8], sys.byteorder) != os.getuid():
                raise FocusError(f"{path} is not a socket of yours")
    except OSError as error:
        connection.close()
        raise FocusError(f"{path}: {error.strerror or 'no answer'}") from error
    except FocusError:
        connection.close()
        raise
    return connection


def ask(path: str, request: bytes, end: bytes = b"") -> bytes:
    """Send a request and read the answer: up to `end`, else until the other side closes."""
    with connect(path) as connection:
        received = bytearray()
        try:
            connection.sendall(request)
            while not (end and received.endswith(end)) and len(received) < ANSWER_LIMIT:
                part = connection.recv(65536)
                if not part:
                    break
                received += part
        except OSError as error:
            raise FocusError(f"{Path(path).name}: {error.strerror or 'no answer'}") from error
        return bytes(received)
