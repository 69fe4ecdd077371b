"""Where no terminal can be handed over (Windows), the command shows what the tray writes and sends what is typed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ipc.server_bench import Recorder

from tray.ipc.client import send_request
from tray.ipc.command_terminal import Console
from tray.ipc.connection import HandedTerminal, PeerCredentials
from tray.ipc.server import IpcServer


class Asking(Recorder):
    """Asks for a line and for a secret."""

    def control(
        self, request: Mapping[str, Any], peer: PeerCredentials, terminal: HandedTerminal
    ) -> Mapping[str, Any]:
        person = terminal.remote(20)
        assert person is not None
        assert terminal.take() is None
        person.write("Type ✓: ")
        line = person.read()
        person.write("Passphrase: ")
        return {"typed": [line, person.read(secret=True)], "pid": peer.pid}


class Typist(Console):
    def _line(self, question: bytes) -> str:
        return "seven quiet bridges" if question == b"S" else "abc"


def test_the_tray_asks_by_way_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    server = IpcServer(folder / "tray.sock", Asking(), loopback=True)
    server.start()
    try:
        answer = send_request(folder / "tray.sock", {"op": "off"}, 20, Typist())
    finally:
        server.close()

    assert answer["typed"] == ["abc\n", "seven quiet bridges\n"]
    assert answer["pid"] == os.getpid(), "the system shows who asks, though a port does not"
    shown = capsys.readouterr()
    assert shown.err == "Type ✓: Passphrase: "
    assert "seven" not in shown.out
