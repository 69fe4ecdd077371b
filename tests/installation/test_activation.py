"""Which of the descriptors that a process was started with is the tray's socket."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tray.installation import activation
from tray.installation.activation import inherited_socket

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd's variables")


@pytest.fixture
def listener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """As systemd opens it; the number of the first descriptor is a fixed one there, which is taken in a test."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(tmp_path / "tray.sock"))
        listener.listen()
        listener.setblocking(False)
        monkeypatch.setattr(activation, "FIRST", os.dup(listener.fileno()))
        yield listener
        with contextlib.suppress(OSError):
            os.close(activation.FIRST)


def started(pid: int | None = None, count: str = "1") -> dict[str, str]:
    return {"LISTEN_PID": str(pid or os.getpid()), "LISTEN_FDS": count, "LISTEN_FDNAMES": "hooktray.socket", "A": "b"}


def test_the_socket_is_taken_and_the_variables_go(tmp_path: Path, listener: socket.socket) -> None:
    environment = started()

    with contextlib.closing(inherited_socket(tmp_path / "tray.sock", environment) or socket.socket()) as found:
        assert found.getsockname() == str(tmp_path / "tray.sock")
        assert (found.get_inheritable(), found.getblocking()) == (False, True)
    assert environment == {"A": "b"}


def test_what_another_process_was_started_with_is_not_ours(tmp_path: Path, listener: socket.socket) -> None:
    environment = started(pid=1)

    assert inherited_socket(tmp_path / "tray.sock", environment) is None
    assert environment == {"A": "b"}
    os.fstat(activation.FIRST)  # is open still


def test_a_socket_at_another_path_is_closed(tmp_path: Path, listener: socket.socket) -> None:
    assert inherited_socket(tmp_path / "other.sock", started()) is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(activation.FIRST)


@pytest.mark.parametrize("count", ["", "-1", "x", "0", "99999999"])
def test_a_count_that_is_none_does_no_harm(tmp_path: Path, listener: socket.socket, count: str) -> None:
    found = inherited_socket(tmp_path / "tray.sock", started(count=count))

    assert (found is not None) == (count == "99999999")
    if found is not None:
        found.close()
