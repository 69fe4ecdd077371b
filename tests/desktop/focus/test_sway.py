"""sway and foot without a graphics card: windows of Wayland."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.focus.compositors import Sway, running_sway
from desktop.focus.terminals import Pane
from tray.desktop.focus import FocusResult, focus, sway

pytestmark = pytest.mark.skipif(
    None in (shutil.which("sway"), shutil.which("foot")), reason="sway and foot are not installed"
)


@pytest.fixture
def desktop() -> Iterator[Sway]:
    with running_sway() as started:
        yield started


def test_focus_raises_the_window_of_each_terminal(desktop: Sway) -> None:
    panes = [desktop.terminal(number) for number in range(3)]

    for pane in panes:
        assert focus(pane.place, "", desktop.environment) == FocusResult(True)
        assert sway.focused_pid(desktop.environment) in [one.pid for one in pane.place.processes]


def test_a_socket_that_is_not_swaymsg_or_not_there_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tray.desktop.focus.PANES", ())
    monkeypatch.setattr("tray.desktop.focus.WINDOWS", (sway.raise_window,))  # only sway is asked
    assert sway.focused_pid({}) is None
    place = Pane(os.getpid()).place

    result = focus(place, "", {"SWAYSOCK": str(tmp_path / "none")})

    assert result.raised is False
    assert "is not a socket of yours" in result.note
