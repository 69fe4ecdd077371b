"""The command shows what the tray asks and sends what is typed, also over a loopback port as on Windows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ipc.server_bench import Recorder

from tray.ipc.client import send_request
from tray.ipc.connection import CallerTerminal, PeerCredentials
from tray.ipc.server import IpcServer


class Asking(Recorder):
    """Asks twice; the second question has a limit that nobody keeps."""

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: CallerTerminal
    ) -> Mapping[str, Any]:
        return {"typed": [terminal.ask("Type ✓: ", 20), terminal.ask("Again: ", request["seconds"])], "pid": peer.pid}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the command showed at its terminal. Each question gets a numbered line."""
    texts: list[str] = []

    def type_(text: str) -> str:
        texts.append(text)
        return f"line {len(texts)} ✓"

    monkeypatch.setattr("tray.ipc.client.ask_hidden", type_)
    return texts


def reply(folder: Path, seconds: float, *, loopback: bool) -> Mapping[str, Any]:
    folder.mkdir(mode=0o700)
    server = IpcServer(folder / "tray.sock", Asking(), loopback=loopback)
    server.start()
    try:
        return send_request(folder / "tray.sock", {"op": "off", "seconds": seconds}, 20, can_ask=True)
    finally:
        server.close()


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has the port only")


@pytest.mark.parametrize("loopback", [pytest.param(False, marks=POSIX), True])
def test_the_tray_asks_by_way_of_the_command(tmp_path: Path, shown: list[str], loopback: bool) -> None:
    answer = reply(tmp_path / "state", 20, loopback=loopback)

    assert answer["typed"] == ["line 1 ✓", "line 2 ✓"]
    assert answer["pid"] == os.getpid(), "the system shows who asks, though a port does not"
    assert shown == ["Type ✓: ", "Again: "]


def test_an_answer_that_comes_too_late_does_not_count_and_the_reply_still_arrives(
    tmp_path: Path, shown: list[str]
) -> None:
    answer = reply(tmp_path / "state", 0, loopback=True)

    assert answer["typed"] == ["line 1 ✓", ""]
