"""The CLI's requests: what comes back, and what a user is told when nothing does."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc.server_bench import (
    Porch,
    opened,
)

from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.ipc.server import PeerCredentials


@pytest.fixture
def porch(tmp_path: Path) -> Iterator[Porch]:
    with opened(tmp_path) as made:
        yield made


def test_a_request_is_answered_and_the_service_learns_who_asks(porch: Porch) -> None:
    assert send_request(porch.path, {"op": "status", "deep": [1, "é"]}) == {
        "echo": {"op": "status", "deep": [1, "é"]}
    }
    assert porch.service.peers == [PeerCredentials(os.getpid(), os.getuid())]


def test_a_refusal_travels_back_with_its_hint(porch: Porch) -> None:
    with pytest.raises(IpcError, match="no such hook\n  look at `hooktray list`"):
        send_request(porch.path, {"op": "refuse"})


def test_a_broken_service_is_said_without_its_traceback(porch: Porch) -> None:
    with pytest.raises(IpcError, match="the tray failed at this request"):
        send_request(porch.path, {"op": "break"})


@pytest.mark.parametrize("left", ["nothing", "folder", "socket"])
def test_without_a_tray_the_cli_says_how_to_start_it(tmp_path: Path, left: str) -> None:
    path = tmp_path / "state" / "tray.sock"
    if left != "nothing":
        path.parent.mkdir(mode=0o700)
    if left == "socket":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
            stale.bind(str(path))

    with pytest.raises(IpcError, match=r"the tray is not running .*\n  `hooktray run` starts it"):
        send_request(path, {"op": "status"})


def test_a_tray_that_breaks_off_is_said(tmp_path: Path) -> None:
    porch = Porch(tmp_path / "state")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(porch.path))
        door.listen()
        quitter = threading.Thread(target=lambda: door.accept()[0].close())
        quitter.start()
        with pytest.raises(IpcError, match="the tray broke off"):
            send_request(porch.path, {"op": "status"})
        quitter.join()
