"""The approved copies at each use: whoever puts a file beside them is noticed, also when nobody walks the folders."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from desk import wait
from store.bundles import HOOK

from tray.store import copies as module
from tray.store.copies import Bundle, Copies, DamagedError

NEVER, AT_ONCE = 1 << 62, -1  # how old a folder's sign has to be until it is believed


def latest(folder: Path) -> int:
    """When the last change below this folder was, by the kernel's clock for files, which is coarse."""
    return max(found.lstat().st_ctime_ns for found in folder.rglob("*"))


def has_moved_on(tmp_path: Path, since: int) -> bool:
    (tmp_path / "clock").write_bytes(b"")
    return (tmp_path / "clock").stat().st_ctime_ns > since


@pytest.fixture
def bundle() -> Bundle:
    contents = {"/work/guard.py": b"import lib.names\n", "/work/lib/names.py": b"NAMES = ()\n"}
    return Bundle(hook=HOOK, contents=contents)


def below(guard: Path) -> None:
    (guard.parent / "lib" / "guest.py").write_text("evil = True\n")


def above(guard: Path) -> None:
    (guard.parents[1] / "guest").write_text("evil\n")


def in_a_new_folder(guard: Path) -> None:
    (guard.parent / "json").mkdir()
    (guard.parent / "json" / "__init__.py").write_text("evil = True\n")


def as_a_link(guard: Path) -> None:
    (guard.parent / "json").symlink_to("/tmp", target_is_directory=True)


def with_the_hour_set_back(guard: Path) -> None:
    folder = guard.parent / "lib"
    before = folder.stat()
    (folder / "guest.py").write_text("evil = True\n")
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


def in_a_folder_put_in_its_place(guard: Path) -> None:
    folder = guard.parent / "lib"
    before = folder.stat()
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    (other / "guest.py").write_text("evil = True\n")
    shutil.rmtree(folder)
    other.rename(folder)
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links, folders and times as POSIX has them")
GUESTS = [
    below,
    above,
    in_a_new_folder,
    pytest.param(as_a_link, marks=POSIX),
    with_the_hour_set_back,
    pytest.param(in_a_folder_put_in_its_place, marks=POSIX),
]


@pytest.mark.parametrize("walked", [True, False], ids=["looked around", "known by their signs"])
@pytest.mark.parametrize("put", GUESTS)
def test_a_file_that_was_put_in_is_noticed(
    copies: Copies,
    bundle: Bundle,
    put: Callable[[Path], None],
    walked: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SETTLED_NS", NEVER if walked else AT_ONCE)
    name = copies.save(bundle)
    for _ in range(3):
        copies.check(name)
    wait(lambda: has_moved_on(tmp_path, latest(copies.folder)), what="the clock for files has moved on")

    put(copies.path(name, "/work/guard.py"))

    with pytest.raises(DamagedError, match="not approved"):
        copies.check(name)


@pytest.mark.parametrize("settled", [True, False])
def test_an_altered_byte_is_noticed_whatever_its_folder_says(
    copies: Copies, bundle: Bundle, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SETTLED_NS", AT_ONCE if settled else NEVER)
    name = copies.save(bundle)
    copies.check(name)
    copy = copies.path(name, "/work/lib/names.py")
    before = copy.stat()

    copy.chmod(0o600)
    with copy.open("r+b") as file:  # in place: the folder stays as it was
        file.write(b"names")
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(DamagedError, match=r"names\.py was altered"):
        copies.check(name)
