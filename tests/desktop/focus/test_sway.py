"""sway and foot without a graphics card: windows of Wayland."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import wait

from desktop.focus.terminals import LONG, Pane
from tray.desktop.focus import FocusResult, focus, sway

pytestmark = pytest.mark.skipif(
    None in (shutil.which("sway"), shutil.which("foot")), reason="sway and foot are not installed"
)


class Sway:
    """A sway of its own, with one terminal for each pane."""

    def __init__(self, folder: Path) -> None:
        (folder / "sway.conf").write_text("output HEADLESS-1 resolution 1280x720\n")
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "WLR_BACKENDS": "headless",
            "WLR_RENDERER": "pixman",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "LC_ALL": "C.UTF-8",
        }
        self._log = (folder / "log").open("wb")
        # sway does not run as root; in a namespace of its own its files still belong to whoever runs the tests.
        other = () if os.getuid() else ("unshare", "--user", "--map-user=1000", "--map-group=1000")
        self._started = [self.start(*other, "sway", "-c", str(folder / "sway.conf"))]
        names = {"SWAYSOCK": "sway-ipc.*.sock", "WAYLAND_DISPLAY": "wayland-?"}
        for variable, pattern in names.items():
            found = wait(lambda pattern=pattern: next(folder.glob(pattern), None), LONG, variable)  # type: ignore[misc]
            self.environment[variable] = str(found)

    def start(self, *argv: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log
        )

    def terminal(self, number: int) -> Pane:
        file = self.folder / f"p{number}"
        line = f"echo $$ > {file}; exec cat"
        self._started.append(self.start("foot", "-c", "/dev/null", "sh", "-c", line))
        wait(lambda: file.exists() and file.read_text().endswith("\n"), LONG, "a terminal")
        return Pane(int(file.read_text()))

    def close(self) -> None:
        for one in reversed(self._started):
            one.terminate()
            one.wait(LONG)
        self._log.close()


@pytest.fixture
def desktop() -> Iterator[Sway]:
    with tempfile.TemporaryDirectory(prefix="sway") as folder:  # short: it has sockets in it
        started = Sway(Path(folder))
        yield started
        started.close()


def test_twenty_times_of_twenty_the_right_window(desktop: Sway) -> None:
    dice = random.Random(22)
    panes = [desktop.terminal(number) for number in range(3)]
    wrong = []
    for _ in range(20):
        pane = dice.choice(panes)
        result = focus(pane.place, "", desktop.environment)
        focused = sway.focused_pid(desktop.environment)
        if result != FocusResult(True) or focused not in [one.pid for one in pane.place.processes]:
            wrong.append((pane, result, focused))

    assert wrong == []


def test_a_socket_that_is_not_swaymsg_or_not_there_says_so(tmp_path: Path) -> None:
    assert sway.focused_pid({}) is None
    place = Pane(os.getpid()).place

    result = focus(place, "", {"SWAYSOCK": str(tmp_path / "none")}, (), (sway.raise_window,))

    assert result.raised is False
    assert "is not a socket of yours" in result.note
