"""T26: edits of hooktray.yaml as editors and accidents make them: the last good one counts, errors told soon."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path

from at_once import AtOnce

from torture.frame import Tally
from tray.approvals.catalog import HookCatalog
from tray.event_loop import LoopThread
from tray.installation.file_watch import FileWatch
from tray.paths import Paths, locate
from tray.sources import configuration
from tray.store.copies import Copies
from tray.store.db import open_db
from tray.store.ledger import Ledger

TITLE = "edits of hooktray.yaml"
SOON = 1.0  # seconds until an error is told
BAD = (
    "turn_quiet_seconds: [",
    "turn_quiet_second: 3",
    "turn_quiet_seconds: ten",
    "{hooks: [{event: tool_befor, command: ./x}]}",
    "\x00",
    "a: &b [*b]",
)
Write = Callable[[Path, str], None]


class Watched:
    """The tray's own parts that read the file, and how long they took to see what it says."""

    def __init__(self, folder: Path) -> None:
        self.paths: Paths = locate(str(folder))
        self.paths.prepare()
        database = open_db(self.paths.database, create=True)
        self.catalog = HookCatalog(
            self.paths,
            Ledger(database),
            Copies(self.paths.copies),
        )
        self.seen = threading.Condition()
        self.loop = LoopThread()
        self.watch = FileWatch(self.loop.loop, AtOnce(), self._look)
        self.paths.config.write_text("turn_quiet_seconds: 1\n")
        self.watch.watch([self.paths.config])

    def _look(self) -> None:
        self.catalog.refresh()
        with self.seen:
            self.seen.notify_all()

    def within(self, fits: Callable[[configuration.Configuration], bool], limit: float) -> float | None:
        """Seconds until what is in force fits; None when it did not in ten times `limit`."""
        started = time.monotonic()
        with self.seen:
            held = self.seen.wait_for(lambda: fits(self.catalog.configuration), limit * 10)
        return time.monotonic() - started if held else None

    def close(self) -> None:
        self.watch.close()
        self.loop.close()


def torture(tally: Tally) -> None:
    place = Watched(tally.folder / "h")
    late = 0
    try:
        for number in range(tally.many(4, 100)):
            good = 1 + number % 50
            for write in WAYS:
                bad = BAD[(number + len(write.__name__)) % len(BAD)]
                late += _edit(tally, place, f"{write.__name__} {number}", write, good, bad)
        place.watch.close()
        _in_place(place.paths.config, "turn_quiet_seconds: 59\n")
        told = place.within(lambda now: now.settings.turn_quiet_seconds == 59, SOON / 10)
        tally.control("a tray that looks only when it is asked", told is None)
    finally:
        place.close()
    if late > max(2, tally.inputs // 50):  # a loaded machine may be late now and then
        tally.lost.append(f"{late} of {tally.inputs} were told later than after {SOON * tally.patience:g} s")


def _edit(tally: Tally, place: Watched, name: str, write: Write, good: int, bad: str) -> int:
    """A good one that counts, then a bad one: told, and the good one still counts."""
    late, soon = 0, SOON * tally.patience
    with contextlib.suppress(FileNotFoundError):
        place.paths.config.unlink()
    _in_place(place.paths.config, f"turn_quiet_seconds: {good}\n")
    took = place.within(lambda now: now.settings.turn_quiet_seconds == good and not now.problem, soon)
    tally.keep(f"{name}: a good edit counts", took is not None)
    late += took is not None and took > soon
    write(place.paths.config, bad)
    took = place.within(lambda now: bool(now.problem), soon)
    held = took is not None and place.catalog.configuration.settings.turn_quiet_seconds == good
    tally.attack(f"{name}: {bad!r}", held)
    return late + (took is not None and took > soon)


def _in_place(path: Path, text: str) -> None:
    path.write_text(text)


def _partial(path: Path, text: str) -> None:
    with path.open("w") as file:
        for sign in f"{text}\nturn_quiet_seconds: 2":  # the bad part first: what is half written is no good file
            file.write(sign)
            file.flush()


def _swap(path: Path, text: str) -> None:
    draft = path.with_name(".hooktray.yaml.swp")
    draft.write_text(text)
    draft.replace(path)


def _link(path: Path, text: str) -> None:
    there = path.with_name("elsewhere.yaml")
    there.write_text(text)
    path.unlink()
    path.symlink_to(there)


def _delete(path: Path, text: str) -> None:
    path.unlink()


WAYS: tuple[Write, ...] = (_in_place, _partial, _swap, _link, _delete)
