"""A lock of a file keeps other processes out, and other locks of the same process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tray.file_lock import FileLock
from tray.files import identity

HOLD = """if True:
    import sys
    from tray.file_lock import FileLock
    print(FileLock(sys.argv[1]).acquire(0.0), flush=True)
    sys.stdin.read()
"""


def test_one_process_has_it_until_it_ends_however_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    argv = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"

        assert not FileLock(path).acquire(0.1)

        other.kill()
    lock = FileLock(path)
    assert lock.acquire(30.0)
    lock.release()


def test_two_locks_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.acquire(0.0)

    assert not second.acquire(0.0)

    first.release()
    assert second.acquire(0.0)
    second.release()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
def test_it_names_the_file_that_is_locked_also_when_another_is_at_the_path(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = FileLock(path)
    assert lock.locked_file is None
    lock.acquire(0.0)
    assert lock.locked_file == identity(path)

    path.rename(tmp_path / "moved")
    path.touch()

    assert lock.locked_file == identity(tmp_path / "moved") != identity(path)
    lock.release()
    assert lock.locked_file is None


def test_a_file_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "none" / "lock").acquire(1.0)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "precious")

    with pytest.raises(OSError, match="symbolic links"):
        FileLock(tmp_path / "lock").acquire(0.0)
    assert not (tmp_path / "precious").exists()
