"""A bus, a recording server and a sound server for the tests of alerts; one serves all tests of a module."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk.sound import Recording
from notify import parts
from notify.parts import Recorder


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bus for one test, without a notification server."""
    with parts.session_bus(tmp_path, os.environ) as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Recorder]]:
    folder = tmp_path_factory.mktemp("bus")
    with parts.session_bus(folder, os.environ) as address:
        environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": address}
        with parts.recording_server(folder, environment, "body", "actions", "sound") as recorder:
            yield address, recorder


@pytest.fixture
def server(shared_server: tuple[str, Recorder], monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """The recording server, without the calls of earlier tests."""
    address, recorder = shared_server
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    recorder.clear()
    asyncio.run(parts.tell("Reset", ""))
    return recorder


@pytest.fixture(scope="module")
def sound_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a sound server and of its recording."""
    folder = tmp_path_factory.mktemp("sound")
    with parts.sound_server(folder, {**os.environ, "PULSE_SERVER": f"unix:{folder}/pulse.socket"}):
        yield folder


@pytest.fixture
def recording(sound_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """A recording that starts now."""
    monkeypatch.setenv("PULSE_SERVER", f"unix:{sound_server}/pulse.socket")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return Recording(sound_server / "recording")
