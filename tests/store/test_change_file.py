"""The file that tells of changes, whatever stands in its place, and however little room there is."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tray.store import sessions
from tray.store.sessions import ChangeFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.changes"


def whole(path: Path) -> None:
    path.write_bytes(b"." * sessions.CHANGE_FILE_LIMIT)


def link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_bytes(b"theirs")
    os.utime(elsewhere, (1, 1))
    path.symlink_to(elsewhere)


def dead_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


OTHERS = [] if sys.platform == "win32" else [link, dead_link, os.mkfifo]


@pytest.mark.parametrize("put", [Path, whole, *OTHERS, Path.mkdir, Path.touch])
def test_each_change_gives_a_new_stamp_whatever_the_path_is(path: Path, put: Callable[[Path], object]) -> None:
    put(path)
    ours, theirs = ChangeFile(path), ChangeFile(path)

    signs = [ours.stamp()]
    for _ in range(50):
        theirs.mark_changed()
        signs.append(ours.stamp())

    assert len(set(signs)) == 51
    assert ours.stamp() == signs[-1]
    if put is link:
        elsewhere = path.with_name("elsewhere")
        assert (elsewhere.stat().st_mtime, elsewhere.read_bytes()) == (1, b"theirs")
    assert put is not dead_link or not path.exists()


def test_it_begins_anew_before_it_is_large(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CHANGE_FILE_LIMIT", 10)
    ours, theirs = ChangeFile(path), ChangeFile(path)
    signs = {ours.stamp()}
    for _ in range(100):
        theirs.mark_changed()
        assert path.stat().st_size <= 10
        assert ours.stamp() not in signs
        signs.add(ours.stamp())


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
def test_a_change_is_seen_when_the_file_was_taken_away(path: Path) -> None:
    ours, theirs = ChangeFile(path), ChangeFile(path)
    theirs.mark_changed()
    before = ours.stamp()
    path.unlink()
    theirs.mark_changed()

    assert ours.stamp() != before


def test_a_change_is_seen_where_the_disk_has_no_room_for_a_byte(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = ChangeFile(path), ChangeFile(path)
    theirs.mark_changed()
    signs = [ours.stamp()]

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "write", full)
    for _ in range(50):
        theirs.mark_changed()
        signs.append(ours.stamp())
    assert len(set(signs)) == 51


def test_a_folder_that_is_gone_is_said_and_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    changes = ChangeFile(tmp_path / "gone" / "some.changes")

    changes.mark_changed()

    assert "gone" in caplog.text
    assert changes.stamp() == sessions.NO_STAMP
