"""Files as bytes."""

import os
import sys
from pathlib import Path

import pytest

from tray.files import CHUNK, content


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK])
def test_a_file_of_any_size_is_read_whole(tmp_path: Path, size: int) -> None:
    whole = os.urandom(size)
    (tmp_path / "f").write_bytes(whole)
    assert content(str(tmp_path / "f")) == whole


@pytest.mark.parametrize("limit", [0, 1, CHUNK, CHUNK + 1])
def test_of_a_long_file_no_more_than_the_limit_is_read(tmp_path: Path, limit: int) -> None:
    whole = os.urandom(2 * CHUNK)
    (tmp_path / "f").write_bytes(whole)
    assert content(str(tmp_path / "f"), limit) == whole[:limit]


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@LINUX
def test_what_the_kernel_makes_up_has_no_size_and_is_read_all_the_same() -> None:
    assert content("/proc/self/stat").startswith(b"%d (" % os.getpid())


@LINUX
def test_what_cannot_be_read_is_an_error_of_the_system_and_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        content(str(tmp_path / "none"))
    with pytest.raises(IsADirectoryError):
        content(str(tmp_path))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
