"""Which hooks run, and below which other hooks: finds the place of an event that comes from below a hook.

A hook's process leads a session, and the kernel keeps a session's number as long as anybody is in it. So a child that
outlives its hook is still known by its session, whoever became its parent.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from tray.execution.background import BackgroundProcesses
from tray.execution.process import OPENED_VARIABLE, HookTurn
from tray.execution.process_table import ProcessEntry, environment, read_entry
from tray.model.event import Event
from tray.store.switch import Switch

MAX_RUNS = 4096  # that are remembered; the oldest that left children is forgotten first
FILE_SIZE = 64 * 1024  # bytes of a file that are read


class HookPlace(msgspec.Struct, frozen=True):
    """Where an event comes from: the keys of the hooks that it is below, and how many levels that is."""

    above: frozenset[str] = frozenset()
    depth: int = 0


OUTSIDE = HookPlace()  # of any hook


class Descent(msgspec.Struct, frozen=True):
    """A process and those above it, nearest first, up to the child of ours or of a one-shot engine."""

    chain: tuple[int, ...]
    is_below_one_shot: bool

    @property
    def child(self) -> int:
        """The process that the tray or the one-shot engine started."""
        return self.chain[-1]


class _Run(msgspec.Struct, frozen=True):
    below: HookPlace  # the place of what the hook starts
    start: float  # of its process, in the system's own unit


class HookRuns:
    """The runs of this process. A one-shot engine writes its own into `folder`, where every engine finds them."""

    def __init__(self, folder: Path, *, publish: bool) -> None:
        self._folder = folder
        self._publish = publish
        self.lock = threading.Lock()  # held while a hook starts, so that none is asked for before it is known
        self._runs: dict[int, _Run] = {}
        self._running: set[int] = set()  # the others have ended, and left children in the background

    def add(self, hook: str, place: HookPlace, pid: int) -> None:
        """Add the process that was just started for this hook. The caller holds `lock`."""
        entry = read_entry(pid)
        run = _Run(HookPlace(place.above | {hook}, place.depth + 1), entry.start if entry else 0.0)
        self._runs.pop(pid, None)
        self._runs[pid] = run
        self._running.add(pid)
        if len(self._runs) > MAX_RUNS:
            ended = next((one for one in tuple(self._runs) if one not in self._running), pid)
            self._runs.pop(ended)
        if self._publish:
            with contextlib.suppress(OSError):  # the event is then below an unknown hook
                self._write(pid, run)

    def end(self, pid: int, has_left: bool) -> None:
        """The process has ended; whether anything of its tree lives on in the background."""
        self._running.discard(pid)
        if not has_left:
            self._runs.pop(pid, None)

    def find(self, relay: Descent, background: BackgroundProcesses | None) -> HookPlace:
        """Returns the place of a relay.

        A descendant that cannot be assigned to one hook, because it left its session and lost its parents, is below
        each of those whose trees are left; it skips only hooks that are above it in any case.
        """
        entries = {pid: found for pid in relay.chain if (found := read_entry(pid))}
        known = self._known(entries)
        if known is None and relay.is_below_one_shot:
            return self._read(relay.child, entries) or HookPlace(depth=1)
        if known is None:
            with self.lock:  # a hook that was just being started is known now
                known = self._known(entries)
        if known is not None:
            return known
        if is_opened(relay.child):
            return OUTSIDE
        entry = entries.get(relay.child)
        return self._unassigned(entry.start if entry else 0.0, background)

    def _known(self, entries: Mapping[int, ProcessEntry]) -> HookPlace | None:
        for pid, entry in entries.items():
            for number in (pid, entry.session):
                run = self._runs.get(number)
                if run is None or run.start > entry.start:
                    continue
                leader = read_entry(number)
                if leader is None or leader.start == run.start:  # otherwise another process has the number now
                    return run.below
        return None

    def _unassigned(self, start: float, background: BackgroundProcesses | None) -> HookPlace:
        running = self._running.copy()  # before the others: a run that ends meanwhile is in one of the two
        left = background.alive() if background is not None else {}
        runs = [
            run for pid, run in tuple(self._runs.items()) if run.start <= start and (pid in running or pid in left)
        ]
        if not runs:
            return HookPlace(depth=1)
        above = frozenset.intersection(*(run.below.above for run in runs))
        return HookPlace(above, max(run.below.depth for run in runs))

    def _write(self, pid: int, run: _Run) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for path in self._folder.iterdir():
            if not path.stem.isdigit() or read_entry(int(path.stem)) is None:
                path.unlink(missing_ok=True)
        content = {"start": run.start, "above": sorted(run.below.above), "depth": run.below.depth}
        temporary = self._folder / f"{pid}.tmp"
        temporary.write_text(json.dumps(content), encoding="utf-8")
        temporary.replace(self._folder / f"{pid}.json")

    def _read(self, pid: int, entries: Mapping[int, ProcessEntry]) -> HookPlace | None:
        """What a one-shot engine wrote about its hook; None when that is of an earlier process, or cannot be read."""
        try:
            with (self._folder / f"{pid}.json").open("rb") as file:
                content = json.loads(file.read(FILE_SIZE))
            above, depth = content["above"], content["depth"]
            if pid in entries and entries[pid].start == content["start"] and type(depth) is int:
                return HookPlace(frozenset(map(str, above)), max(depth, 1))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        return None


class RecordedTurn(HookTurn):
    """The turn of one hook at one event: it starts only if the switch is on, and its process is kept in HookRuns."""

    def __init__(self, runs: HookRuns, switch: Switch, hook: str, event: Event) -> None:
        self._runs, self._switch, self._hook, self._event = runs, switch, hook, event

    @contextlib.contextmanager
    def starting(self) -> Iterator[bool]:
        with self._runs.lock, self._switch.starting(self._event.session, self._event.agent) as is_open:
            yield is_open

    def started(self, pid: int) -> None:
        self._runs.add(self._hook, HookPlace(self._event.above, self._event.depth), pid)

    def exited(self, pid: int, *, has_left: bool) -> None:
        self._runs.end(pid, has_left)


def is_opened(pid: int) -> bool:
    """Whether we opened it for the person. A hook that claims it of its own child is asked about what that does."""
    return any(one.startswith(f"{OPENED_VARIABLE}=".encode()) for one in environment(pid).split(b"\0"))
