"""Changes to files are told as they happen, and nothing else wakes anybody."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from at_once import AtOnce
from desk import wait

from tray.event_loop import LoopThread
from tray.installation import file_watch
from tray.installation.file_watch import FileWatch, FolderWatch

if TYPE_CHECKING:
    from asyncinotify import Inotify, Mask, Watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no inotify")


class Watcher:
    def __init__(self) -> None:
        self.loop = LoopThread()
        self.count = 0
        self.watch = FileWatch(self.loop.loop, AtOnce(), self.changed)

    def changed(self) -> None:
        self.count += 1

    def over(self, *files: Path) -> int:
        """Watch these; the count once the watch is there."""
        before = self.count
        self.watch.watch(files)
        wait(lambda: self.count > before, what="the first look")
        return self.count

    def settle(self) -> int:
        """The count once all signs so far are told: the loop has had its turn, and whatever it put off."""
        done = threading.Event()
        self.loop.loop.call_soon_threadsafe(lambda: self.loop.loop.call_later(0.25, done.set))
        done.wait(20)
        return self.count


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher()
    yield watcher
    watcher.watch.close()
    watcher.loop.close()


def test_many_writes_in_one_go_are_told_once_and_a_neighbour_never(watcher: Watcher, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    before = watcher.over(file)

    written = threading.Event()
    watcher.loop.loop.call_soon_threadsafe(written.wait, 20)  # the loop sees all of it at once
    for number in range(20):
        file.write_text(str(number))
    written.set()
    wait(lambda: watcher.count > before, what="news")
    told = watcher.settle()
    (tmp_path / "b.yaml").write_text("x")

    assert told - before == 1
    assert watcher.settle() == told


def test_a_file_behind_a_link_and_one_that_comes_back_are_seen(watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "x.yaml", tmp_path / "x.yaml"
    real.write_text("1")
    link.symlink_to(real)
    before = watcher.over(link)

    real.write_text("2")
    wait(lambda: watcher.count > before, what="the link's target is seen")
    before = watcher.settle()
    link.unlink()
    wait(lambda: watcher.count > before, what="its end is seen")
    before = watcher.settle()
    link.write_text("3")

    wait(lambda: watcher.count > before, what="its return is seen")


def test_what_is_no_longer_wanted_is_no_longer_told(watcher: Watcher, tmp_path: Path) -> None:
    first, second = tmp_path / "1" / "a", tmp_path / "2" / "a"
    for file in (first, second):
        file.parent.mkdir()
    watcher.over(first)
    before = watcher.over(second)

    first.write_text("x")

    assert watcher.settle() == before


def test_files_in_a_folder_for_which_the_system_has_no_watch_left_are_looked_at_until_it_has_one(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from asyncinotify import Inotify  # it is there on Linux only

    add, looks = Inotify.add_watch, []
    read_states = file_watch._states

    def add_other(inotify: Inotify, folder: bytes, mask: Mask) -> Watch:
        if folder == os.fsencode(tmp_path):
            raise OSError(errno.ENOSPC, "no space left on device")  # as the system says it
        return add(inotify, folder, mask)

    def look(files: Iterable[Path]) -> dict[Path, object]:
        looks.append(files)
        return read_states(files)

    monkeypatch.setattr(file_watch, "LOOK_INTERVAL", 0.01)
    monkeypatch.setattr(file_watch, "_states", look)
    monkeypatch.setattr(Inotify, "add_watch", add_other)
    file = tmp_path / "a.yaml"
    before = watcher.over(file)

    file.write_text("1")

    wait(lambda: watcher.count > before, what="the change is seen")
    monkeypatch.setattr(Inotify, "add_watch", add)
    before = watcher.settle()
    file.write_text("22")
    wait(lambda: watcher.count > before, what="the next change is seen")
    before, number = watcher.settle(), len(looks)
    file.write_text("333")
    wait(lambda: watcher.count > before, what="it is reported")
    watcher.settle()
    assert len(looks) == number


def test_where_the_system_reports_nothing_files_are_looked_at_again_and_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(file_watch, "LOOK_INTERVAL", 0.01)
    watcher = Watcher()
    file = tmp_path / "hooktray.yaml"
    try:
        for change in (lambda: file.write_text("hooks: []"), lambda: file.write_text("hooks: [1]"), file.unlink):
            before = watcher.over(file) if not watcher.count else watcher.settle()
            change()
            wait(lambda: watcher.count > before, what="the change is reported")  # noqa: B023
        assert watcher.settle() == watcher.settle()
    finally:
        watcher.watch.close()
        watcher.loop.close()


def test_a_folder_is_watched_again_after_it_was_made_anew(watcher: Watcher, tmp_path: Path) -> None:
    folder = tmp_path / "top" / "above" / "state"
    folder.mkdir(parents=True)
    content = folder / "content"
    content.touch()
    signs = threading.Semaphore(0)
    watch = FolderWatch(watcher.loop.loop, AtOnce(), signs.release, folder, ("lock",), content=content)
    steps: dict[str, Callable[[], object]] = {
        "the first look": watch.rearm,
        "a name in it": (folder / "lock").touch,
        "what is written into the file": lambda: content.write_text("other"),
        "its end": lambda: shutil.rmtree(folder),
        "its return": folder.mkdir,
        "the look after that": watch.rearm,
        "a folder above it": lambda: folder.parents[1].rename(tmp_path / "elsewhere"),
    }

    for what, step in steps.items():
        step()
        assert signs.acquire(timeout=60), what

    watch.close()


def test_where_the_system_reports_nothing_a_folder_is_looked_at_again_and_again(
    watcher: Watcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = threading.Semaphore(0)
    monkeypatch.setattr(file_watch, "POLL_INTERVAL", 0.05)
    monkeypatch.setattr(FolderWatch, "_add", lambda *_: False)  # as on a system without inotify
    watch = FolderWatch(watcher.loop.loop, AtOnce(), looks.release, tmp_path, ())

    watch.rearm()

    assert all(looks.acquire(timeout=20) for _ in range(5))
    watch.close()
