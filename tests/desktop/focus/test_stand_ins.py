"""zellij and WezTerm by stand-ins: no package of Debian's, npm's or PyPI's has them. What they are asked is what
their documentation says; whether they do it was not seen."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tray.desktop.focus import wezterm, zellij
from tray.desktop.focus.windows_of import FocusError
from tray.execution.process_place import processes_from
from tray.model.place import Place

STAND_IN = """#!/bin/sh
echo "$WEZTERM_UNIX_SOCKET $*" >> {log}
exit {code}
"""


class StandIn:
    """A program that notes how it was called."""

    def __init__(self, folder: Path, name: str) -> None:
        self._log = folder / "log"
        self._path = folder / name
        self.ends_with(0)

    def ends_with(self, code: int) -> None:
        self._path.write_text(STAND_IN.format(log=self._log, code=code))
        self._path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("sh", "true"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def wezterm_socket(tmp_path: Path) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "gui"))
        yield str(tmp_path / "gui")


def test_zellij_and_wezterm_are_asked_for_the_right_pane(folder: Path, wezterm_socket: str) -> None:
    stand_ins = [StandIn(folder, name) for name in ("zellij", "wezterm")]

    for pane in ("0", "17"):
        assert zellij.select(Place(zellij="brave-otter", zellij_pane=pane))
        assert wezterm.select(Place(wezterm=wezterm_socket, wezterm_pane=pane))

    assert stand_ins[0].calls == [
        " --session brave-otter action focus-pane-id terminal_0",
        f"{wezterm_socket} cli --no-auto-start activate-pane --pane-id 0",
        " --session brave-otter action focus-pane-id terminal_17",
        f"{wezterm_socket} cli --no-auto-start activate-pane --pane-id 17",
    ]


def test_where_they_refuse_or_are_not_installed_it_is_said(folder: Path, wezterm_socket: str) -> None:
    place = Place(zellij="brave-otter", zellij_pane="1", wezterm=wezterm_socket, wezterm_pane="1")
    for name in ("zellij", "wezterm"):
        StandIn(folder, name).ends_with(3)
    for select in (zellij.select, wezterm.select):
        with pytest.raises(FocusError, match="exit 3"):
            select(place)
    for name in ("zellij", "wezterm"):
        (folder / name).unlink()
    for select in (zellij.select, wezterm.select):
        with pytest.raises(FocusError, match="No such file"):
            select(place)


def test_a_variable_that_came_from_elsewhere_runs_nothing(folder: Path, wezterm_socket: str) -> None:
    """None of the processes above the agent is that terminal, or the socket is not the user's."""
    stand_ins = [StandIn(folder, name) for name in ("zellij", "wezterm")]
    processes = processes_from(os.getpid())
    inherited = Place(
        zellij="brave-otter", zellij_pane="1", wezterm=wezterm_socket, wezterm_pane="1", processes=processes
    )

    assert zellij.select(inherited) is None
    assert wezterm.select(inherited) is None
    assert wezterm.select(Place(wezterm=str(folder / "nowhere"), wezterm_pane="1")) is None
    assert [one.calls for one in stand_ins] == [[], []]
