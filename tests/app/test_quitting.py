"""How quitting waits for hooks, with a stand-in for the door that counts."""

from __future__ import annotations

import configparser
import threading
from pathlib import Path

import pytest
from desk import wait

from tray.app.quitting import CLOSING, ENDING, FINISHING, Quitting
from tray.threads import Quit

LONG = 60.0
SERVICE = Path(__file__).parents[2] / "installers" / "linux" / "hooktray.service"


class Door:
    """Busy until it is closed, or until `busy` is set to False."""

    def __init__(self, quit: Quit) -> None:
        self.quit = quit
        self.busy = True
        self.calls: list[str] = []

    def shut(self) -> None:
        self.calls.append("shut")

    def close(self, timeout: float) -> None:
        self.calls.append("close" if self.quit.ends_hooks else "close too early")
        self.busy = False


class Fixture:
    def __init__(self) -> None:
        self.quit = Quit()
        self.door = Door(self.quit)
        self.waits, self.ended = threading.Event(), threading.Event()

    def start(self, finishing: float) -> Quitting:
        quitting = Quitting(
            self.door, self.quit, finishing=finishing, began=lambda: None, waits=self.waits.set, ended=self.ended.set
        )
        quitting.start()
        return quitting


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Fixture:
    # The watchdog would end the test process: nothing closes the tray here.
    monkeypatch.setattr("faulthandler.dump_traceback_later", lambda *_, **__: None)
    return Fixture()


def test_quitting_waits_until_no_hook_runs(scene: Fixture) -> None:
    quitting = scene.start(LONG)
    quitting.ask()
    assert scene.waits.wait(LONG)
    assert scene.quit.begun
    assert not scene.quit.ends_hooks

    scene.door.busy = False

    assert scene.ended.wait(LONG)
    quitting.join()
    assert scene.door.calls == ["shut", "close"]


def test_hooks_are_ended_when_their_time_is_over(scene: Fixture) -> None:
    quitting = scene.start(0.05)

    quitting.ask()

    assert scene.ended.wait(LONG)
    quitting.join()
    assert scene.door.calls == ["shut", "close"]


def test_hooks_are_ended_at_once_when_quit_is_asked_for_twice(scene: Fixture) -> None:
    quitting = scene.start(LONG)
    quitting.ask()
    assert scene.waits.wait(LONG)

    quitting.ask()

    wait(scene.ended.is_set, LONG / 2, "it does not wait for the hooks")
    quitting.join()
    assert scene.door.calls == ["shut", "close"]


def test_without_a_running_hook_the_tray_ends_and_shows_nothing(scene: Fixture) -> None:
    scene.door.busy = False
    quitting = scene.start(LONG)

    quitting.ask()

    assert scene.ended.wait(LONG)
    quitting.join()
    assert not scene.waits.is_set()


def test_systemd_gives_the_tray_the_time_that_it_needs_and_no_signal_to_hooks() -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(SERVICE)

    assert unit["Service"]["KillMode"] == "mixed"
    assert float(unit["Service"]["TimeoutStopSec"]) > FINISHING + ENDING + CLOSING
