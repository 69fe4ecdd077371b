"""How quitting waits for hooks, with a stand-in for the server that counts."""

from __future__ import annotations

import configparser
import threading
from pathlib import Path
from typing import cast

import pytest
from at_once import AtOnce
from desk import wait

from tray.app.shutdown import CLOSE_TIMEOUT, GRACE, KILL_TIMEOUT, GracefulShutdown
from tray.ipc.server import IpcServer
from tray.threads import ShutdownState

LONG = 60.0
SERVICE = Path(__file__).parents[2] / "installers" / "linux" / "hooktray.service"


class Server:
    """Busy until it is closed, or until `is_busy` is set to False."""

    def __init__(self, quit: ShutdownState) -> None:
        self.quit = quit
        self.is_busy = True
        self.calls: list[str] = []

    def stop_accepting(self) -> None:
        self.calls.append("shut")

    def close(self, timeout: float) -> None:
        self.calls.append("close" if self.quit.must_end_hooks else "close too early")
        self.is_busy = False


class Fixture:
    """Stands in for the user interface."""

    def __init__(self) -> None:
        self.quit = ShutdownState()
        self.server = Server(self.quit)
        self.waits, self.ended = threading.Event(), threading.Event()

    def start(self, grace: float) -> GracefulShutdown:
        shutdown = GracefulShutdown(cast(IpcServer, self.server), self.quit, AtOnce(), grace=grace)
        shutdown.view = self
        shutdown.start()
        return shutdown

    def show_waiting(self) -> None:
        self.waits.set()

    def stop_icon(self) -> None:
        self.ended.set()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Fixture:
    # The watchdog would end the test process: nothing closes the tray here.
    monkeypatch.setattr("faulthandler.dump_traceback_later", lambda *_, **__: None)
    return Fixture()


def test_quitting_waits_until_no_hook_runs(bench: Fixture) -> None:
    shutdown = bench.start(LONG)
    shutdown.request()
    assert bench.waits.wait(LONG)
    assert bench.quit.begun
    assert not bench.quit.must_end_hooks

    bench.server.is_busy = False

    assert bench.ended.wait(LONG)
    shutdown.join()
    assert bench.server.calls == ["shut", "close"]


def test_hooks_are_ended_when_their_time_is_over(bench: Fixture) -> None:
    shutdown = bench.start(0.05)

    shutdown.request()

    assert bench.ended.wait(LONG)
    shutdown.join()
    assert bench.server.calls == ["shut", "close"]


def test_hooks_are_ended_at_once_when_quit_is_asked_for_twice(bench: Fixture) -> None:
    shutdown = bench.start(LONG)
    shutdown.request()
    assert bench.waits.wait(LONG)

    shutdown.request()

    wait(bench.ended.is_set, LONG / 2, "it does not wait for the hooks")
    shutdown.join()
    assert bench.server.calls == ["shut", "close"]


def test_without_a_running_hook_the_tray_ends_and_shows_nothing(bench: Fixture) -> None:
    bench.server.is_busy = False
    shutdown = bench.start(LONG)

    shutdown.request()

    assert bench.ended.wait(LONG)
    shutdown.join()
    assert not bench.waits.is_set()


def test_systemd_gives_the_tray_the_time_that_it_needs_and_no_signal_to_hooks() -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(SERVICE)

    assert unit["Service"]["KillMode"] == "mixed"
    assert float(unit["Service"]["TimeoutStopSec"]) > GRACE + KILL_TIMEOUT + CLOSE_TIMEOUT


def test_the_tray_ends_although_waiting_for_its_hooks_fails(bench: Fixture, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("no accepting to stop")

    bench.server.stop_accepting = fail  # type: ignore[method-assign]
    shutdown = bench.start(grace=LONG)

    shutdown.request()
    shutdown.join()

    assert bench.ended.is_set()
    assert "no accepting to stop" in caplog.text
