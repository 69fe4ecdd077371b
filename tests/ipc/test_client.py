"""The CLI's requests: what comes back, and what a user is told when nothing does."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
from ipc.server_bench import ServerBench

from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.ipc.server import PeerCredentials


def test_a_request_is_answered_and_the_service_learns_who_asks(bench: ServerBench) -> None:
    assert send_request(bench.path, {"op": "status", "deep": [1, "é"]}) == {
        "echo": {"op": "status", "deep": [1, "é"]}
    }
    assert bench.service.peers == [PeerCredentials(os.getpid(), os.getuid())]


@pytest.mark.parametrize(
    ("op", "said"),
    [("refuse", "no such hook\n  look at `hooktray list`"), ("break", "the tray failed at this request")],
)
def test_a_client_gets_a_refusal_with_its_hint_and_a_failure_without_its_traceback(
    bench: ServerBench, op: str, said: str
) -> None:
    with pytest.raises(IpcError, match=said):
        send_request(bench.path, {"op": op})


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
    bench = ServerBench(tmp_path / "state")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(bench.path))
        server.listen()
        quitter = threading.Thread(target=lambda: server.accept()[0].close())
        quitter.start()
        with pytest.raises(IpcError, match="the tray broke off"):
            send_request(bench.path, {"op": "status"})
        quitter.join()
