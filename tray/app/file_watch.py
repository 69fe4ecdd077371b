"""Reports changes to a few files as they happen, without polling: an idle tray stays asleep.

Linux has inotify, which is watched by the event loop that is there anyway. Elsewhere nothing is reported, and the
files are read when the menu opens, when an event comes in and when a command asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

FOLDER_LIMIT = 256  # that are watched at most
DEBOUNCE = 0.3  # seconds without an event before a folder is looked at, as a deletion takes its time
MAX_DELAY = 1.0  # seconds after the first event, however many follow
POLL_INTERVAL = 60.0  # seconds between two looks where the system reports nothing
SETTLE_DELAY = 0.1  # seconds after the first event: an editor writes, renames and sets modes in one go
HEAD = struct.Struct("iIII")
SIZE = 65_536  # bytes of events that are read at once
CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE, ATTRIB = 0x8, 0x40, 0x80, 0x100, 0x200, 0x4
CHANGE_MASK = CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | ATTRIB
DELETE_SELF, MOVE_SELF = 0x400, 0x800
REMOVAL_MASK = CREATE | DELETE | MOVED_FROM | MOVED_TO | DELETE_SELF | MOVE_SELF
GONE_MASK = DELETE_SELF | MOVE_SELF
OVERFLOW, IGNORED = 0x4000, 0x8000
FLAGS = 0o2004000  # not blocking, closed on exec; written out, for os knows them on some systems only

log = logging.getLogger(__name__)


class FileWatch:
    """`changed` is called on the loop, once for events that come together."""

    def __init__(self, loop: asyncio.AbstractEventLoop, changed: Callable[[], None]) -> None:
        self._loop = loop
        self._changed = changed
        self._files: frozenset[Path] = frozenset()
        self._folders: dict[int, Path] = {}  # by the number that the kernel gave the watch
        self._awaited: frozenset[Path] = frozenset()  # folders that are not there
        self._waiting = False
        self._timer: asyncio.TimerHandle | None = None
        self._kernel = _libc() if sys.platform == "linux" else None
        self._descriptor = self._kernel.inotify_init1(FLAGS) if self._kernel else -1
        if self._descriptor >= 0:
            loop.call_soon_threadsafe(loop.add_reader, self._descriptor, self._read)

    def watch(self, files: Iterable[str | Path]) -> None:
        """From any thread: these files are watched from here on, and no others."""
        wanted = frozenset(place for file in files for place in _places(Path(file)))
        if self._descriptor >= 0 and wanted != self._files:
            self._loop.call_soon_threadsafe(self._watch, wanted)

    def schedule(self, seconds: float) -> None:
        """From any thread: report in so many seconds, whatever happens."""
        self._loop.call_soon_threadsafe(self._schedule, seconds)

    def close(self) -> None:
        """Before the loop ends."""
        if not self._loop.is_running():
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5)

    @property
    def count(self) -> int:
        """How many watches the kernel holds."""
        return len(self._folders)

    # ---- on the loop ----

    async def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _watch(self, wanted: frozenset[Path]) -> None:
        if self._descriptor >= 0:
            self._files = wanted
            self._arm()
            self._soon()  # it may have changed before the watch was there

    def _arm(self) -> None:
        """Watches are on folders: a file that is replaced takes a watch of its own along with it.

        In the place of a folder that is not there, the nearest one above it is watched.
        """
        assert self._kernel is not None
        wanted = sorted({file.parent for file in self._files})
        present = [_nearest(folder) for folder in wanted]
        self._awaited = frozenset(
            above.joinpath(folder.relative_to(above).parts[0])
            for folder, above in zip(wanted, present, strict=True)
            if folder != above
        )
        folders = list(dict.fromkeys(present))[:FOLDER_LIMIT]
        above = dict.fromkeys(one for folder in folders for one in folder.parents)
        plan = dict.fromkeys(folders, CHANGE_MASK | GONE_MASK)
        plan |= {one: GONE_MASK for one in above if one not in plan}
        before, self._folders = self._folders, {}
        for folder, mask in list(plan.items())[:FOLDER_LIMIT]:
            number = self._kernel.inotify_add_watch(self._descriptor, os.fsencode(folder), mask)
            if number >= 0:
                self._folders[number] = folder
        for number in before.keys() - self._folders.keys():
            self._kernel.inotify_rm_watch(self._descriptor, number)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, SIZE)
        except BlockingIOError:
            return
        for number, mask, name in _parse_events(data):
            folder = self._folders.get(number)
            if mask & OVERFLOW or (folder and self._concerns_us(mask, folder / name)):
                self._soon()

    def _concerns_us(self, mask: int, path: Path) -> bool:
        return bool(mask & (IGNORED | GONE_MASK)) or path in self._files or path in self._awaited

    def _soon(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._loop.call_later(SETTLE_DELAY, self._notify)

    def _notify(self) -> None:
        self._waiting = False
        if self._descriptor >= 0:
            self._arm()
        self._changed()

    def _schedule(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(seconds, self._report)

    def _report(self) -> None:
        self._timer = None
        self._changed()


class FolderWatch:
    """Reports that a folder, one of those above it, or one of the named things in it may have been taken away.

    `changed` is called on the loop, first after `rearm`. Where the system reports nothing it is called every
    `POLL_INTERVAL` seconds.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, folder: Path, names: Iterable[str], changed: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._folder = folder
        self._names = frozenset(names)
        self._changed = changed
        self._wanted: dict[int, frozenset[str]] = {}  # by the number that the kernel gave the watch
        self._timer: asyncio.TimerHandle | None = None
        self._first = 0.0  # when the first of the events came that were not reported yet
        self._is_reported = False  # whether the system reports what happens to the folder
        self._kernel = _libc() if sys.platform == "linux" else None
        self._descriptor = self._kernel.inotify_init1(FLAGS) if self._kernel else -1
        loop.call_soon_threadsafe(self._begin)

    def rearm(self) -> None:
        """From any thread: watch what is at the path from now on; it is looked at once more, too."""
        self._loop.call_soon_threadsafe(self._arm)

    def schedule(self, seconds: float) -> None:
        """From any thread: report in so many seconds, whatever happens."""
        self._loop.call_soon_threadsafe(self._schedule_at_most, seconds)

    def close(self) -> None:
        """Before the loop ends."""
        if not self._loop.is_running():
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5)

    # ---- on the loop ----

    def _begin(self) -> None:
        if self._descriptor >= 0:
            self._loop.add_reader(self._descriptor, self._read)

    async def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _arm(self) -> None:
        """Watch the folder for its names, its parent for the folder's name, and all folders above for their end."""
        before, self._wanted = self._wanted, {}
        above = list(self._folder.parents)
        ours = self._add(self._folder, REMOVAL_MASK, self._names)
        self._is_reported = self._add(above[0], REMOVAL_MASK, {self._folder.name}) and ours
        for folder in above[1:]:
            self._add(folder, MOVE_SELF | DELETE_SELF, ())
        if self._kernel is not None:
            for number in before.keys() - self._wanted.keys():
                self._kernel.inotify_rm_watch(self._descriptor, number)
        self._schedule(DEBOUNCE)  # it may have changed before the watch was there

    def _add(self, folder: Path, mask: int, names: Iterable[str]) -> bool:
        if self._kernel is None or self._descriptor < 0:
            return False
        number = self._kernel.inotify_add_watch(self._descriptor, os.fsencode(folder), mask)
        if number >= 0:
            self._wanted[number] = frozenset(names)
        return bool(number >= 0)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, SIZE)
        except BlockingIOError:
            return
        if any(self._concerns_us(number, mask, name) for number, mask, name in _parse_events(data)):
            now = self._loop.time()
            self._first = self._first or now
            self._schedule(max(0.0, min(DEBOUNCE, self._first + MAX_DELAY - now)))

    def _concerns_us(self, number: int, mask: int, name: str) -> bool:
        if mask & OVERFLOW:
            return True
        wanted = self._wanted.get(number)
        if mask & IGNORED:
            self._wanted.pop(number, None)
        return wanted is not None and (not name or name in wanted)

    def _schedule(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._report)

    def _schedule_at_most(self, seconds: float) -> None:
        if self._timer is None or self._timer.when() > self._loop.time() + seconds:
            self._schedule(seconds)

    def _report(self) -> None:
        self._timer, self._first = None, 0.0
        if not self._is_reported:
            self._schedule(POLL_INTERVAL)
        self._changed()


def _parse_events(data: bytes) -> Iterator[tuple[int, int, str]]:
    """The number of the watch, what happened, and to what in that folder."""
    at = 0
    while at < len(data):
        number, mask, _, length = HEAD.unpack_from(data, at)
        name = os.fsdecode(data[at + HEAD.size : at + HEAD.size + length].rstrip(b"\0"))
        at += HEAD.size + length
        yield number, mask, name


def _places(file: Path) -> tuple[Path, ...]:
    """Where it is named, and where it really is."""
    return file.absolute(), Path(os.path.realpath(file))


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next((one for one in (folder, *folder.parents) if one.is_dir()), folder)


def _libc() -> ctypes.CDLL | None:
    libc = ctypes.CDLL(None, use_errno=True)
    return libc if hasattr(libc, "inotify_init1") else None
