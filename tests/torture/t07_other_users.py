"""T07: another user at the socket, also where folder and socket let everybody in."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torture.frame import Tally
from torture.trays import LONG
from tray.engine.ports import EventCaller
from tray.ipc import frames
from tray.ipc.connection import CallerTerminal, PeerCredentials
from tray.ipc.server import IpcServer
from tray.model.decision import Answer
from tray.model.event import RelayRequest
from tray.paths import locate

TITLE = "another user at the socket"
NOBODY = 65534


class Porch:
    """Answers at the socket and remembers who was let in."""

    def __init__(self) -> None:
        self.met: list[int] = []

    def timeout(self, agent: str, event: str) -> float:
        return 5.0

    def handle(self, request: RelayRequest, caller: EventCaller) -> Answer:
        self.met.append(request.pid)
        return Answer()

    def busy_answer(self, request: RelayRequest) -> Answer:
        return Answer()

    def failure_answer(self, agent: str, event: str, body: bytes) -> Answer | None:
        return Answer()

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, Any]:
        self.met.append(peer.uid)
        return {"done": "in"}


def torture(tally: Tally) -> None:
    if sys.platform == "win32" or os.getuid() != 0:
        tally.not_run.append("a second user: that takes root")
    else:
        tally.folder.chmod(0o755)  # the way to the socket is open; only the socket itself is closed
        _connects(tally, opened=False)
        _connects(tally, opened=True)
        _control(tally)


def _connects(tally: Tally, *, opened: bool) -> None:
    """With `opened` even the folder and the socket let everybody in: what is left is the word of the kernel."""
    home = tally.folder / f"home{opened:d}"
    before = os.umask(0)
    try:
        paths = locate(str(home))
        paths.prepare()
        porch = Porch()
        server = IpcServer(paths.socket, porch)
        server.start()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (paths.state, paths.socket)]
    tally.keep("umask 0 opens nothing", modes == [0o700, 0o600])
    if opened:
        for place in (home, paths.state):
            place.chmod(0o755)
        paths.socket.chmod(0o777)
    try:
        inside = _as_nobody(paths.socket, tally.many(50, 500))
    finally:
        server.close()
    for number, answered in enumerate(inside):
        tally.attack(f"connect {number}, opened={opened}", not answered and not porch.met)


def _control(tally: Tally) -> None:
    """The same visitors at a socket in a folder for everybody, without a look at who they are."""
    folder = tally.folder / "control"
    folder.mkdir(mode=0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "tray.sock"))
        (folder / "tray.sock").chmod(0o777)
        server.listen(8)
        tally.control("an open socket", any(_as_nobody(folder / "tray.sock", 1, serve=server)))


def _as_nobody(path: Path, times: int, serve: socket.socket | None = None) -> list[bool]:
    """Whether anything came back to each of so many visits of another user."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # no exception may leave this branch: it is a copy of the whole program
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writer, bytes(_visit(path) for _ in range(times)))
        finally:
            os._exit(0)
    os.close(writer)
    if serve is not None:
        connection, _ = serve.accept()
        with connection:
            connection.sendall(b"welcome")
    with open(reader, "rb") as stream:  # noqa: PTH123 - a pipe
        said = stream.read()
    os.waitpid(child, 0)
    return [bool(one) for one in said] if len(said) == times else [True] * times


def _visit(path: Path) -> bool:
    try:
        return _is_let_in(path)
    except TimeoutError:
        return True  # nobody sent him away
    except OSError:
        return False


def _is_let_in(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.settimeout(LONG)
        visitor.connect(str(path))
        with contextlib.suppress(OSError):
            visitor.sendall(frames.encode_control({"op": "on"}, ""))
        return bool(visitor.recv(1))
