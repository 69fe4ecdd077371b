"""A file is opened by the desktop's own program, which outlives whoever asked for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from desk import wait

from tray.desktop.opener import Opener
from tray.errors import HooktrayError
from tray.execution.ancestry import ancestors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="xdg-open")


def test_the_desktops_program_is_given_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "xdg-open"
    program.write_text(
        f'#!/bin/sh\nprintf "%s" "$1" > {tmp_path}/opened.part\nmv {tmp_path}/opened.part {tmp_path}/opened\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    file = tmp_path / "a review.txt"

    Opener().open(file)

    assert wait((tmp_path / "opened").exists, what="the file is opened")
    assert (tmp_path / "opened").read_text() == str(file)


def test_what_was_opened_is_known_by_the_process_that_stays_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of the opener, and whatever the program does to its session and environment."""
    note = tmp_path / "note"
    program = tmp_path / "xdg-open"
    program.write_text(
        f"#!/bin/sh\nsetsid --fork env -i PATH=/usr/bin:/bin "
        f"sh -c 'echo $$ >{note}.part; mv {note}.part {note}; read line <{tmp_path}/end'\n"
    )
    program.chmod(0o755)
    os.mkfifo(tmp_path / "end")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    opener = Opener()

    opener.open(tmp_path / "a.txt")

    pid = int(str(wait(lambda: note.exists() and note.read_text(), what="the viewer is there")))
    wait(lambda: any(opener.started(one.pid) for one in ancestors(pid)), what="what was opened is known")
    above = next(one.pid for one in ancestors(pid) if opener.started(one.pid))
    assert not opener.started(pid)
    assert not opener.started(os.getpid())
    (tmp_path / "end").write_text("\n")
    wait(lambda: not opener.started(above), what="it ends with what was opened")


def test_without_such_a_program_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(HooktrayError) as caught:
        Opener().open(tmp_path / "a.txt")

    assert str(tmp_path / "a.txt") in caught.value.hint
