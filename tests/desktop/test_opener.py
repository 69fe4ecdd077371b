"""A file is opened by the desktop's own program, which outlives whoever asked for it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from desk import wait

from tray.desktop import linux
from tray.desktop.opener import open_file
from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="xdg-open")


def test_the_desktops_program_is_given_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "xdg-open"
    program.write_text(
        f'#!/bin/sh\nprintf "%s" "$1" > {tmp_path}/opened.part\nmv {tmp_path}/opened.part {tmp_path}/opened\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    file = tmp_path / "a review.txt"

    open_file(file)

    assert wait((tmp_path / "opened").exists, 20, "the file is opened")
    assert (tmp_path / "opened").read_text() == str(file)


def test_without_such_a_program_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setsid = shutil.which("setsid")
    assert setsid is not None
    (tmp_path / "setsid").symlink_to(setsid)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(HooktrayError) as caught:
        open_file(tmp_path / "a.txt")

    assert str(tmp_path / "a.txt") in caught.value.hint


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/b", "XDG_RUNTIME_DIR": "/nowhere"}, "unix:path=/b"),
        ({"XDG_RUNTIME_DIR": "/nowhere"}, ""),
        ({}, ""),
    ],
)
def test_the_session_bus_is_where_the_environment_says(environment: dict[str, str], address: str) -> None:
    assert linux.session_bus(environment) == address


def test_no_display_is_no_screen() -> None:
    assert linux.screen({}) == linux.Screen()
