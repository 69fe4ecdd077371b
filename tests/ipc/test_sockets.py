"""Who gets in: the owner alone, through a folder that is closed to others or with a token."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ipc.server_bench import LONG, Recorder, ServerBench, answer, by_port, frame, is_sent_away, opened

from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.ipc.server import IpcServer


def test_the_socket_is_the_owners_alone(bench: ServerBench) -> None:
    assert stat.S_IMODE(bench.path.lstat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o500])
def test_a_folder_with_another_mode_is_refused_with_its_cure(tmp_path: Path, mode: int) -> None:
    bench = ServerBench(tmp_path / "state")
    bench.path.parent.chmod(mode)

    with pytest.raises(IpcError, match=f"state: has mode {mode:04o}, not 0700\n.*chmod 700"):
        bench.listener.start()


@pytest.mark.parametrize(("name", "said"), [("link", "is not a real folder"), ("nowhere", "there is no such folder")])
def test_a_folder_that_is_a_link_or_not_there_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(IpcError, match=f"{name}: {said}"):
        IpcServer(tmp_path / name / "tray.sock", Recorder()).start()


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="needs root to give a folder away")
def test_a_folder_of_someone_else_is_refused(tmp_path: Path) -> None:
    bench = ServerBench(tmp_path / "state")
    os.chown(bench.path.parent, 65534, 65534)

    with pytest.raises(IpcError, match="state: belongs to user 65534"):
        bench.listener.start()


def test_the_socket_of_a_tray_that_was_killed_is_replaced_also_where_the_folder_inherits_its_group(
    tmp_path: Path,
) -> None:
    bench = ServerBench(tmp_path / "state")
    bench.path.parent.chmod(0o2700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stale:
        stale.bind(str(bench.path))
    bench.listener.start()

    with bench.send("e") as connection:
        assert answer(connection).stdout == b"inline"
    bench.listener.close()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_socket_is_not_removed(tmp_path: Path, kind: str) -> None:
    bench = ServerBench(tmp_path / "state")
    if kind == "file":
        bench.path.write_text("mine")
    else:
        bench.path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(IpcError, match="something that is not a socket is in the way"):
        bench.listener.start()
    assert bench.path.is_symlink() or bench.path.read_text() == "mine"


def test_closing_leaves_the_socket_of_the_next_tray(tmp_path: Path) -> None:
    first, second = ServerBench(tmp_path / "state"), ServerBench(tmp_path / "state")
    first.listener.start()
    second.listener.start()
    first.listener.close()

    with second.send("e") as connection:
        assert answer(connection).stdout == b"inline"
    second.listener.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_path_too_long_for_a_socket_works(tmp_path: Path) -> None:
    bench = ServerBench(tmp_path / ("deep" * 30) / ("er" * 50))
    bench.listener.start()

    assert send_request(bench.path, {"op": "ping"}) == {"echo": {"op": "ping"}}
    bench.listener.close()
    assert not bench.path.exists()


STRANGER = """
import os, socket, sys
os.chdir(sys.argv[1])
os.setgid(65534); os.setuid(65534)
for _ in range(50):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("tray.sock")
    try:
        connection.sendall(bytes.fromhex(sys.argv[2]))
    except BrokenPipeError:
        pass
    try:
        assert connection.recv(1) == b"", "answered"
    except ConnectionResetError:
        pass
    connection.close()
print("sent away 50 times")
"""


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="needs root to become another user")
def test_another_user_is_sent_away_even_when_the_folder_is_open(bench: ServerBench) -> None:
    bench.path.parent.chmod(0o755)
    bench.path.chmod(0o777)
    command = [sys.executable, "-I", "-c", STRANGER, str(bench.path.parent), frame("e").hex()]

    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)

    assert (done.stdout, done.stderr) == ("sent away 50 times\n", "")
    assert bench.service.requests == []


# Where there are no Unix sockets


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[ServerBench]:
    with opened(tmp_path, loopback=True) as made:
        yield made


def test_with_the_token_of_the_owners_file_a_loopback_request_is_answered(loopback: ServerBench) -> None:
    file = loopback.path.with_name("tray.addr")
    token = file.read_text().split()[1]
    with by_port(loopback, frame("e", token=token)) as connection:
        assert answer(connection).stdout == b"inline"

    assert (stat.S_IMODE(file.lstat().st_mode), len(token)) == (0o600, 64)
    assert loopback.service.requests[0].pid == 0
    assert send_request(loopback.path, {"op": "ping"}) == {"echo": {"op": "ping"}}


@pytest.mark.parametrize("token", ["", "0" * 64, "\udcff"])
def test_without_the_token_a_loopback_request_is_rejected(loopback: ServerBench, token: str) -> None:
    with by_port(loopback, frame("e", token=token)) as connection:
        assert is_sent_away(connection)

    assert loopback.service.requests == []
