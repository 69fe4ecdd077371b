"""The tray's socket: an owner-only Unix socket, else a loopback port with a token."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tray.errors import IpcError
from tray.files import Identity, identity
from tray.paths import ADDRESS_FILE

BACKLOG = 512
HOME_HINT = "choose a place of your own with --home DIR"
CREDENTIALS = struct.Struct("3i")  # of who is at the other end, on Linux: pid, uid, gid
_PATH_LIMIT = 107 if sys.platform == "linux" else 103  # bytes of a Unix socket's path, without its NUL


class ListeningSocket(msgspec.Struct, frozen=True):
    """An open socket: the socket itself, the token that callers must show, and its file."""

    socket: socket.socket
    token: str
    file: Path
    identity: Identity
    is_inherited: bool = False  # a service manager opened it, and listens on when the tray has ended

    def wake_acceptor(self) -> None:
        """Connect once, so that an acceptor wakes up."""
        name = self.socket.getsockname()
        with contextlib.suppress(OSError), socket.socket(self.socket.family, socket.SOCK_STREAM) as caller:
            caller.settimeout(1.0)
            caller.connect(name)

    def close(self) -> None:
        """Where a service manager listens on, no connection of our own may wait there: it would start a tray."""
        if self.is_inherited:
            self.socket.setblocking(False)
            with contextlib.suppress(OSError):
                while True:
                    self.socket.accept()[0].close()
        self.socket.close()

    def remove(self) -> None:
        """Remove the file, unless another tray has put its own there or a service manager listens on."""
        if self.is_inherited:
            return
        with contextlib.suppress(OSError):
            if identity(self.file) == self.identity:
                self.file.unlink()


def listen(path: Path, *, loopback: bool) -> ListeningSocket:
    """Listen at `path`; IpcError when others may write to its folder or something else is in the way."""
    check_folder(path.parent)
    return _listen_loopback(path) if loopback else _listen_unix(path)


def adopt(server: socket.socket, path: Path) -> ListeningSocket:
    """The socket at `path` that the tray was started with; IpcError as for `listen`."""
    check_folder(path.parent)
    try:
        found = path.lstat()
        server.listen(BACKLOG)
    except OSError as error:
        raise IpcError(f"{path}: cannot take over the socket: {error}", hint=HOME_HINT) from error
    return ListeningSocket(server, "", path, (found.st_dev, found.st_ino), is_inherited=True)


def connect(path: Path, timeout: float) -> tuple[socket.socket, str]:
    """A connection to the tray's socket at `path` and the token to show there; OSError when no tray listens."""
    check_folder(path.parent)
    if sys.platform != "win32":
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError), _short_path(path) as name:
            return _open_connection(socket.AF_UNIX, name, timeout), ""
    port, token = path.with_name(ADDRESS_FILE).read_text(encoding="ascii").split()
    return _open_connection(socket.AF_INET, ("127.0.0.1", int(port)), timeout), token


def owner_uid() -> int:
    """The only user who may connect."""
    if sys.platform == "win32":
        return 0
    return os.getuid()


def check_folder(folder: Path) -> None:
    """Raise IpcError unless `folder` is a real folder, ours, and closed to everyone else."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        raise IpcError(f"{folder}: there is no such folder", hint="`hooktray run` makes it") from None
    except OSError as error:
        raise IpcError(
            f"{folder}: cannot look at this folder: {error.strerror}", hint="choose another: --home DIR"
        ) from None
    if not stat.S_ISDIR(status.st_mode):
        raise IpcError(f"{folder}: is not a real folder", hint="remove the file or link and start again")
    if sys.platform == "win32":
        return  # the profile folder is already closed to other users
    if status.st_uid != os.getuid():
        raise IpcError(f"{folder}: belongs to user {status.st_uid}", hint=HOME_HINT)
    mode = status.st_mode & 0o777  # a group's setgid bit, inherited from above, opens nothing
    if mode != 0o700:
        raise IpcError(f"{folder}: has mode {mode:04o}, not 0700", hint=f"close it: chmod 700 {folder}")


def _listen_unix(path: Path) -> ListeningSocket:
    if sys.platform == "win32":
        raise IpcError(f"{path}: there are no Unix sockets here", hint="use the loopback address")
    with contextlib.suppress(FileNotFoundError):  # of a tray that is gone: the caller holds the single-instance lock
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise IpcError(
                f"{path}: something that is not a socket is in the way", hint="move it away and start again"
            )
        path.unlink()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short_path(path) as name:
            server.bind(name)
        found = path.lstat()
        path.chmod(0o600)
        server.listen(BACKLOG)
        return ListeningSocket(server, "", path, (found.st_dev, found.st_ino))
    except OSError as error:
        server.close()
        raise IpcError(f"{path}: cannot open the socket: {error}", hint=HOME_HINT) from error


def _listen_loopback(path: Path) -> ListeningSocket:
    file, token = path.with_name(ADDRESS_FILE), secrets.token_hex(32)
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            server.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        server.bind(("127.0.0.1", 0))
        server.listen(BACKLOG)
        _write_address_file(file, f"{server.getsockname()[1]} {token}\n")
        found = file.lstat()
        return ListeningSocket(server, token, file, (found.st_dev, found.st_ino))
    except OSError as error:
        server.close()
        raise IpcError(f"{file}: cannot open the socket: {error}", hint=HOME_HINT) from error


def _write_address_file(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:  # noqa: PTH123
        stream.write(text)
    draft.replace(file)


@contextlib.contextmanager
def _short_path(path: Path) -> Iterator[str]:
    """A name of the socket that fits the kernel's limit."""
    if len(os.fsencode(path)) <= _PATH_LIMIT:
        yield str(path)
        return
    if sys.platform != "linux":
        raise OSError(f"a socket's path has at most {_PATH_LIMIT} bytes; choose a shorter one")
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _open_connection(family: int, name: str | tuple[str, int], timeout: float) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(name)
        if sys.platform == "linux" and family == socket.AF_UNIX:
            _, uid, _ = CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.getuid():
                raise PermissionError(f"another user listens at {name}")
    except OSError:
        connection.close()
        raise
    return connection
