"""Reports changes to a few files as they happen.

Linux has inotify, which the event loop watches, so an idle tray sleeps. Elsewhere, and where inotify watches no more
folders, the files are looked at every `LOOK_INTERVAL` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tray.sources.configuration import file_stamp
from tray.threads import Queue

if TYPE_CHECKING:
    from asyncinotify import Event, Inotify, Watch

FOLDER_LIMIT = 256  # that are watched at most
DEBOUNCE = 0.3  # seconds without an event before a folder is looked at, as a deletion takes its time
MAX_DELAY = 1.0  # seconds after the first event, however many follow
LOOK_INTERVAL = 2.0  # seconds between two looks at files where the system reports nothing
POLL_INTERVAL = 60.0  # the same for a folder
SETTLE_DELAY = 0.1  # seconds after the first event: an editor writes, renames and sets modes in one go
# The masks of inotify(7) as numbers: the library is there on Linux only.
CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE, ATTRIB = 0x8, 0x40, 0x80, 0x100, 0x200, 0x4
CHANGE_MASK = CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | ATTRIB
DELETE_SELF, MOVE_SELF = 0x400, 0x800
REMOVAL_MASK = CREATE | DELETE | MOVED_FROM | MOVED_TO | DELETE_SELF | MOVE_SELF
GONE_MASK = DELETE_SELF | MOVE_SELF
MODIFY = 0x2
OVERFLOW, IGNORED = 0x4000, 0x8000

log = logging.getLogger(__name__)


class _InotifyWatch:
    """Posts `changed` to the queue. Only the loop reads and changes the kernel's watches."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: Queue, changed: Callable[[], object]) -> None:
        self._loop = loop
        self._queue, self._changed = queue, changed
        self._timer: asyncio.TimerHandle | None = None  # until the next report
        self._inotify: Inotify | None = None
        self._reader: asyncio.Task[None] | None = None
        self._is_tried = sys.platform != "linux"

    def schedule(self, seconds: float) -> None:
        """From any thread: report in so many seconds, whatever happens."""
        self._loop.call_soon_threadsafe(self._schedule_at_most, seconds)

    def close(self) -> None:
        """Before the loop ends."""
        if self._loop.is_running():
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5)

    # ---- on the loop ----

    async def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._reader is not None:
            self._reader.cancel()
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None

    def _schedule(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._report)

    def _schedule_at_most(self, seconds: float) -> None:
        if self._timer is None or self._timer.when() > self._loop.time() + seconds:
            self._schedule(seconds)

    def _report(self) -> None:
        self._timer = None
        self._queue.post(self._changed)

    def _open(self) -> bool:
        """Whether the system reports changes. It begins with the first call."""
        if not self._is_tried:
            self._is_tried = True
            from asyncinotify import Inotify  # it looks for the C library when it is imported: after the first answer

            try:
                self._inotify = Inotify()
                self._reader = self._loop.create_task(self._read_events(self._inotify))
            except OSError as error:
                log.warning("changes of files are noticed late: no inotify: %s", error)
        return self._inotify is not None

    async def _read_events(self, inotify: Inotify) -> None:
        async for event in inotify:
            self._read(event)

    def _read(self, event: Event) -> None:
        raise NotImplementedError

    def _add_watch(self, folder: Path, mask: int) -> Watch | None:
        """None when the folder cannot be watched."""
        if self._inotify is None:
            return None
        from asyncinotify import Mask

        with contextlib.suppress(OSError):
            return self._inotify.add_watch(os.fsencode(folder), Mask(mask))
        return None

    def _remove_watches(self, watches: Iterable[Watch]) -> None:
        """Watches that the kernel ended by itself are ignored."""
        for watch in watches:
            with contextlib.suppress(OSError):
                if self._inotify is not None:
                    self._inotify.rm_watch(watch)


class FileWatch(_InotifyWatch):
    """Reports that some of the files have changed; one report covers events that arrive together."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: Queue, changed: Callable[[], object]) -> None:
        super().__init__(loop, queue, changed)
        self._files: frozenset[Path] = frozenset()
        self._folders: dict[Watch, Path] = {}
        self._awaited: frozenset[Path] = frozenset()  # folders that are not there
        self._waiting = False
        self._next_look: asyncio.TimerHandle | None = None
        self._states: dict[Path, object] = {}  # of the files, for a system that reports no changes

    def watch(self, files: Iterable[str | Path]) -> None:
        """From any thread: these files are watched from here on, and no others."""
        wanted = frozenset(place for file in files for place in (Path(file).absolute(), Path(os.path.realpath(file))))
        if wanted != self._files:
            self._loop.call_soon_threadsafe(self._watch, wanted)

    # ---- on the loop ----

    async def _end(self) -> None:
        await super()._end()
        if self._next_look is not None:
            self._next_look.cancel()

    def _watch(self, wanted: frozenset[Path]) -> None:
        self._files = wanted
        self._arm()
        if self._next_look is not None:
            self._states = _states(wanted)
        self._soon()  # it may have changed before the watch was there

    def _look(self) -> None:
        self._next_look = self._loop.call_later(LOOK_INTERVAL, self._look)
        before, self._states = self._states, _states(self._files)
        if self._states != before:
            self._soon()

    def _arm(self) -> None:
        """Have the system report changes; files that it does not report are looked at again and again."""
        if self._open() and self._add_watches():
            if self._next_look is not None:
                self._next_look.cancel()
                self._next_look = None
        elif self._next_look is None:
            self._states = _states(self._files)
            self._next_look = self._loop.call_later(LOOK_INTERVAL, self._look)

    def _add_watches(self) -> bool:
        """Watches are on folders: a file that is replaced takes a watch of its own along with it.

        In the place of a folder that is not there, the nearest one above it is watched. Returns whether all are: the
        system has only so many watches for a user.
        """
        wanted = sorted({file.parent for file in self._files})
        present = [next((one for one in (folder, *folder.parents) if one.is_dir()), folder) for folder in wanted]
        self._awaited = frozenset(
            above.joinpath(folder.relative_to(above).parts[0])
            for folder, above in zip(wanted, present, strict=True)
            if folder != above
        )
        folders = list(dict.fromkeys(present))
        above = dict.fromkeys(one for folder in folders for one in folder.parents)
        plan = dict.fromkeys(folders, CHANGE_MASK | GONE_MASK)
        plan |= {one: GONE_MASK for one in above if one not in plan}  # last: they matter least
        before, self._folders = self._folders, {}
        for folder, mask in list(plan.items())[:FOLDER_LIMIT]:
            if watch := self._add_watch(folder, mask):
                self._folders[watch] = folder
        self._remove_watches(before.keys() - self._folders.keys())
        return {*folders} <= {*self._folders.values()}

    def _read(self, event: Event) -> None:
        folder = self._folders.get(event.watch) if event.watch else None
        if event.mask & OVERFLOW or (folder and self._concerns_us(event.mask, folder / (event.name or ""))):
            self._soon()

    def _concerns_us(self, mask: int, path: Path) -> bool:
        return bool(mask & (IGNORED | GONE_MASK)) or path in self._files or path in self._awaited

    def _soon(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._loop.call_later(SETTLE_DELAY, self._notify)

    def _notify(self) -> None:
        self._waiting = False
        self._arm()
        self._queue.post(self._changed)


class FolderWatch(_InotifyWatch):
    """Reports that a folder, one of those above it, or one of the named files in it may have come or gone.

    Also that something was written into the file `content`.

    `changed` is posted to the queue, first after `rearm`. Where the system reports nothing it is posted every
    `POLL_INTERVAL` seconds.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        queue: Queue,
        changed: Callable[[], object],
        folder: Path,
        names: Iterable[str],
        content: Path | None = None,
    ) -> None:
        super().__init__(loop, queue, changed)
        self._folder = folder
        self._names = frozenset(names)
        self._content = content
        self._wanted: dict[Watch, frozenset[str]] = {}
        self._first = 0.0  # when the first of the events came that were not reported yet
        self._is_reported = False  # whether the system reports what happens to the folder

    def rearm(self) -> None:
        """From any thread: watch what is at the path from now on; it is looked at once more, too."""
        self._loop.call_soon_threadsafe(self._arm)

    # ---- on the loop ----

    def _arm(self) -> None:
        """Watch the folder for its names, its parent for the folder's name, and all folders above for their end."""
        before, self._wanted = self._wanted, {}
        above = list(self._folder.parents)
        self._open()
        ours = self._add(self._folder, REMOVAL_MASK, self._names)
        self._is_reported = self._add(above[0], REMOVAL_MASK, {self._folder.name}) and ours
        for folder in above[1:]:
            self._add(folder, MOVE_SELF | DELETE_SELF, ())
        if self._content:
            self._add(self._content, MODIFY, ())
        self._remove_watches(before.keys() - self._wanted.keys())
        self._schedule(DEBOUNCE)  # it may have changed before the watch was there

    def _add(self, folder: Path, mask: int, names: Iterable[str]) -> bool:
        watch = self._add_watch(folder, mask)
        if watch is not None:
            self._wanted[watch] = frozenset(names)
        return watch is not None

    def _read(self, event: Event) -> None:
        if self._concerns_us(event):
            now = self._loop.time()
            self._first = self._first or now
            self._schedule(max(0.0, min(DEBOUNCE, self._first + MAX_DELAY - now)))

    def _concerns_us(self, event: Event) -> bool:
        if event.mask & OVERFLOW:
            return True
        wanted = self._wanted.get(event.watch) if event.watch else None
        if event.mask & IGNORED and event.watch:
            self._wanted.pop(event.watch, None)
        return wanted is not None and (event.name is None or str(event.name) in wanted)

    def _report(self) -> None:
        self._first = 0.0
        super()._report()
        if not self._is_reported:
            self._schedule(POLL_INTERVAL)


def _states(files: Iterable[Path]) -> dict[Path, object]:
    return {file: file_stamp(file) for file in files}
